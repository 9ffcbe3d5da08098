// What `from __future__` imports switch on. In: text, Tokens, Tree, version. Out: which statements are such imports.
// Where they may stand and which features exist is judged elsewhere (later_errors.h).
#pragma once

#include <string_view>

#include "base/version.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

bool is_future_import(std::string_view text, const Tokens& tokens, const Tree& tree, NodeId statement, Version target);

// A string that is neither bytes nor has replacement fields, alone in a statement.
bool is_docstring(const Tree& tree, const Tokens& tokens, NodeId statement);

// Whether the file begins with `from __future__ import annotations`; only a docstring and other such imports may stand
// before it.
bool has_future_annotations(std::string_view text, const Tokens& tokens, const Tree& tree, Version target);

}  // namespace graphmend

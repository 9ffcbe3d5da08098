// From tokens to the tree. In: text and its tokens. Out: `Tree` and the syntax errors of the grammar.
// What CPython's symbol table and compiler reject later (`return` outside a function, …) is facts/later_errors.h.
#pragma once

#include <string_view>

#include "base/diagnostic.h"
#include "base/version.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

struct ParseResult {
  Tree tree;
  Diagnostics errors;
};

// Syntax newer than `target` is reported with the version it needs, and still parsed.
ParseResult parse(std::string_view text, const Tokens& tokens, Version target = kAnyVersion);

}  // namespace graphmend

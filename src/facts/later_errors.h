// What CPython rejects after parsing. In: text, Tokens, Tree, target version. Out: the errors, in order of place.
// The grammar lets these through; CPython's symbol table and compiler do not: `return` outside a function, a name used
// before its `global`, two starred targets, … What only some versions reject is reported only for those.
#pragma once

#include <string_view>

#include "base/diagnostic.h"
#include "base/version.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

// `kAnyVersion` reports what every version rejects.
// Meant for trees without syntax errors; in other trees it still ends and stays in bounds, but may report what follows
// from the first error only.
Diagnostics find_later_errors(std::string_view text, const Tokens& tokens, const Tree& tree, Version target);

}  // namespace graphmend

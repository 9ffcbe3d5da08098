// The tree as CPython prints it. In: text, Tokens, Tree. Out: what 3.13's `ast.dump(…, include_attributes=True)`
// prints. Syntax newer than 3.13 is printed with the nodes of 3.14 and 3.15. Parts that could not be parsed appear as
// `ErrorStatement(…)` and `ErrorExpression(…)`, which CPython does not have.
#pragma once

#include <string>
#include <string_view>

#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

std::string dump_ast(std::string_view text, const Tokens& tokens, const Tree& tree);

}  // namespace graphmend

// Effects as text. In: text, Tokens, Tree, Scopes. Out: one line for each function and each statement.
#pragma once

#include <string>
#include <string_view>

#include "facts/scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

//     function f 1:0 raises-on-shapes, writes-self
//     2:2 Assign raises-on-shapes, writes-self (self)
//
// A function's line says what a call of it does. Behind a statement, in parentheses, the variables whose objects it
// changes.
std::string dump_effects(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes);

}  // namespace graphmend

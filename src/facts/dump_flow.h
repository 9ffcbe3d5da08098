// Control flow and liveness as text. In: text, Tokens, Tree, Scopes. Out: one line for each element or statement.
// Functions, classes and the module come in source order. Positions are line:column, columns in bytes from 0.
#pragma once

#include <string>
#include <string_view>

#include "facts/scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

//     function f 1:0
//       block 0
//         2:2 statement Assign x; 2:6 y from 1:6 or unbound
//         -> 1; raise -> 2
//
// First what an element assigns, then each place where it reads a name, with the definitions that may reach it: `entry`
// is the parameter, `unbound` no value, `del@…` a deletion, `closure@…` a nested function that may assign it.
std::string dump_flow(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes);

//     function f 1:0
//       2:2 Assign | in: y | out: x | raise: | reads: y | needs: y | may: x | must: x
//
// Statements one by one, compound ones as a whole.
std::string dump_liveness(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes);

}  // namespace graphmend

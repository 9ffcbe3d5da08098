// Scopes as text. In: text, Tokens, Tree, Scopes. Out: one line for each scope and each symbol, in CPython's order.
#pragma once

#include <string>
#include <string_view>

#include "facts/scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

//     module top line 0
//       f: local, assigned namespace; at 1:1
//       function f line 1
//         x: cell, parameter referenced; at 1:7
//         function lambda line 2 nested
//           x: free, referenced; of f line 1
//
// What stands before the `;` is what `symtable` tells. Scopes that it does not list are marked `inlined` or `hidden`.
// Names that only an inlined comprehension brings are marked `from-comprehension` behind the `;`.
std::string dump_scopes(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes);

}  // namespace graphmend

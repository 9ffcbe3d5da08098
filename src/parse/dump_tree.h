// The tree for people. In: text, Tokens, Tree. Out: one line for each node, indented by its depth.
// `BinOp Add 1:0-1:5`: kind, operator, flags, which optional children are there, range, and the text of nodes without
// children.
#pragma once

#include <string>
#include <string_view>

#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

std::string dump_tree(std::string_view text, const Tokens& tokens, const Tree& tree);

}  // namespace graphmend

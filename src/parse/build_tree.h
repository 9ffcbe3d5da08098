// From the parser's order to the tree's. In: nodes with children before parents, the root last. Out: `Tree`.
// The parser finds `a` before it knows that `a + b` is its parent; readers want parents first. One linear pass turns
// the one into the other, at any depth.
#pragma once

#include <vector>

#include "parse/tree.h"

namespace graphmend {

Tree build_tree(const std::vector<Node>& children_first);

}  // namespace graphmend

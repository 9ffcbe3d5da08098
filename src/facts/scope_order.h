// The order in which CPython's symbol table visits nodes. In: Tree, version. Out: a position for each node.
// It is the source's order but in a few constructs, which matters where comprehensions are compiled into one scope.
#pragma once

#include <cstdint>
#include <vector>

#include "base/version.h"
#include "parse/tree.h"

namespace graphmend {

// Positions increase from parent to child. Those of Comprehension clauses and Parameters mean nothing by themselves.
std::vector<uint32_t> visit_positions(const Tree& tree, Version target);

}  // namespace graphmend

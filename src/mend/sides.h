// What the sides of a branch may be for select. In: statements, expressions. Out: yes, or the reason why not.
#pragma once

#include <string>
#include <vector>

#include "mend/context.h"
#include "mend/function_facts.h"

namespace graphmend {

// One way through a branch.
struct Side {
  // None for what is left when all tests fail.
  NodeId test;
  // Neighbours; without the `return` at the end.
  std::vector<NodeId> statements;
  // What it returns: the Return at its end, if it has one.
  NodeId returned;

  bool returns() const { return static_cast<bool>(returned); }
};

// Whether the code does nothing but compute, ends for all values of its tensors, and is worth computing in vain.
bool only_computes(const MendContext& context, const ModuleFacts& facts, NodeId code, std::string& reason);

}  // namespace graphmend

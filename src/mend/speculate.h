// Speculate: where Python itself needs a tensor's value, the value is predicted, and checked after the graph.
// In: a statement. Out: its expressions that make Python values of tensors, each in a form that asks the run time.
#pragma once

#include <string>
#include <vector>

#include "mend/context.h"
#include "mend/function_facts.h"
#include "mend/piece_text.h"

namespace graphmend {

struct Speculated {
  PieceText text;
  Span replaced;
  std::string site;
  // Of a test, or an operand of one; else of what makes a value of a tensor wherever it stands.
  bool asks_truth = false;
  // The size, or the bound of a slice, that it is.
  NodeId size = {};
};

// Of the statement itself, or of the header of one that has a body. Empty when nothing in it needs a value. Without
// `elements`, what is between brackets is left: nearly always it is no tensor, and nobody has said that it broke there.
std::vector<Speculated> speculate(const MendContext& context, const ModuleFacts& facts, NodeId statement,
                                  bool elements);

}  // namespace graphmend

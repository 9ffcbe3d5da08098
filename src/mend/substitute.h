// Substitute: a call that Dynamo does not take is traced as another one that does exactly the same.
// In: a statement, the names that are to be substituted. Out: its calls of these names, each in a form that asks the
// run time. What stands for a call is not known here (python/graphmend/_mending/substitutes.py).
#pragma once

#include <string>
#include <vector>

#include "mend/context.h"
#include "mend/piece_text.h"

namespace graphmend {

struct Substituted {
  PieceText text;
  Span replaced;
  std::string site;
};

// Of the statement itself, or of the header of one that has a body.
std::vector<Substituted> substitute(const MendContext& context, NodeId statement);

}  // namespace graphmend

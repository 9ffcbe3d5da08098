// Postpone: a statement that only talks to the outside runs after the graph, with the values of its own moment.
// In: an expression statement. Out: the call that carries its values, and the statement as a function of them.
#pragma once

#include <optional>
#include <string>

#include "mend/context.h"
#include "mend/piece_text.h"

namespace graphmend {

struct Postponed {
  // Stands before the statement: `(posts(site) and post(site, values…)) or `.
  PieceText prefix;
  Outlined outlined;
  std::string site;
};

// Whether the statement is a call of something that only talks.
bool only_talks(const MendContext& context, NodeId statement);

// Nothing, with the reason, when its arguments cannot be taken apart.
std::optional<Postponed> postpone(const MendContext& context, NodeId statement, std::string& reason);

}  // namespace graphmend

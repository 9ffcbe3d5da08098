// Postpone: what only talks to the outside runs after the graph, with the values of its own moment.
// In: an expression statement, or the `print(…)` that a lambda is. Out: the call that carries its values, and the
// statement as a function of them.
#pragma once

#include <optional>
#include <string>

#include "mend/context.h"
#include "mend/function_facts.h"
#include "mend/piece_text.h"
#include "mend/talks.h"

namespace graphmend {

struct Postponed {
  // Stands before the statement: `(posts(site) and post(site, values…)) or `, and in a lambda `None if (…) else `.
  PieceText prefix;
  Outlined outlined;
  std::string site;
};

// `place` is the statement, or the call itself in a lambda. Nothing, with the reason, when its arguments cannot be
// taken apart.
std::optional<Postponed> postpone(const MendContext& context, const ModuleFacts& facts, NodeId place, Talks how,
                                  std::string& reason);

}  // namespace graphmend

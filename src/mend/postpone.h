// Postpone: a statement that only talks to the outside runs after the graph, with the values of its own moment.
// In: an expression statement. Out: the call that carries its values, and the statement as a function of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "facts/scopes.h"
#include "mend/context.h"
#include "mend/function_facts.h"
#include "mend/piece_text.h"

namespace graphmend {

struct Postponed {
  // Stands before the statement: `(posts(site) and post(site, values…)) or `.
  PieceText prefix;
  Outlined outlined;
  std::string site;
};

// How it is known that a statement is a call of something that only talks.
enum class Talks : uint8_t {
  No,
  // By the name of a global.
  ByName,
  // By what a method is called on, which is seen when it is traced, and travels with the values.
  ByReceiver,
};

Talks talks(const MendContext& context, const Scopes& scopes, NodeId statement);

// Nothing, with the reason, when its arguments cannot be taken apart.
std::optional<Postponed> postpone(const MendContext& context, const ModuleFacts& facts, NodeId statement, Talks how,
                                  std::string& reason);

}  // namespace graphmend

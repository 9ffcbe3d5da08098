// Whether a statement is a call of something that only talks to the outside: `print`, a logger's method, a warning.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/scopes.h"
#include "mend/context.h"

namespace graphmend {

// How it is known that a statement is a call of something that only talks.
enum class Talks : uint8_t {
  No,
  // By the name of a global.
  ByName,
  // By what a method is called on, which is seen when it is traced, and travels with the values.
  ByReceiver,
};

// Whether a name, or that on which attributes are, is one of the module or a builtin, and stays what it is while a
// function runs.
bool is_fixed_global(const Tree& tree, const Scopes& scopes, NodeId id);

Talks talks(const MendContext& context, const Scopes& scopes, NodeId statement);

// The calls of `print` that lambdas in a statement are.
std::vector<NodeId> prints_in_lambdas(const MendContext& context, const Scopes& scopes, NodeId statement);

}  // namespace graphmend

// What will break as a place of the same function did. In: a place that broke. Out: the statements that only talk, if
// it does; or the branches and asserts that ask what torch computes, if it is one.
#pragma once

#include <vector>

#include "facts/scopes.h"
#include "mend/context.h"

namespace graphmend {

std::vector<NodeId> places_like(const MendContext& context, const Scopes& scopes, NodeId place);

}  // namespace graphmend

// What will break as a place of the same function did. In: a place that broke. Out: the statements that only talk, if
// it does; or the branches and asserts that ask what torch computes, if it is one. Of sizes: those that name the same.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "facts/scopes.h"
#include "mend/context.h"

namespace graphmend {

std::vector<NodeId> places_like(const MendContext& context, const Scopes& scopes, NodeId place);

// The variables in an expression, and whether two expressions have one in common.
std::set<std::string_view> names_in(const MendContext& context, NodeId expression);
bool shares_name(const std::set<std::string_view>& names, const std::set<std::string_view>& others);

}  // namespace graphmend

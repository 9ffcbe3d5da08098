// What will break as a place did. Only a guess: a place that would not have broken is traced a little slower, and the
// marks there find nothing to do.
#include "mend/ahead.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/one_of.h"
#include "mend/talks.h"

namespace graphmend {

namespace {

// Methods and functions that give tensors, and whose results tests ask for.
constexpr std::array<std::string_view, 22> kComputed = {
    "all", "amax", "amin",   "any", "argmax", "argmin", "count_nonzero", "isclose", "isfinite", "isinf", "isnan",
    "max", "mean", "median", "min", "norm",   "prod",   "rand",          "randn",   "std",      "sum",   "var"};
// What gives Python's own values.
constexpr std::array<std::string_view, 5> kRead = {"allclose", "equal", "item", "numpy", "tolist"};

// Whether Python is asked for the truth of what torch computes. What is read as a number breaks for another reason.
bool asks_torch(const MendContext& context, NodeId test) {
  const Tree& tree = context.tree;
  bool asks = false;
  for (NodeId id = test; id < tree.end_of(test); ++id) {
    if (tree.kind(id) == NodeKind::NamedExpr) return false;
    if (tree.kind(id) != NodeKind::Call) continue;
    const NodeId callee = tree.first_child(id);
    // A function of the program's, or a builtin, may read as well.
    if (tree.kind(callee) != NodeKind::Attribute) return false;
    const std::string_view name = context.token_at(tree[callee].last_token);
    if (is_one_of(name, kRead)) return false;
    asks = asks || is_one_of(name, kComputed);
  }
  return asks;
}

}  // namespace

std::vector<NodeId> places_like(const MendContext& context, const Scopes& scopes, NodeId place) {
  const Tree& tree = context.tree;
  const NodeId function = context.enclosing(place, NodeKind::FunctionDef);
  const bool talks_too = talks(context, scopes, place) != Talks::No;
  if (!function || !(talks_too || context.is_test(place))) return {};
  std::vector<NodeId> found = context.own_nodes(function);
  std::erase_if(found, [&](NodeId id) {
    const bool is_like = talks_too ? talks(context, scopes, id) != Talks::No
                                   : context.is_test(id) && asks_torch(context, tree.first_child(id));
    return !is_like || id == place;
  });
  return found;
}

std::set<std::string_view> names_in(const MendContext& context, NodeId expression) {
  std::set<std::string_view> names;
  for (NodeId id = expression; id < context.tree.end_of(expression); ++id) {
    if (context.tree.kind(id) == NodeKind::Name) names.insert(context.text_of(id));
  }
  return names;
}

bool shares_name(const std::set<std::string_view>& names, const std::set<std::string_view>& others) {
  return std::any_of(others.begin(), others.end(), [&](std::string_view name) { return names.contains(name); });
}

}  // namespace graphmend

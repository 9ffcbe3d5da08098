// What a postponed statement's function may do, by the names and kinds of nodes. In: an expression. Out: yes or no.
#include "mend/deferral.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/one_of.h"

namespace graphmend {

namespace {

constexpr std::array<std::string_view, 5> kForcingMethods = {"item", "tolist", "numpy", "__str__", "__repr__"};
// What Dynamo cannot do with a tensor, and what it makes that could not travel.
constexpr std::array<std::string_view, 15> kForcingBuiltins = {"str",
                                                               "repr",
                                                               "float",
                                                               "int",
                                                               "bool",
                                                               "format",
                                                               "complex",
                                                               "Warning",
                                                               "UserWarning",
                                                               "DeprecationWarning",
                                                               "PendingDeprecationWarning",
                                                               "RuntimeWarning",
                                                               "FutureWarning",
                                                               "ImportWarning",
                                                               "ResourceWarning"};
// Builtins that may stand around what is forced: pure functions of plain values.
constexpr std::array<std::string_view, 12> kPureBuiltins = {"round", "abs",   "min",  "max",    "sum", "len",
                                                            "list",  "tuple", "dict", "sorted", "zip", "enumerate"};
constexpr std::array<std::string_view, 12> kTextMethods = {"format", "join",   "strip",   "lower",  "upper",  "ljust",
                                                           "rjust",  "center", "replace", "rstrip", "lstrip", "title"};

// One of these names, which nothing in the file binds: the statement and its function find the same under it.
template <size_t n>
bool is_builtin(const MendContext& context, const Scopes& scopes, NodeId function,
                const std::array<std::string_view, n>& names) {
  return context.tree.kind(function) == NodeKind::Name && is_one_of(context.text_of(function), names) &&
         !scopes.binding(function);
}

}  // namespace

bool Deferral::forces(NodeId id) const {
  const Tree& tree = context_.tree;
  switch (tree.kind(id)) {
    case NodeKind::FString:
      return true;
    case NodeKind::BinOp: {
      // "…" % values
      const NodeKind left = tree.kind(tree.first_child(id));
      return tree[id].operation() == Operator::Mod && (left == NodeKind::String || left == NodeKind::Strings);
    }
    case NodeKind::Call: {
      NodeId function = tree.first_child(id);
      if (tree.kind(function) == NodeKind::Attribute) {
        return is_one_of(context_.token_at(tree[function].last_token), kForcingMethods) || on_text(function);
      }
      return is_builtin(context_, scopes_, function, kForcingBuiltins);
    }
    default:
      return false;
  }
}

bool Deferral::contains(NodeId id) const {
  for (NodeId inner = id; inner < context_.tree.end_of(id); ++inner) {
    if (forces(inner)) return true;
  }
  return false;
}

bool Deferral::may_stay(NodeId id) const {
  const Tree& tree = context_.tree;
  switch (tree.kind(id)) {
    case NodeKind::FString:
    case NodeKind::Strings:
    case NodeKind::String:
    case NodeKind::BinOp:
    case NodeKind::UnaryOp:
    case NodeKind::Compare:
    case NodeKind::CompareOp:
    case NodeKind::BoolOp:
    case NodeKind::IfExp:
    case NodeKind::Tuple:
    case NodeKind::List:
    case NodeKind::Set:
    case NodeKind::Dict:
    case NodeKind::DictUnpack:
    case NodeKind::Starred:
    case NodeKind::Keyword:
    case NodeKind::Subscript:
    case NodeKind::Slice:
    case NodeKind::Interpolation:
    case NodeKind::FormatSpec:
    case NodeKind::FStringText:
      return true;
    case NodeKind::Call: {
      if (forces(id)) return true;
      NodeId function = tree.first_child(id);
      return is_builtin(context_, scopes_, function, kPureBuiltins) || is_of_math(function);
    }
    default:
      return false;
  }
}

bool Deferral::is_of_math(NodeId function) const {
  const Tree& tree = context_.tree;
  if (tree.kind(function) != NodeKind::Attribute) return false;
  const NodeId module = tree.first_child(function);
  if (tree.kind(module) != NodeKind::Name || context_.text_of(module) != "math") return false;
  const SymbolId binding = scopes_.binding(module);
  return binding && scopes_[binding].scope == Scopes::module() &&
         (scopes_[binding].flags & symbol_flag::kBound) == symbol_flag::kImported;
}

bool Deferral::on_text(NodeId attribute) const {
  const Tree& tree = context_.tree;
  const NodeKind receiver = tree.kind(tree.first_child(attribute));
  const bool literal = receiver == NodeKind::String || receiver == NodeKind::Strings || receiver == NodeKind::FString;
  return literal && is_one_of(context_.token_at(tree[attribute].last_token), kTextMethods);
}

}  // namespace graphmend

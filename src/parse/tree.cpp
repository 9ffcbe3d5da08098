// Names of node kinds and operators. In: a kind. Out: how dumps call it.
#include "parse/tree.h"

namespace graphmend {

namespace {

constexpr std::string_view kNodeNames[] = {
#define NODE(name, group, children) #name,
#include "parse/node_kinds.def"
};

constexpr NodeGroup kNodeGroups[] = {
#define NODE(name, group, children) NodeGroup::group,
#include "parse/node_kinds.def"
};

constexpr std::string_view kOperatorNames[] = {
    "Add",    "Sub",    "Mult",     "MatMult", "Div", "Mod",    "Pow",   "LShift", "RShift", "BitOr",
    "BitXor", "BitAnd", "FloorDiv", "And",     "Or",  "Invert", "Not",   "UAdd",   "USub",   "Eq",
    "NotEq",  "Lt",     "LtE",      "Gt",      "GtE", "Is",     "IsNot", "In",     "NotIn",
};
static_assert(std::size(kOperatorNames) == static_cast<size_t>(Operator::NotIn) + 1, "a name for every operator");

}  // namespace

std::string_view node_name(NodeKind kind) { return kNodeNames[static_cast<size_t>(kind)]; }
NodeGroup node_group(NodeKind kind) { return kNodeGroups[static_cast<size_t>(kind)]; }
std::string_view operator_name(Operator op) { return kOperatorNames[static_cast<size_t>(op)]; }

}  // namespace graphmend

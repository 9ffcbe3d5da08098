// The syntax tree. In: nothing. Out: `Tree`, an immutable array of nodes in source order (parents before children).
// A subtree is a contiguous range of ids: the descendants of `n` are n+1 … n+size-1, the next sibling is n+size.
// Nodes say which tokens they cover; parentheses around an expression belong to no node (but a tuple's do).
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/span.h"
#include "lex/token.h"

namespace graphmend {

enum class NodeGroup : uint8_t { Root, Statement, Clause, Expression, Pattern };

enum class NodeKind : uint8_t {
#define NODE(name, group, children) name,
#include "parse/node_kinds.def"
};

std::string_view node_name(NodeKind kind);
NodeGroup node_group(NodeKind kind);

// Node::op of BinOp, AugAssign, UnaryOp, BoolOp and CompareOp. The names are those of CPython's `ast`.
enum class Operator : uint8_t {
  Add,
  Sub,
  Mult,
  MatMult,
  Div,
  Mod,
  Pow,
  LShift,
  RShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv,
  And,
  Or,
  Invert,
  Not,
  UAdd,
  USub,
  Eq,
  NotEq,
  Lt,
  LtE,
  Gt,
  GtE,
  Is,
  IsNot,
  In,
  NotIn,
};
std::string_view operator_name(Operator op);

// Node::op of Parameter.
enum class ParameterSection : uint8_t { PositionalOnly, Regular, VarArgs, KeywordOnly, KwArgs };

enum class Context : uint8_t { Load, Store, Delete };

// Bits of Node::flags; the meaning of the shared bit depends on the kind, as node_kinds.def says.
namespace node_flag {
inline constexpr uint8_t kContextMask = 3;  // Context
inline constexpr uint8_t kAsync = 4;
inline constexpr uint8_t kParenthesized = 4;
inline constexpr uint8_t kSimple = 4;
inline constexpr uint8_t kStar = 4;
inline constexpr uint8_t kLazy = 4;
inline constexpr uint8_t kHasName = 4;
inline constexpr uint8_t kDoubleStar = 4;
inline constexpr uint8_t kTemplate = 4;
inline constexpr uint8_t kDebug = 4;
}  // namespace node_flag

struct Node {
  NodeKind kind;
  uint8_t op = 0;
  uint8_t flags = 0;
  // Bit i: the i-th optional child of this kind is present.
  uint8_t optional = 0;
  TokenId first_token;
  TokenId last_token;
  // Number of nodes in this subtree, itself included.
  uint32_t size = 1;

  Context context() const { return static_cast<Context>(flags & node_flag::kContextMask); }
  Operator operation() const { return static_cast<Operator>(op); }
  bool has(uint8_t flag) const { return (flags & flag) != 0; }
  bool has_optional(unsigned i) const { return (optional >> i & 1) != 0; }
};
static_assert(sizeof(Node) == 16, "four nodes a cache line");

using NodeId = Id<struct NodeTag>;

// The children of one node, first to last.
class ChildRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = NodeId;
    using difference_type = std::ptrdiff_t;
    using pointer = const NodeId*;
    using reference = NodeId;
    Iterator() = default;
    Iterator(const Node* nodes, NodeId id) : nodes_(nodes), id_(id) {}
    NodeId operator*() const { return id_; }
    Iterator& operator++() {
      id_ = id_ + nodes_[id_.index].size;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const Iterator& other) const { return id_ == other.id_; }

   private:
    const Node* nodes_ = nullptr;
    NodeId id_;
  };

  ChildRange(const Node* nodes, NodeId first, NodeId end) : nodes_(nodes), first_(first), end_(end) {}
  Iterator begin() const { return {nodes_, first_}; }
  Iterator end() const { return {nodes_, end_}; }
  bool empty() const { return first_ == end_; }

 private:
  const Node* nodes_;
  NodeId first_;
  NodeId end_;
};

class Tree {
 public:
  Tree() = default;
  Tree(std::vector<Node> nodes, std::vector<NodeId> parents) : nodes_(std::move(nodes)), parents_(std::move(parents)) {}

  static constexpr NodeId root() { return NodeId(0); }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  const Node& operator[](NodeId id) const { return nodes_[id.index]; }
  NodeKind kind(NodeId id) const { return nodes_[id.index].kind; }
  // The root has no parent.
  NodeId parent(NodeId id) const { return parents_[id.index]; }
  NodeId end_of(NodeId id) const { return id + nodes_[id.index].size; }
  NodeId next_sibling(NodeId id) const { return end_of(id); }
  NodeId first_child(NodeId id) const { return nodes_[id.index].size > 1 ? id + 1 : NodeId(); }
  ChildRange children(NodeId id) const { return {nodes_.data(), id + 1, end_of(id)}; }
  // Whether `inner` lies in the subtree of `outer` (a node contains itself).
  bool contains(NodeId outer, NodeId inner) const { return outer <= inner && inner < end_of(outer); }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
  std::vector<NodeId> parents_;
};

// The bytes a node covers.
inline Span node_span(const Tree& tree, const Tokens& tokens, NodeId id) {
  const Node& node = tree[id];
  return {tokens[node.first_token].start, tokens[node.last_token].end};
}

}  // namespace graphmend

// Control flow of one function, class body or module. In: Tree, Tokens. Out: `Cfg`, blocks of elements and their edges.
// Elements are statements and the parts of compound statements that run by themselves: tests (`and`, `or` and `not` in
// them are taken apart), iterables, items of `with`, patterns. What is nested (functions, classes, lambdas) is opaque.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

using BlockId = Id<struct BlockTag>;
using ElementId = Id<struct ElementTag>;

enum class ElementKind : uint8_t {
  Statement,  // a simple statement, a definition, `return`, `break`, …
  Test,       // an operand of a condition: of `if`, `elif`, `while`, a guard
  Iterable,   // of `for`: evaluated and `iter` called
  Advance,    // node: the For; the next item is fetched, or there is none
  Target,     // the target of `for` or `with … as` is assigned
  Enter,      // node: the WithItem; its expression and `__enter__`
  Exit,       // node: the WithItem; `__exit__`
  Subject,    // of `match`
  Pattern,    // of a case; matching
  Capture,    // node: the pattern; it has matched, its names are bound
  Handler,    // node: the ExceptHandler; its type is compared
  Bind,       // node: the ExceptHandler; its name is bound
  Unbind,     // node: the ExceptHandler; its name is deleted, on every way out of the handler
};
std::string_view element_kind_name(ElementKind kind);

struct Element {
  NodeId node;
  BlockId block;
  ElementKind kind = ElementKind::Statement;
  // Exceptions that come from nowhere (KeyboardInterrupt, MemoryError) do not count.
  bool may_raise = true;
};
static_assert(sizeof(Element) == 12);

// Return: from a `return` to the exit, over all that is done on the way out; falling off the end is Next.
enum class EdgeKind : uint8_t { Next, True, False, Raise, Return };

struct Edge {
  BlockId to;
  EdgeKind kind = EdgeKind::Next;
  // Of a Raise or Return edge, on which an exception or `return` that was pending goes on: the Try, Finally, WithItem
  // or ExceptHandler that held it up. To what lies inside of that the edge is a normal end. Else the jump itself.
  NodeId region;
};

// Straight-line code. Any of its elements that may raise can leave it for `on_raise`, before or in the midst of its
// work.
struct Block {
  ElementId first;
  ElementId end;
  // None when nothing in it may raise.
  BlockId on_raise;
  uint32_t first_edge = 0;
  uint32_t edge_count = 0;
};

// How exact the paths are. A `finally` body is copied for each way that leads into it (falling through, an exception,
// `return`, `break`, `continue`), as CPython does it, so that a path that enters by `return` returns. A `finally`
// inside a `finally` is not copied again, which bounds a statement to five copies; there the ways out are those that
// lead in, and a path may enter by one and leave by another. `with` is the same, and its `__exit__` may swallow an
// exception, unless it is spelled like one of torch's that do not (`torch.no_grad()`). `yield` and `await` raise where
// a closed generator or a cancelled coroutine ends. Code that cannot be reached has blocks without a way in.
class Cfg {
 public:
  NodeId owner() const { return owner_; }
  BlockId entry() const { return BlockId(0); }
  // Where the function returns, and where an exception leaves it. Neither has elements.
  BlockId exit() const { return BlockId(1); }
  BlockId raise_exit() const { return BlockId(2); }

  uint32_t block_count() const { return static_cast<uint32_t>(blocks_.size()); }
  uint32_t element_count() const { return static_cast<uint32_t>(elements_.size()); }
  const Block& operator[](BlockId id) const { return blocks_[id.index]; }
  const Element& operator[](ElementId id) const { return elements_[id.index]; }
  std::span<const Edge> edges(BlockId id) const {
    const Block& block = blocks_[id.index];
    return {edges_.data() + block.first_edge, block.edge_count};
  }

  // The element with which a statement begins, once for each copy; empty for what is not a statement of the owner.
  std::span<const ElementId> entries(NodeId statement) const;
  // All elements whose nodes are in [first, end), copies included, in order of their nodes.
  std::span<const ElementId> elements_in(NodeId first, NodeId end) const;
  // Whether some path leads from the entry to the block.
  bool reachable(BlockId id) const { return reachable_[id.index]; }

 private:
  friend class CfgBuilder;

  NodeId owner_;
  std::vector<Block> blocks_;
  std::vector<Element> elements_;
  std::vector<Edge> edges_;
  std::vector<bool> reachable_;
  // Sorted by node: statements and their first elements, and all elements.
  std::vector<NodeId> entry_nodes_;
  std::vector<ElementId> entry_elements_;
  std::vector<NodeId> element_nodes_;
  std::vector<ElementId> by_node_;
};

// Every block once, reachable ones first and each before those it leads to, loops aside.
std::vector<BlockId> flow_order(const Cfg& cfg);

// A block holds no more elements than this, so that a look inside of one is a small step.
inline constexpr uint32_t kMaxBlockElements = 64;

// `owner` is a FunctionDef, a ClassDef or the Module. Without the text all contexts may swallow exceptions.
Cfg compute_cfg(const Tree& tree, const Tokens& tokens, NodeId owner, std::string_view text = {});

}  // namespace graphmend

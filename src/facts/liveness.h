// Liveness of variables. In: Tree, Cfg, Uses. Out: `Liveness`: what is live at a place, and what a range of statements
// reads and assigns. A variable that a closure shares is live everywhere after the closure was made; in classes and
// modules all are. Calls may raise: those edges are in Cfg, not here.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/bit_rows.h"
#include "facts/cfg.h"
#include "facts/uses.h"
#include "parse/tree.h"

namespace graphmend {

// Sorted, each once.
using Variables = std::vector<SymbolId>;

class Liveness {
 public:
  // Whose value from before the element may still be read.
  Variables live_before(ElementId element) const;

  // Of statements `first` to `last`, siblings; of one statement when they are the same. For a statement with several
  // copies (see Cfg), what holds for any copy. Empty for what is no statement of the function.
  Variables live_in(NodeId first, NodeId last) const;
  // Behind the range, where it is left by falling through, `break`, `continue` or `return`.
  Variables live_out(NodeId first, NodeId last) const;
  // Where an exception leads that leaves the range.
  Variables live_on_raise(NodeId first, NodeId last) const;
  Variables live_in(NodeId statement) const { return live_in(statement, statement); }
  Variables live_out(NodeId statement) const { return live_out(statement, statement); }

  // All that the range reads.
  Variables reads(NodeId first, NodeId last) const;
  // What it may read before it has assigned it: what must be handed to the range if it is moved elsewhere.
  Variables needs(NodeId first, NodeId last) const;
  // What it may assign or delete by itself; a closure that it calls may assign more (see `captured`, and the effects of
  // the call).
  Variables may_assign(NodeId first, NodeId last) const;
  // What is bound by it on every way out but exceptions and `return`.
  Variables must_assign(NodeId first, NodeId last) const;
  // What closures that the range makes share.
  Variables captured(NodeId first, NodeId last) const;

 private:
  friend Liveness compute_liveness(const Tree& tree, const Cfg& cfg, const Uses& uses);

  void before(ElementId element, BitRow row) const;
  void at_start(BlockId block, BitRow row) const;
  void solve();
  void solve_captures(const std::vector<BlockId>& order);
  Variables listed(ConstBitRow row) const;
  Variables exits(NodeId first, NodeId last, bool raised) const;
  size_t place(const Use& use) const { return uses_->variables().place(use.variable); }

  const Tree* tree_ = nullptr;
  const Cfg* cfg_ = nullptr;
  const Uses* uses_ = nullptr;
  // By block.
  BitRows live_;
  BitRows captured_;
  // Everything is live: a class, a module, or too large to tell.
  bool all_live_ = false;
};

// The parameters must outlive the result.
Liveness compute_liveness(const Tree& tree, const Cfg& cfg, const Uses& uses);

}  // namespace graphmend

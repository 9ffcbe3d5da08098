// Liveness of variables. In: Tree, Cfg, Uses. Out: `Liveness`. Here: the fixed point, and what is live at one element.
// Exceptions that leave an element may come before it has written anything, so what is live where they lead is live
// before the element, whatever it writes.
#include "facts/liveness.h"

#include <algorithm>

#include "facts/definitions.h"

namespace graphmend {

namespace {

// live_in = reads | (live_out - writes), for one element and backwards through its events.
void step_back(const Uses& uses, ElementId element, BitRow row) {
  const std::span<const Use> events = uses.at(element);
  for (const Use& use : events) {
    if (is_kill(use.kind)) clear_bit(row, uses.variables().place(use.variable));
  }
  // A read that sees only what the element wrote itself is not marked as exposed.
  for (const Use& use : events) {
    if (is_exposed_read(use.kind)) set_bit(row, uses.variables().place(use.variable));
  }
}

}  // namespace

Liveness compute_liveness(const Tree& tree, const Cfg& cfg, const Uses& uses) {
  Liveness out;
  out.tree_ = &tree;
  out.cfg_ = &cfg;
  out.uses_ = &uses;
  const uint64_t bits = uint64_t{cfg.block_count()} * uses.variables().count;
  out.all_live_ = uses.all_escape() || bits > kMaxFlowBits;
  if (!out.all_live_) out.solve();
  return out;
}

// live_in = reads | (live_out - writes); backwards, to a fixed point.
void Liveness::solve() {
  const Cfg& cfg = *cfg_;
  live_ = BitRows(cfg.block_count(), uses_->variables().count);
  const std::vector<BlockId> order = flow_order(cfg);
  solve_captures(order);
  BitRows scratch(1, uses_->variables().count);
  for (bool again = true; again;) {
    again = false;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Block& block = cfg[*id];
      BitRow row = scratch[0];
      std::fill(row.begin(), row.end(), 0);
      for (const Edge& edge : cfg.edges(*id)) add_bits(row, live_[edge.to.index]);
      for (ElementId e = block.end; e > block.first;) {
        e = e - 1;
        step_back(*uses_, e, row);
        if (cfg[e].may_raise && block.on_raise) add_bits(row, live_[block.on_raise.index]);
      }
      again = add_bits(live_[id->index], row) || again;
    }
  }
}

// captured_out = captured_in | captures; forwards, to a fixed point.
void Liveness::solve_captures(const std::vector<BlockId>& order) {
  const Cfg& cfg = *cfg_;
  captured_ = BitRows(cfg.block_count(), uses_->variables().count);
  BitRows made(cfg.block_count(), uses_->variables().count);
  bool any = false;
  for (ElementId e(0); e.index < cfg.element_count(); ++e) {
    for (const Use& use : uses_->at(e)) {
      if (use.kind != UseKind::Capture) continue;
      set_bit(made[cfg[e].block.index], place(use));
      any = true;
    }
  }
  while (any) {
    any = false;
    for (BlockId id : order) {
      add_bits(made[id.index], captured_[id.index]);
      auto send = [&](BlockId to) { any = add_bits(captured_[to.index], made[id.index]) || any; };
      if (cfg[id].on_raise) send(cfg[id].on_raise);
      for (const Edge& edge : cfg.edges(id)) send(edge.to);
    }
  }
}

// Adds what is live at the start of a block to `row`.
void Liveness::at_start(BlockId block, BitRow row) const {
  add_bits(row, live_[block.index]);
  add_bits(row, captured_[block.index]);
}

// Adds what is live before the element to `row`.
void Liveness::before(ElementId element, BitRow row) const {
  const Cfg& cfg = *cfg_;
  const BlockId id = cfg[element].block;
  const Block& block = cfg[id];
  BitRows scratch(1, uses_->variables().count);
  BitRow live = scratch[0];
  for (const Edge& edge : cfg.edges(id)) add_bits(live, live_[edge.to.index]);
  for (ElementId e = block.end; e > element;) {
    e = e - 1;
    step_back(*uses_, e, live);
    if (cfg[e].may_raise && block.on_raise) add_bits(live, live_[block.on_raise.index]);
  }
  add_bits(live, captured_[id.index]);
  for (ElementId e = block.first; e < element; ++e) {
    for (const Use& use : uses_->at(e)) {
      if (use.kind == UseKind::Capture) set_bit(live, place(use));
    }
  }
  add_bits(row, live);
}

Variables Liveness::listed(ConstBitRow row) const {
  Variables found;
  for (SymbolId variable : uses_->own()) {
    if (has_bit(row, uses_->variables().place(variable))) found.push_back(variable);
  }
  return found;
}

Variables Liveness::live_before(ElementId element) const {
  if (all_live_) return {uses_->own().begin(), uses_->own().end()};
  BitRows row(1, uses_->variables().count);
  before(element, row[0]);
  return listed(row[0]);
}

}  // namespace graphmend

// Liveness of ranges of statements. In: Liveness, two sibling statements. Out: what the range needs, assigns, leaves.
// A range is all elements whose nodes lie in it, with the edges among them; where an edge leads out, the range is left.
#include <algorithm>

#include "facts/liveness.h"

namespace graphmend {

namespace {

// Where control goes from an element: to another one, or (none) to an exit of the function.
struct Target {
  ElementId element;
  BlockId block;
  bool raised = false;
  bool returned = false;
};

class RangeFlow {
 public:
  RangeFlow(const Cfg& cfg, NodeId first, NodeId end) : cfg_(cfg), first_(first), end_(end) {
    const std::span<const ElementId> all = cfg.elements_in(first, end);
    elements_.assign(all.begin(), all.end());
    std::sort(elements_.begin(), elements_.end());
  }

  const std::vector<ElementId>& elements() const { return elements_; }
  bool contains(ElementId id) const { return id && cfg_[id].node >= first_ && cfg_[id].node < end_; }
  size_t index(ElementId id) const {
    return static_cast<size_t>(std::lower_bound(elements_.begin(), elements_.end(), id) - elements_.begin());
  }

  // Valid until the next call.
  const std::vector<Target>& targets(ElementId id) {
    targets_.clear();
    const BlockId block = cfg_[id].block;
    if (cfg_[id].may_raise && cfg_[block].on_raise) follow({ElementId(), cfg_[block].on_raise, true, false});
    if (id + 1 < cfg_[block].end) {
      targets_.push_back({id + 1, block, false, false});
    } else {
      for (const Edge& edge : cfg_.edges(block)) follow(along(edge, {}));
    }
    return targets_;
  }

 private:
  // An exception that goes on leaves by exception what held it up, and ends normally what was done meanwhile. So does a
  // `return`.
  Target along(const Edge& edge, const Target& from) const {
    const bool ours = edge.region && edge.region >= first_ && edge.region < end_;
    return {ElementId(), edge.to, from.raised || (ours && edge.kind == EdgeKind::Raise),
            from.returned || (ours && edge.kind == EdgeKind::Return)};
  }

  // Blocks without elements lead straight on; every loop has an element, so this ends.
  void follow(const Target& to) {
    work_.push_back(to);
    while (!work_.empty()) {
      Target target = work_.back();
      work_.pop_back();
      const Block& block = cfg_[target.block];
      if (block.first < block.end) {
        target.element = block.first;
        targets_.push_back(target);
        continue;
      }
      const std::span<const Edge> edges = cfg_.edges(target.block);
      if (edges.empty()) targets_.push_back(target);
      for (const Edge& edge : edges) work_.push_back(along(edge, target));
    }
  }

  const Cfg& cfg_;
  NodeId first_;
  NodeId end_;
  std::vector<ElementId> elements_;
  std::vector<Target> targets_;
  std::vector<Target> work_;
};

}  // namespace

Variables Liveness::live_in(NodeId first, NodeId last) const {
  const std::span<const ElementId> entries = cfg_->entries(first);
  if (entries.empty() || last < first) return {};
  if (all_live_) return live_before(entries[0]);
  BitRows row(1, uses_->variables().count);
  for (ElementId entry : entries) before(entry, row[0]);
  return listed(row[0]);
}

Variables Liveness::exits(NodeId first, NodeId last, bool raised) const {
  RangeFlow flow(*cfg_, first, tree_->end_of(last));
  if (flow.elements().empty()) return {};
  if (all_live_) return live_before(flow.elements()[0]);
  BitRows row(1, uses_->variables().count);
  for (ElementId element : flow.elements()) {
    for (const Target& target : flow.targets(element)) {
      if (target.raised != raised || flow.contains(target.element)) continue;
      if (target.element) {
        before(target.element, row[0]);
      } else {
        at_start(target.block, row[0]);
      }
    }
  }
  return listed(row[0]);
}

Variables Liveness::live_out(NodeId first, NodeId last) const { return exits(first, last, false); }
Variables Liveness::live_on_raise(NodeId first, NodeId last) const { return exits(first, last, true); }

namespace {

template <class Predicate>
Variables collect(const Cfg& cfg, const Uses& uses, NodeId first, NodeId end, Predicate wanted) {
  Variables found;
  for (ElementId element : cfg.elements_in(first, end)) {
    for (const Use& use : uses.at(element)) {
      if (wanted(use.kind)) found.push_back(use.variable);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

Variables Liveness::reads(NodeId first, NodeId last) const {
  return collect(*cfg_, *uses_, first, tree_->end_of(last), is_read);
}

Variables Liveness::may_assign(NodeId first, NodeId last) const {
  return collect(*cfg_, *uses_, first, tree_->end_of(last), is_change);
}

Variables Liveness::captured(NodeId first, NodeId last) const {
  return collect(*cfg_, *uses_, first, tree_->end_of(last), [](UseKind kind) { return kind == UseKind::Capture; });
}

// Liveness of the range by itself, with nothing live behind it; only what it reads can come up, so rows are short.
// live_in = reads | (live_out - writes); backwards, to a fixed point.
Variables Liveness::needs(NodeId first, NodeId last) const {
  RangeFlow flow(*cfg_, first, tree_->end_of(last));
  const Variables candidates = reads(first, last);
  auto column = [&](SymbolId variable) {
    auto found = std::lower_bound(candidates.begin(), candidates.end(), variable);
    return found != candidates.end() && *found == variable ? static_cast<size_t>(found - candidates.begin())
                                                           : candidates.size();
  };
  BitRows live(flow.elements().size(), candidates.size());
  BitRows scratch(2, candidates.size());
  for (bool again = true; again;) {
    again = false;
    for (size_t i = flow.elements().size(); i-- > 0;) {
      const ElementId element = flow.elements()[i];
      BitRow row = scratch[0];
      BitRow raised = scratch[1];
      std::fill(row.begin(), row.end(), 0);
      std::fill(raised.begin(), raised.end(), 0);
      for (const Target& target : flow.targets(element)) {
        if (flow.contains(target.element)) add_bits(target.raised ? raised : row, live[flow.index(target.element)]);
      }
      for (const Use& use : uses_->at(element)) {
        const size_t bit = column(use.variable);
        if (bit < candidates.size() && is_kill(use.kind)) clear_bit(row, bit);
      }
      for (const Use& use : uses_->at(element)) {
        if (is_exposed_read(use.kind)) set_bit(row, column(use.variable));
      }
      add_bits(row, raised);
      again = add_bits(live[i], row) || again;
    }
  }
  Variables found;
  for (size_t bit = 0; bit < candidates.size(); ++bit) {
    bool needed = false;
    for (ElementId entry : cfg_->entries(first)) needed = needed || has_bit(live[flow.index(entry)], bit);
    if (needed) found.push_back(candidates[bit]);
  }
  return found;
}

// bound_out = (bound_in - deletes) | writes, and bound_in = the least of all that lead in; forwards, to a fixed point.
Variables Liveness::must_assign(NodeId first, NodeId last) const {
  RangeFlow flow(*cfg_, first, tree_->end_of(last));
  const Variables candidates = may_assign(first, last);
  const size_t count = flow.elements().size();
  BitRows bound(count, candidates.size());
  BitRows scratch(2, candidates.size());
  // Bits are turned round: set where a variable may be unbound, so that all starts empty.
  std::vector<bool> reached(count, false);
  auto column = [&](SymbolId variable) {
    return static_cast<size_t>(std::lower_bound(candidates.begin(), candidates.end(), variable) - candidates.begin());
  };
  BitRow left = scratch[1];
  for (ElementId entry : cfg_->entries(first)) {
    const size_t i = flow.index(entry);
    for (size_t bit = 0; bit < candidates.size(); ++bit) set_bit(bound[i], bit);
    reached[i] = true;
  }
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < count; ++i) {
      if (!reached[i]) continue;
      const ElementId element = flow.elements()[i];
      BitRow row = scratch[0];
      std::copy(bound[i].begin(), bound[i].end(), row.begin());
      for (const Use& use : uses_->at(element)) {
        if (!is_change(use.kind)) continue;
        if (use.kind == UseKind::Write) clear_bit(row, column(use.variable));
        if (use.kind == UseKind::Delete || use.kind == UseKind::MaybeDelete) set_bit(row, column(use.variable));
      }
      for (const Target& target : flow.targets(element)) {
        if (flow.contains(target.element)) {
          const size_t to = flow.index(target.element);
          bool changed = add_bits(bound[to], row);
          // An exception may come before anything was written; after a delete too.
          if (target.raised) changed = add_bits(bound[to], bound[i]) || changed;
          again = again || changed || !reached[to];
          reached[to] = true;
        } else if (!target.raised && !target.returned) {
          add_bits(left, row);
        }
      }
    }
  }
  Variables found;
  for (size_t bit = 0; bit < candidates.size(); ++bit) {
    if (!has_bit(left, bit)) found.push_back(candidates[bit]);
  }
  return found;
}

}  // namespace graphmend

// Reaching definitions. In: Cfg, Uses. Out: `Definitions`.
// Definitions of one variable have neighbouring ids, so that an assignment clears a run of bits.
#include "facts/definitions.h"

#include <algorithm>
#include <tuple>

namespace graphmend {

namespace {

bool defines(UseKind kind) { return is_change(kind) || kind == UseKind::CapturedWrite; }

DefinitionKind definition_kind(UseKind kind) {
  if (kind == UseKind::CapturedWrite) return DefinitionKind::Closure;
  return kind == UseKind::Delete || kind == UseKind::MaybeDelete ? DefinitionKind::Delete : DefinitionKind::Write;
}

}  // namespace

class DefinitionsBuilder {
 public:
  DefinitionsBuilder(const Cfg& cfg, const Uses& uses) : cfg_(cfg), uses_(uses) {
    out_.cfg_ = &cfg;
    out_.uses_ = &uses;
  }

  Definitions build() {
    number();
    collect_reads();
    const uint64_t bits = uint64_t{cfg_.block_count()} * out_.size();
    if (bits > kMaxFlowBits) {
      out_.gave_up_ = true;
    } else {
      solve();
    }
    return std::move(out_);
  }

 private:
  size_t bucket(SymbolId variable, bool closure) const {
    return 2 * uses_.variables().place(variable) + (closure ? 1 : 0);
  }
  size_t bucket(const Use& use) const { return bucket(use.variable, use.kind == UseKind::CapturedWrite); }

  // By variable: that of the entry, changes in order, closures.
  void number() {
    std::vector<uint32_t> counts(2 * uses_.variables().count + 1, 0);
    for (SymbolId variable : uses_.own()) ++counts[bucket(variable, false) + 1];
    for_each_change([&](ElementId, const Use& use) { ++counts[bucket(use) + 1]; });
    for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
    for (uint32_t count : counts) out_.firsts_.push_back(DefinitionId(count));
    out_.all_.resize(counts.back());

    std::vector<uint32_t> next(counts.begin(), counts.end());
    for (SymbolId variable : uses_.own()) {
      out_.all_[next[bucket(variable, false)]++] = {variable, NodeId(), ElementId(), DefinitionKind::Unbound};
    }
    for (SymbolId variable : uses_.parameters()) {
      out_.all_[out_.first_of(variable).index].kind = DefinitionKind::Parameter;
    }
    for (ElementId e(0); e.index < cfg_.element_count(); ++e) {
      out_.change_offsets_.push_back(static_cast<uint32_t>(out_.of_change_.size()));
      for (const Use& use : uses_.at(e)) {
        if (!defines(use.kind)) continue;
        const DefinitionId id(next[bucket(use)]++);
        out_.all_[id.index] = {use.variable, use.node, e, definition_kind(use.kind)};
        out_.of_change_.push_back(id);
      }
    }
    out_.change_offsets_.push_back(static_cast<uint32_t>(out_.of_change_.size()));
  }

  template <class Visitor>
  void for_each_change(Visitor visitor) const {
    for (ElementId e(0); e.index < cfg_.element_count(); ++e) {
      for (const Use& use : uses_.at(e)) {
        if (defines(use.kind)) visitor(e, use);
      }
    }
  }

  void collect_reads() {
    for (ElementId e(0); e.index < cfg_.element_count(); ++e) {
      for (const Use& use : uses_.at(e)) {
        if (is_read(use.kind)) out_.reads_.push_back({use.node, e, use.variable, use.kind != UseKind::ReadOwn});
      }
    }
    std::sort(out_.reads_.begin(), out_.reads_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.node, a.element, a.variable) < std::tie(b.node, b.element, b.variable);
    });
  }

  // out = gen | (in - kill); forwards, to a fixed point. Where an element raises, part of its work may be done: what
  // it kills still holds there, and so does what it generates.
  void solve() {
    const size_t blocks = cfg_.block_count();
    out_.in_ = BitRows(blocks, out_.size());
    BitRow entry = out_.in_[cfg_.entry().index];
    for (SymbolId variable : uses_.own()) set_bit(entry, out_.first_of(variable).index);

    const std::vector<BlockId> order = flow_order(cfg_);
    // A block is looked at when something new has come in, and once in any case.
    std::vector<bool> waiting(blocks, true);
    BitRows scratch(2, out_.size());
    for (bool again = true; again;) {
      again = false;
      for (BlockId id : order) {
        if (!waiting[id.index]) continue;
        waiting[id.index] = false;
        if (!cfg_.reachable(id)) continue;
        flow_through(id, scratch[0], scratch[1]);
        auto send = [&](BlockId to, ConstBitRow what) {
          if (!add_bits(out_.in_[to.index], what)) return;
          waiting[to.index] = true;
          again = true;
        };
        if (cfg_[id].on_raise) send(cfg_[id].on_raise, scratch[1]);
        for (const Edge& edge : cfg_.edges(id)) send(edge.to, scratch[0]);
      }
    }
  }

  void flow_through(BlockId id, BitRow row, BitRow raised) const {
    const ConstBitRow in = out_.in_[id.index];
    std::copy(in.begin(), in.end(), row.begin());
    std::fill(raised.begin(), raised.end(), 0);
    for (ElementId e = cfg_[id].first; e < cfg_[id].end; ++e) {
      if (cfg_[e].may_raise) {
        add_bits(raised, row);
        for (uint32_t i = out_.change_offsets_[e.index]; i < out_.change_offsets_[e.index + 1]; ++i) {
          set_bit(raised, out_.of_change_[i].index);
        }
      }
      out_.step(row, e);
    }
  }

  const Cfg& cfg_;
  const Uses& uses_;
  Definitions out_;
};

// Over one element that does not raise.
void Definitions::step(BitRow row, ElementId element) const {
  uint32_t change = change_offsets_[element.index];
  for (const Use& use : uses_->at(element)) {
    if (is_kill(use.kind)) clear_bits(row, first_of(use.variable).index, first_closure_of(use.variable).index);
    if (defines(use.kind)) set_bit(row, of_change_[change++].index);
  }
}

std::vector<DefinitionId> Definitions::reaching(ElementId element, SymbolId variable) const {
  std::vector<DefinitionId> found;
  if (!uses_->variables().contains(variable)) return found;
  const BlockId block = (*cfg_)[element].block;
  BitRows row(1, size());
  if (!gave_up_) {
    const ConstBitRow in = in_[block.index];
    std::copy(in.begin(), in.end(), row[0].begin());
    for (ElementId e = (*cfg_)[block].first; e < element; ++e) step(row[0], e);
  }
  for (DefinitionId id = first_of(variable); id < end_of(variable); ++id) {
    if (gave_up_ || has_bit(row[0], id.index)) found.push_back(id);
  }
  return found;
}

std::vector<DefinitionId> Definitions::reaching(NodeId name) const {
  std::vector<DefinitionId> found;
  ReadSite key;
  key.node = name;
  auto [from, to] = std::equal_range(reads_.begin(), reads_.end(), key);
  for (auto read = from; read != to; ++read) {
    if (read->sees_outside) {
      for (DefinitionId id : reaching(read->element, read->variable)) found.push_back(id);
    }
    // What the element itself wrote before; what it writes only sometimes may come around in a comprehension.
    uint32_t change = change_offsets_[read->element.index];
    bool before = true;
    for (const Use& use : uses_->at(read->element)) {
      if (is_read(use.kind) && use.node == name) before = false;
      if (!defines(use.kind)) continue;
      const DefinitionId own = of_change_[change++];
      if (use.variable == read->variable && (before || !is_kill(use.kind))) found.push_back(own);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool Definitions::may_be_unbound(NodeId name) const {
  for (DefinitionId id : reaching(name)) {
    if (all_[id.index].is_unbound()) return true;
  }
  return false;
}

std::vector<NodeId> Definitions::unbound_reads() const {
  std::vector<NodeId> found;
  BitRows scratch(1, size());
  BitRow row = scratch[0];
  for (BlockId block(0); block.index < cfg_->block_count(); ++block) {
    if (!gave_up_) std::copy(in_[block.index].begin(), in_[block.index].end(), row.begin());
    for (ElementId e = (*cfg_)[block].first; e < (*cfg_)[block].end; ++e) {
      for (const Use& use : uses_->at(e)) {
        if (use.kind != UseKind::Read) continue;
        for (DefinitionId id = first_of(use.variable); id < end_of(use.variable); ++id) {
          if (!all_[id.index].is_unbound() || (!gave_up_ && !has_bit(row, id.index))) continue;
          found.push_back(use.node);
          break;
        }
      }
      if (!gave_up_) step(row, e);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Definitions::Bound Definitions::bound(ElementId element, SymbolId variable) const {
  bool with_value = false;
  bool without = false;
  for (DefinitionId id : reaching(element, variable)) {
    if (all_[id.index].is_unbound()) {
      without = true;
    } else {
      with_value = true;
    }
  }
  if (!with_value) return Bound::No;
  return without ? Bound::Maybe : Bound::Yes;
}

Definitions compute_definitions(const Cfg& cfg, const Uses& uses) { return DefinitionsBuilder(cfg, uses).build(); }

}  // namespace graphmend

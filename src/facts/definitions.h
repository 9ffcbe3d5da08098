// Reaching definitions. In: Cfg, Uses. Out: `Definitions`: which assignments a variable may have its value from.
// "Not bound" is a definition too, at the entry and after `del`. Calls may raise: those edges are in Cfg, not here.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "facts/bit_rows.h"
#include "facts/cfg.h"
#include "facts/uses.h"

namespace graphmend {

using DefinitionId = Id<struct DefinitionTag>;

enum class DefinitionKind : uint8_t {
  Unbound,  // at the entry: no value yet
  Parameter,
  Write,
  Delete,
  Closure,  // a nested function may assign it at any time after this place
};

struct Definition {
  SymbolId variable;
  // None for Unbound.
  NodeId node;
  // None for Unbound and Parameter.
  ElementId element;
  DefinitionKind kind = DefinitionKind::Unbound;

  bool is_unbound() const { return kind == DefinitionKind::Unbound || kind == DefinitionKind::Delete; }
};

class Definitions {
 public:
  uint32_t size() const { return static_cast<uint32_t>(all_.size()); }
  const Definition& operator[](DefinitionId id) const { return all_[id.index]; }

  // Those that may hold just before the element; empty where no path leads.
  std::vector<DefinitionId> reaching(ElementId element, SymbolId variable) const;
  // Those that a Name that is read may see, whichever copy of its element runs. Empty for other nodes.
  std::vector<DefinitionId> reaching(NodeId name) const;
  bool may_be_unbound(NodeId name) const;
  // All Names read or deleted that may have no value then; each once, in order.
  std::vector<NodeId> unbound_reads() const;

  enum class Bound : uint8_t { No, Maybe, Yes };
  // Whether the variable has a value before the element; No where no path leads.
  Bound bound(ElementId element, SymbolId variable) const;

 private:
  friend class DefinitionsBuilder;
  struct ReadSite {
    NodeId node;
    ElementId element;
    SymbolId variable;
    bool sees_outside = true;
    auto operator<=>(const ReadSite& other) const { return node <=> other.node; }
  };

  void step(BitRow row, ElementId element) const;
  DefinitionId first_of(SymbolId variable) const { return firsts_[2 * uses_->variables().place(variable)]; }
  DefinitionId first_closure_of(SymbolId variable) const { return firsts_[2 * uses_->variables().place(variable) + 1]; }
  DefinitionId end_of(SymbolId variable) const { return firsts_[2 * uses_->variables().place(variable) + 2]; }

  const Cfg* cfg_ = nullptr;
  const Uses* uses_ = nullptr;
  // Sorted by variable; those of closures, which nothing ends, behind the others.
  std::vector<Definition> all_;
  std::vector<DefinitionId> firsts_;
  // For each use of `Uses`, in order, the definition that it is.
  std::vector<DefinitionId> of_change_;
  std::vector<uint32_t> change_offsets_;
  BitRows in_;
  // Too many blocks and definitions to keep them all: every definition of a variable reaches everything.
  bool gave_up_ = false;
  std::vector<ReadSite> reads_;
};

// What is kept of the parameters must outlive the result.
Definitions compute_definitions(const Cfg& cfg, const Uses& uses);

// Tables of more bits than this are not made.
inline constexpr uint64_t kMaxFlowBits = uint64_t{1} << 28;

}  // namespace graphmend

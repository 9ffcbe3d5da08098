// What code may do. In: text, Tokens, Tree, Scopes. Out: `ModuleEffects`: for every expression and statement whether it
// may raise, reads or writes state, talks to the outside, draws random numbers. Tables (effects.def) know the builtins
// and torch; functions of the same module are looked into; of anything else everything must be feared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

namespace effect {
// Raises or not by the contents of tensors, or by anything else that only running it tells.
inline constexpr uint16_t kRaisesOnValues = 1;
// Raises or not by what is known while tracing: shapes, dtypes, devices, types, attributes, Python numbers.
inline constexpr uint16_t kRaisesOnShapes = 2;
// Attributes, globals, items of objects.
inline constexpr uint16_t kReadsState = 4;
// Changes an object that a local name leads to (not the binding of the name); `self`; a global, a nonlocal name or what
// they lead to; something that cannot be told.
inline constexpr uint16_t kWritesLocal = 8;
inline constexpr uint16_t kWritesSelf = 16;
inline constexpr uint16_t kWritesGlobal = 32;
inline constexpr uint16_t kWritesUnknown = 64;
inline constexpr uint16_t kTalks = 128;
inline constexpr uint16_t kRandom = 256;
// Needs the contents of a tensor in Python: `.item()`, a truth test, printing.
inline constexpr uint16_t kSyncs = 512;
inline constexpr uint16_t kMayNotEnd = 1024;
// What is said holds only if operators, attributes, truth tests and iteration run no code of the user's, …
inline constexpr uint16_t kAssumesPlain = 2048;
// … a method or attribute known by its name alone is the tensor's (or the dict's, list's or string's of the table), …
inline constexpr uint16_t kAssumesTensors = 4096;
// … a method called on `self` is that of the class around it and not overridden.
inline constexpr uint16_t kAssumesMethods = 8192;
// Calls what is not known; all that may happen is set as well.
inline constexpr uint16_t kUnknown = 16384;

inline constexpr uint16_t kRaises = kRaisesOnValues | kRaisesOnShapes;
inline constexpr uint16_t kWrites = kWritesLocal | kWritesSelf | kWritesGlobal | kWritesUnknown;
inline constexpr uint16_t kAnything =
    kRaises | kReadsState | kWrites | kTalks | kRandom | kSyncs | kMayNotEnd | kUnknown;
}  // namespace effect

struct Effects {
  uint16_t bits = 0;

  bool has(uint16_t bit) const { return (bits & bit) != 0; }
  bool may_raise_on_values() const { return has(effect::kRaisesOnValues); }
  bool may_raise_on_shapes() const { return has(effect::kRaisesOnShapes); }
  bool may_raise() const { return has(effect::kRaises); }
  bool reads_state() const { return has(effect::kReadsState); }
  bool writes_state() const { return has(effect::kWrites); }
  bool talks() const { return has(effect::kTalks); }
  bool random() const { return has(effect::kRandom); }
  bool syncs() const { return has(effect::kSyncs); }
  bool may_not_end() const { return has(effect::kMayNotEnd); }
  bool unknown() const { return has(effect::kUnknown); }
  // Nothing but a value comes of it, if anything comes of it. It may read state, and it may raise.
  bool pure() const { return !has(effect::kWrites | effect::kTalks | effect::kRandom | effect::kUnknown); }
  // It comes to its end for all values of its tensors.
  bool total() const { return !has(effect::kRaisesOnValues | effect::kMayNotEnd | effect::kUnknown); }
  Effects operator|(Effects other) const { return {static_cast<uint16_t>(bits | other.bits)}; }
  bool operator==(const Effects&) const = default;
};

// "raises-on-shapes, writes-self", or "none".
std::string effects_text(Effects effects);

// One place where an object is changed.
struct WriteSite {
  NodeId node;
  // Of kWrites, the one that applies.
  uint16_t root = 0;
  // The variable at the root, if there is one.
  SymbolId variable;
  // `x += …`, which changes nothing when `x` is a number.
  bool by_operator = false;
};

class ModuleEffects {
 public:
  // Of evaluating the expression or running the statement once. The body of a function is no part of its definition.
  Effects of(NodeId node) const { return {by_node_[node.index]}; }
  // Of statements `first` to `last`, siblings.
  Effects of_range(const Tree& tree, NodeId first, NodeId last) const;
  // Of calling a function of this module: its body, defaults and decorators left out.
  Effects of_call(NodeId function) const;
  // In order of their nodes. For a call of a function of this module that changes objects: all that it is given.
  std::span<const WriteSite> writes(const Tree& tree, NodeId first, NodeId last) const;

 private:
  friend class EffectsBuilder;
  struct Summary {
    NodeId function;
    Effects effects;
  };

  std::vector<uint16_t> by_node_;
  std::vector<WriteSite> writes_;
  // Sorted by function.
  std::vector<Summary> summaries_;
};

ModuleEffects compute_effects(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes);

}  // namespace graphmend

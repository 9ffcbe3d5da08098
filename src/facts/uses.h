// What each element does with the names of its function. In: Tree, Tokens, text, Cfg, Scopes. Out: `Uses`.
// Events come in the order of evaluation. Names that nested functions, lambdas and generators share are captured: from
// then on they may be read, and if declared `nonlocal` there also written, at any time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "facts/cfg.h"
#include "facts/scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

enum class UseKind : uint8_t {
  Read,     // may see the value from before the element
  ReadOwn,  // sees only what the element itself has written
  Write,    // on every way through the element that does not raise
  MaybeWrite,
  Delete,
  MaybeDelete,
  Capture,
  CapturedWrite,  // by a closure that may run at any time from here on
};

// The variables of one function are neighbours among the symbols.
struct VariableRange {
  SymbolId first;
  uint32_t count = 0;

  bool contains(SymbolId id) const { return id && first <= id && id.index < first.index + count; }
  size_t place(SymbolId id) const { return id.index - first.index; }
};
VariableRange variables_of(const Tree& tree, const Scopes& scopes, NodeId owner);

struct Use {
  SymbolId variable;
  NodeId node;
  UseKind kind = UseKind::Read;
};

constexpr bool is_read(UseKind kind) {
  return kind == UseKind::Read || kind == UseKind::ReadOwn || kind == UseKind::Capture;
}
constexpr bool is_exposed_read(UseKind kind) { return kind == UseKind::Read || kind == UseKind::Capture; }
// After it the value from before is gone for sure.
constexpr bool is_kill(UseKind kind) { return kind == UseKind::Write || kind == UseKind::Delete; }
constexpr bool is_change(UseKind kind) { return kind >= UseKind::Write && kind <= UseKind::MaybeDelete; }

class Uses {
 public:
  // The variables of the function and symbols that are none of them; no others occur.
  const VariableRange& variables() const { return variables_; }
  std::span<const Use> at(ElementId id) const {
    return {uses_.data() + offsets_[id.index], offsets_[id.index + 1] - offsets_[id.index]};
  }
  // Those of them that are variables of the function itself.
  std::span<const SymbolId> own() const { return own_; }
  // The parameters of the function.
  std::span<const SymbolId> parameters() const { return parameters_; }
  // In modules and classes names are seen from outside at any time.
  bool all_escape() const { return all_escape_; }

 private:
  friend class UsesBuilder;
  VariableRange variables_;
  std::vector<Use> uses_;
  std::vector<uint32_t> offsets_;
  std::vector<SymbolId> own_;
  std::vector<SymbolId> parameters_;
  bool all_escape_ = false;
};

Uses compute_uses(std::string_view text, const Tokens& tokens, const Tree& tree, const Cfg& cfg, const Scopes& scopes);

}  // namespace graphmend

// Which scope and which blocks every node lies in. In: Tree, version. Out: `ScopeWalk`, asked node by node in order.
// Scopes are those of CPython's symbol table of the target version: annotations and type parameters have their own or
// not, the first iterable of a comprehension belongs to the scope around it. Names are not looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "base/version.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

enum class ScopeKind : uint8_t {
  Module,
  Class,
  Function,
  Lambda,
  ListComp,
  SetComp,
  DictComp,
  GeneratorExp,
  // The scopes in which no `yield`, `await` or `:=` may stand.
  Annotation,
  TypeParams,
  TypeVariable,
  TypeAlias,
};

constexpr bool is_comprehension(ScopeKind kind) {
  return kind >= ScopeKind::ListComp && kind <= ScopeKind::GeneratorExp;
}
constexpr bool is_type_scope(ScopeKind kind) { return kind >= ScopeKind::Annotation; }

struct Scope {
  NodeId node;
  uint32_t parent = 0;
  ScopeKind kind = ScopeKind::Module;
  // Defined by `async def`.
  bool is_async = false;
  // Awaits, or holds an asynchronous comprehension; true from the start for `async def`.
  bool coroutine = false;
  bool generator = false;
  // Whether code is made of it (see Region::compiled).
  bool compiled = true;
  // The class whose private names are mangled here; none outside of classes.
  TokenId class_name;
  // The first `return` with a value.
  NodeId value_return;
  // Before 3.11: the first asynchronous comprehension directly in it.
  NodeId async_inside;
  // The first blocks nested one deeper than CPython takes, in a plain function and in a generator or coroutine.
  NodeId too_deep;
  NodeId too_deep_for_generator;
};

enum class LoopState : uint8_t { None, Inside, BehindExceptStar };

// What holds for the nodes up to `end`.
struct Region {
  uint32_t end = 0;
  uint32_t scope = 0;
  // Loops, `with` and `try` around, as CPython counts them.
  uint16_t blocks = 0;
  LoopState loop = LoopState::None;
  // CPython makes no code of some annotations; then only its symbol table looks at them.
  bool compiled = true;
  // In an iterable of a comprehension, or in a scope within one.
  bool in_iterable = false;
  bool in_except_star = false;
  bool in_try = false;
  bool closes_scope = false;
};

class ScopeWalk {
 public:
  // `exact`: also single names in annotations are in the annotation's scope, which costs a little and matters only
  // where names are looked up.
  ScopeWalk(const Tree& tree, const Tokens& tokens, Version target, bool future_annotations, bool exact = false);

  // Call for each node in order before anything else; true when scopes were closed (see `closed`).
  bool advance(NodeId id) { return id.index >= next_event_ && handle_events(id.index); }
  // Call for each node that `opens` says; may be called for others.
  void enter(NodeId id);
  // Closes what is still open.
  void finish() { handle_events(tree_.size()); }

  const Region& here() const { return regions_.back(); }
  Scope& scope() { return scopes_[regions_.back().scope]; }
  Scope& scope(uint32_t index) { return scopes_[index]; }
  uint32_t scope_index() const { return regions_.back().scope; }
  // Of a function or class just entered: that of its body.
  uint32_t newest_scope() const { return static_cast<uint32_t>(scopes_.size() - 1); }
  // The scopes closed by the last `advance`, innermost first.
  const std::vector<uint32_t>& closed() const { return closed_; }

  static bool opens(NodeKind kind);

 private:
  struct Pending {
    uint32_t begin;
    Region region;
  };

  bool handle_events(uint32_t id);
  void set_next_event();
  uint32_t add_scope(ScopeKind kind, NodeId node, uint32_t parent);
  // From when the walk reaches `node` until it leaves it. What begins last must be scheduled first.
  void schedule(NodeId node, Region region);
  void schedule_annotation(NodeId node, Region region);
  void schedule_scope(NodeId node, uint32_t scope, Region region);
  // Sorts what was scheduled since `mark` by its begin, last first.
  void order_since(size_t mark);
  Region deeper(NodeId node, Region region, unsigned blocks);

  void enter_function(NodeId id);
  void enter_class(NodeId id);
  void enter_type_alias(NodeId id);
  void enter_type_param(NodeId id);
  void enter_annotated(NodeId id);
  void enter_lambda(NodeId id);
  void enter_comprehension(NodeId id, ScopeKind kind);
  void enter_try(NodeId id);
  Region annotation_region(NodeId node, Region around, bool evaluated, uint32_t& annotation_scope);

  const Tree& tree_;
  const Tokens& tokens_;
  Version target_;
  bool future_annotations_;
  bool exact_;
  uint32_t next_event_ = 0;
  std::vector<Region> regions_;
  // Those to begin soonest are at the back.
  std::vector<Pending> pending_;
  std::vector<Scope> scopes_;
  std::vector<uint32_t> closed_;
};

}  // namespace graphmend

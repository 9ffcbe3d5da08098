// The steps behind compute_scopes, shared by their files. In: text, Tokens, Tree, version. Out: Scopes.
// Collect (scope_collect.cpp): one pass over the nodes notes in each scope what is done to which name. Resolve
// (scope_resolve.cpp): from the module inwards each name becomes local, free or global. Close (scope_closures.cpp):
// from the innermost outwards, free names make cells, and comprehensions are inlined.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/version.h"
#include "facts/later_names.h"
#include "facts/later_scopes.h"
#include "facts/scope_tables.h"
#include "facts/scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

class ScopeBuilder {
 public:
  ScopeBuilder(std::string_view text, const Tokens& tokens, const Tree& tree, Version target);
  Scopes run();

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  // Bound by a class for what is inside it: `__class__`.
  static constexpr uint32_t kClassCell = 0xFFFFFFFE;

  // A symbol while it is made. Scopes and symbols are numbered as the walk meets them, until `finish`.
  struct Entry {
    uint32_t name;
    uint32_t scope;
    // The next symbol of the same scope.
    uint32_t next = kNone;
    uint32_t binding = kNone;
    uint16_t flags = 0;
    SymbolScope kind = SymbolScope::Unknown;
  };
  struct FreeName {
    uint32_t name;
    uint32_t binding;
  };
  struct State {
    uint32_t name = kNone;
    NodeId node;
    // Its symbols are a list.
    uint32_t first_symbol = kNone;
    uint32_t last_symbol = kNone;
    // In CPython's order.
    uint32_t position = kNone;
    // In `order_`, and how many follow that are inside it.
    uint32_t rank = 0;
    uint32_t size = 1;
    // Of a comprehension: the end of the target that the walk is in or has passed last.
    uint32_t target_end = 0;
    // The scope of a generic class's type parameters in which only their names are mangled; none elsewhere.
    uint32_t mangles_only = kNone;
    // The class whose names an annotation scope in it sees.
    uint32_t visible_class = kNone;
    bool nested = false;
    bool hidden = false;
    bool sees_class = false;
    bool inlined = false;
    // Free here or further inside, and bound outside.
    std::vector<FreeName> free;
    // Of a comprehension: free in a scope inside that is not inlined.
    std::vector<uint32_t> free_in_closures;
  };

  // scope_collect.cpp
  void collect();
  void collect_node(NodeId id);
  void note_place(NodeId id);
  void enter(NodeId id);
  void add_states();
  void add_function(NodeId id);
  void add_parameters(NodeId parameters, uint32_t scope);
  void add_class(NodeId id);
  void add_type_alias(NodeId id);
  void add_type_param(NodeId id);
  void add_comprehension(NodeId id, std::string_view name);
  void add_alias(NodeId id);
  void add_name(NodeId id);
  void add_annotated(NodeId id);
  void add_named_expr(NodeId id);
  void declare(NodeId statement);
  void add_class_dict(uint32_t scope);

  // scopes.cpp
  uint32_t entry_of(uint32_t scope, uint32_t name);
  // Notes what is done to a name in a scope, and what it is that does it. `node` may be none.
  uint32_t add(uint32_t scope, uint32_t name, uint16_t flags, NodeId node = NodeId());
  uint32_t add_token(uint32_t scope, TokenId token, uint16_t flags, NodeId node);
  uint32_t mangled(TokenId token, uint32_t scope);
  uint32_t intern(std::string_view name) { return names_.intern(name); }
  ScopeKind kind_of(uint32_t scope) { return walk_.scope(scope).kind; }
  uint32_t parent_of(uint32_t scope) { return walk_.scope(scope).parent; }
  void order_scopes();
  void mark_namespaces();
  Scopes finish();
  std::vector<SymbolId> finish_symbols(Scopes& scopes);
  void finish_nodes(Scopes& scopes, const std::vector<SymbolId>& symbol_ids);

  // scope_resolve.cpp
  void resolve();
  void resolve_scope(uint32_t scope);
  void resolve_entry(uint32_t scope, Entry& entry, uint32_t index);
  void note_inlined(uint32_t scope);
  void publish(uint32_t scope);
  void show(uint32_t name, uint32_t entry);
  uint32_t module_binding(uint32_t name);

  // scope_closures.cpp
  void close();
  void close_scope(uint32_t scope);
  void inline_comprehension(uint32_t scope, uint32_t inner);
  void merge_free(uint32_t scope, uint32_t inner);
  void make_cells(uint32_t scope);
  void note_free(uint32_t scope);
  void collect_free(uint32_t scope);

  std::string_view text_;
  const Tokens& tokens_;
  const Tree& tree_;
  Version target_;
  NameTexts texts_;
  ScopeWalk walk_;
  std::vector<uint32_t> positions_;
  NameTable names_;
  PairTable table_;
  std::vector<Entry> entries_;
  std::vector<State> states_;
  // Scopes in CPython's order, parents before children.
  std::vector<uint32_t> order_;
  std::vector<uint32_t> node_entries_;
  std::vector<std::pair<NodeId, uint32_t>> sites_;
  std::vector<std::pair<NodeId, uint32_t>> runs_;
  uint32_t class_name_;
  uint32_t class_dict_name_;

  // resolve: by name, the entry that scopes inside see; what to put back when a scope ends.
  std::vector<uint32_t> visible_;
  std::vector<std::pair<uint32_t, uint32_t>> undo_;
  PairTable inlined_in_class_;

  // close, for one scope at a time: the names free inside it, and by name the scope (its rank + 1, or a running number)
  // for which the mark holds.
  std::vector<FreeName> inside_;
  std::vector<uint32_t> is_inside_;
  std::vector<uint32_t> is_inlined_cell_;
  std::vector<uint32_t> is_in_closure_;
  std::vector<uint32_t> is_dropped_;
  uint32_t inlined_count_ = 0;
  bool any_inlined_cell_ = false;
};

}  // namespace graphmend

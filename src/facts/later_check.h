// The checks behind `find_later_errors`, shared by their files. In: text, Tokens, Tree, version. Out: errors.
// One pass over the nodes calls a check for each kind that has one; what is rare (declarations, `__debug__`) gets a
// pass of its own only in files that need it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/version.h"
#include "facts/later_names.h"
#include "facts/later_scopes.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend {

class LaterErrors {
 public:
  LaterErrors(std::string_view text, const Tokens& tokens, const Tree& tree, Version target);
  Diagnostics run();

 private:
  // What the comprehension's targets name, for `:=` in it: the first and the last clause that stores or reads the name.
  struct TargetUse {
    uint32_t first_store = NodeId::kNone;
    uint32_t first_load = NodeId::kNone;
    uint32_t last = 0;
  };
  using TargetUses = std::unordered_map<std::string_view, TargetUse>;
  struct ComprehensionTargets {
    TargetUses uses;
    std::vector<NodeId> clauses;
  };

  // later_errors.cpp
  void check_nodes();
  void report(NodeId node, std::string message);
  void report(TokenId token, std::string message);
  std::string_view name_of(NodeId node);

  // later_placement.cpp: where statements and expressions may stand
  void check_return(NodeId id);
  void check_leave_loop(NodeId id);
  void check_yield(NodeId id);
  void check_await(NodeId id);
  void check_async_statement(NodeId id);
  void check_type_scope_in_class(NodeId id);
  void check_handlers(NodeId id);
  void check_closed_scopes();
  void check_closed_scope(uint32_t index);

  // later_walrus.cpp: assignment expressions
  void check_named_expr(NodeId id);
  bool check_comprehension_targets(NodeId id, uint32_t scope, bool direct, std::string_view name);
  const ComprehensionTargets& comprehension_targets(uint32_t scope);
  void collect_target_uses(NodeId target, uint32_t clause, TokenId class_name, TargetUses& uses);

  // later_assignments.cpp: starred expressions, arguments, parameters
  void check_starred(NodeId id);
  bool is_index_of_bare_annotation(NodeId tuple) const;
  void check_unpacking(NodeId id);
  void check_keywords(NodeId id);
  void check_parameters(NodeId id);
  void check_type_params(NodeId id);
  void check_comparison(NodeId id);

  // later_imports.cpp
  // Whether annotations are not evaluated; must come before the walk begins.
  bool read_future_imports();
  bool is_future_import(NodeId id) const;
  void check_future_features(NodeId id);
  void check_import_from(NodeId id);
  void check_lazy_import(NodeId id);

  // later_patterns.cpp
  void check_match(NodeId id);
  void check_irrefutable(NodeId pattern, bool allowed);
  void check_captures(NodeId pattern);
  void check_pattern(NodeId id);
  void check_mapping_keys(NodeId id);

  // later_declarations.cpp: `global` and `nonlocal`
  void note_declaration(NodeId id);
  void check_declarations();

  // later_debug.cpp: `__debug__`
  bool mentions_debug() const;
  void check_debug();
  TokenId bound_name(NodeId id);

  std::string_view text_;
  const Tokens& tokens_;
  const Tree& tree_;
  Version target_;
  Diagnostics errors_;
  NameTexts names_;

  // From the future imports at the beginning of the file.
  bool future_annotations_ = false;
  bool future_flufl_ = false;
  NodeId last_future_import_;

  ScopeWalk walk_;
  // For one list of names at a time; kept for its memory.
  std::vector<std::pair<std::string_view, TokenId>> named_tokens_;
  // The statements of the module in which something is declared global or nonlocal, and whether the module itself does.
  std::vector<NodeId> with_declarations_;
  bool declares_in_module_ = false;
  std::unordered_map<uint32_t, ComprehensionTargets> comprehension_targets_;
};

// "`yield` in a type alias", and so on for all scopes of that sort.
std::string not_in_type_scope(std::string_view what, ScopeKind kind);

// A name in backticks.
inline std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

}  // namespace graphmend

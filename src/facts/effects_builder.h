// The making of ModuleEffects. In: text, Tokens, Tree, Scopes. Out: effects of every node.
// Each node has effects of its own; those of its parts are added in one pass from the last node to the first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facts/effects.h"
#include "facts/effects_table.h"

namespace graphmend {

class EffectsBuilder {
 public:
  EffectsBuilder(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes)
      : text_(text), tokens_(tokens), tree_(tree), scopes_(scopes) {}
  ModuleEffects build();

 private:
  // A function of this module as it may be called.
  struct Function {
    NodeId node;
    uint16_t effects = 0;
    // A generator, coroutine or decorated function: a call does something else than run the body.
    bool opaque = false;
  };
  // A call of one function in another (or in the module's own code: none).
  struct CallEdge {
    NodeId call;
    uint32_t caller = kNone;
    uint32_t callee = kNone;
    // What its receiver and arguments lead to, as bits of kWrites.
    uint16_t argument_roots = 0;
  };
  struct Root {
    uint16_t kind = 0;
    SymbolId variable;
  };
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // effects.cpp: what each node does by itself
  void find_functions();
  void find_unbound_reads();
  void scan();
  uint16_t own(NodeId id);
  uint16_t of_name(NodeId id);
  uint16_t of_attribute(NodeId id);
  uint16_t of_subscript(NodeId id);
  uint16_t of_operator(NodeId id) const;
  uint16_t of_comparison(NodeId id) const;
  uint16_t of_aug_assign(NodeId id);
  uint16_t truth_of(NodeId expression) const;
  bool is_constant_index(NodeId index) const;
  uint16_t write(NodeId site, NodeId object, bool by_operator = false);

  // effects_calls.cpp: names, calls, functions of this module
  std::string_view word(TokenId token) const { return tokens_[token].span().in(text_); }
  const std::string& module_path(SymbolId variable);
  std::string import_path(NodeId alias) const;
  std::string dotted_path(NodeId expression);
  uint16_t of_module_attribute(NodeId id);
  bool is_imported(NodeId expression) const;
  bool is_own(NodeId name) const;
  bool is_self(SymbolId variable) const;
  bool is_logger(NodeId receiver);
  bool is_builtin(NodeId function, std::string_view name) const;
  Root root_of(NodeId object) const;
  Root root_of_variable(NodeId name) const;
  uint16_t of_call(NodeId id);
  uint16_t of_with_item(NodeId id);
  // What a call changes if it changes all that it is given.
  uint16_t writes_all(NodeId call);
  uint16_t known_call(NodeId call, const KnownCall& known, NodeId receiver);
  uint32_t local_callee(NodeId function) const;
  void solve_calls();
  void mark_recursion();
  uint16_t seen_by_caller(const CallEdge& edge) const;
  void finish_call(const CallEdge& edge);
  bool is_type_info(NodeId expression);

  std::string_view text_;
  const Tokens& tokens_;
  const Tree& tree_;
  const Scopes& scopes_;
  ModuleEffects out_;
  // Whether there is an `import *`, which may bind any name.
  bool imports_all_ = false;
  std::vector<Function> functions_;
  std::unordered_map<uint32_t, uint32_t> function_index_;
  // Methods by class and name; kNone where there are several.
  std::unordered_map<std::string, uint32_t> methods_;
  std::vector<bool> is_self_;
  std::vector<bool> may_be_unbound_;
  std::unordered_map<uint32_t, std::string> module_paths_;
  std::vector<CallEdge> calls_;
  // While scanning: the function around, none in lambdas.
  uint32_t current_ = kNone;
};

}  // namespace graphmend

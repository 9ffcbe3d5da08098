// Facts about the function around a place. In: the facts of the module. Out: its flow, uses, liveness, definitions.
// They refer to each other, so they are made in place and never moved.
#pragma once

#include "facts/cfg.h"
#include "facts/definitions.h"
#include "facts/effects.h"
#include "facts/liveness.h"
#include "facts/scopes.h"
#include "facts/uses.h"
#include "mend/context.h"

namespace graphmend {

struct ModuleFacts {
  explicit ModuleFacts(const MendContext& context)
      : scopes(compute_scopes(context.text, context.tokens, context.tree)),
        effects(compute_effects(context.text, context.tokens, context.tree, scopes)) {}

  // Whether a name that `:=` binds there is the function's own; in a lambda or a comprehension it would be elsewhere,
  // and in what a comprehension goes over there may be none.
  bool binds_in_function(const Tree& tree, NodeId expression) const {
    const ScopeInfo& scope = scopes[scopes.scope_of(expression)];
    if (scope.kind != ScopeKind::Function || tree.kind(scope.node) != NodeKind::FunctionDef) return false;
    for (NodeId each = tree.parent(expression); each != scope.node; each = tree.parent(each)) {
      if (tree.kind(each) == NodeKind::Comprehension) return false;
    }
    return true;
  }

  const Scopes scopes;
  const ModuleEffects effects;
};

struct FunctionFacts {
  FunctionFacts(const MendContext& context, const ModuleFacts& module, NodeId function)
      : cfg(compute_cfg(context.tree, context.tokens, function, context.text)),
        uses(compute_uses(context.text, context.tokens, context.tree, cfg, module.scopes)),
        liveness(compute_liveness(context.tree, cfg, uses)),
        definitions(compute_definitions(cfg, uses)) {}
  FunctionFacts(const FunctionFacts&) = delete;
  FunctionFacts& operator=(const FunctionFacts&) = delete;

  const Cfg cfg;
  const Uses uses;
  const Liveness liveness;
  const Definitions definitions;
};

}  // namespace graphmend

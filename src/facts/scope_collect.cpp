// Collects the names of each scope. In: the nodes in source order. Out: entries with flags, sites, scopes' places.
// What CPython's symbol table adds by itself is added here too: `.0` of comprehensions, `__class__` for `super`, the
// hidden names of type parameters.
#include <algorithm>

#include "facts/scope_builder.h"
#include "parse/views.h"

namespace graphmend {

using namespace symbol_flag;

void ScopeBuilder::collect() {
  add_states();
  states_[0].name = intern("top");
  uint32_t last_scope = kNone;
  const NodeId end(tree_.size());
  for (NodeId id = Tree::root(); id < end; ++id) {
    walk_.advance(id);
    if (walk_.scope_index() != last_scope) {
      last_scope = walk_.scope_index();
      note_place(id);
    }
    collect_node(id);
  }
}

// A scope is met where its first region is; that of a comprehension is set when it is entered.
void ScopeBuilder::note_place(NodeId id) {
  const uint32_t scope = walk_.scope_index();
  runs_.emplace_back(id, scope);
  states_[scope].position = std::min(states_[scope].position, positions_[id.index]);
}

void ScopeBuilder::collect_node(NodeId id) {
  switch (tree_.kind(id)) {
    case NodeKind::FunctionDef:
      return add_function(id);
    case NodeKind::Lambda:
      enter(id);
      states_.back().name = intern("lambda");
      return add_parameters(LambdaView(tree_, id).parameters, walk_.newest_scope());
    case NodeKind::ClassDef:
      return add_class(id);
    case NodeKind::TypeAlias:
      return add_type_alias(id);
    case NodeKind::TypeVar:
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
      return add_type_param(id);
    case NodeKind::ListComp:
      return add_comprehension(id, "listcomp");
    case NodeKind::SetComp:
      return add_comprehension(id, "setcomp");
    case NodeKind::DictComp:
      return add_comprehension(id, "dictcomp");
    case NodeKind::GeneratorExp:
      return add_comprehension(id, "genexpr");
    case NodeKind::Comprehension:
      if (NodeId target = ComprehensionView(tree_, id).target) {
        states_[walk_.scope_index()].target_end = tree_.end_of(target).index;
      }
      return;
    case NodeKind::Name:
      return add_name(id);
    case NodeKind::AnnAssign:
      return add_annotated(id);
    case NodeKind::NamedExpr:
      return add_named_expr(id);
    case NodeKind::Alias:
      return add_alias(id);
    case NodeKind::ExceptHandler:
      add_token(walk_.scope_index(), name_token(tree_, tokens_, id), kAssigned, id);
      return;
    case NodeKind::MatchAs:
    case NodeKind::MatchStar:
    case NodeKind::MatchRest: {
      TokenId token = name_token(tree_, tokens_, id);
      if (token && texts_.plain(token) != "_") add_token(walk_.scope_index(), token, kAssigned, id);
      return;
    }
    case NodeKind::Global:
    case NodeKind::Nonlocal:
      return declare(id);
    default:
      return;
  }
}

// Loops and `try` make blocks, but no scopes; the walk need not know of them.
void ScopeBuilder::enter(NodeId id) {
  walk_.enter(id);
  add_states();
}

void ScopeBuilder::add_states() {
  while (states_.size() <= walk_.newest_scope()) {
    const auto scope = static_cast<uint32_t>(states_.size());
    const ScopeKind kind = kind_of(scope);
    State state;
    state.name = intern("");
    state.node = walk_.scope(scope).node;
    if (scope > 0) {
      const State& around = states_[parent_of(scope)];
      const ScopeKind kind_around = kind_of(parent_of(scope));
      state.nested = around.nested || is_function_like(kind_around);
      state.hidden = around.hidden || (kind == ScopeKind::Annotation && target_.minor < 14);
      if (kind != ScopeKind::Class) state.mangles_only = around.mangles_only;
      if (kind == ScopeKind::TypeParams) state.sees_class = kind_around == ScopeKind::Class;
      if (kind == ScopeKind::TypeVariable) state.sees_class = around.sees_class;
      // Comprehensions in annotation scopes that see a class are left alone.
      state.inlined =
          is_comprehension(kind) && kind != ScopeKind::GeneratorExp && target_.minor >= 12 && !around.sees_class;
    }
    states_.push_back(std::move(state));
  }
}

void ScopeBuilder::add_class_dict(uint32_t scope) {
  if (states_[scope].sees_class) add(scope, class_dict_name_, kReferenced);
}

void ScopeBuilder::add_function(NodeId id) {
  TokenId token = name_token(tree_, tokens_, id);
  add_token(walk_.scope_index(), token, kAssigned, id);
  enter(id);
  FunctionView function(tree_, id);
  const uint32_t scope = walk_.newest_scope();
  if (token) states_[scope].name = intern(texts_.plain(token));
  if (function.type_params) {
    const uint32_t outer = parent_of(scope);
    states_[outer].name = states_[scope].name;
    add_class_dict(outer);
    add(outer, intern(".defaults"), kParameter);
    bool keyword_defaults = false;
    if (function.parameters) {
      for (NodeId parameter : tree_.children(function.parameters)) {
        if (tree_.kind(parameter) != NodeKind::Parameter) continue;
        ParameterView view(tree_, parameter);
        keyword_defaults |= view.section == ParameterSection::KeywordOnly && bool(view.default_value);
      }
    }
    if (keyword_defaults) add(outer, intern(".kwdefaults"), kParameter);
  }
  add_parameters(function.parameters, scope);
}

void ScopeBuilder::add_parameters(NodeId parameters, uint32_t scope) {
  if (!parameters) return;
  for (NodeId parameter : tree_.children(parameters)) {
    if (tree_.kind(parameter) != NodeKind::Parameter) continue;
    add_token(scope, name_token(tree_, tokens_, parameter), kParameter, parameter);
  }
}

void ScopeBuilder::add_class(NodeId id) {
  TokenId token = name_token(tree_, tokens_, id);
  add_token(walk_.scope_index(), token, kAssigned, id);
  enter(id);
  const uint32_t scope = walk_.newest_scope();
  if (token) states_[scope].name = intern(texts_.plain(token));
  if (!ClassView(tree_, id).type_params) return;
  const uint32_t outer = parent_of(scope);
  states_[outer].name = states_[scope].name;
  states_[outer].mangles_only = outer;
  add_class_dict(outer);
  add(outer, intern(".type_params"), kAssigned | kReferenced);
  add(outer, intern(".generic_base"), kAssigned | kReferenced);
  add(scope, intern("__type_params__"), kAssigned);
  add(scope, intern(".type_params"), kReferenced);
}

void ScopeBuilder::add_type_alias(NodeId id) {
  const bool in_class = walk_.scope().kind == ScopeKind::Class;
  enter(id);
  TypeAliasView alias(tree_, id);
  const uint32_t scope = walk_.newest_scope();
  if (alias.name) {
    if (TokenId token = name_token(tree_, tokens_, alias.name)) states_[scope].name = intern(texts_.plain(token));
  }
  if (alias.type_params) {
    states_[parent_of(scope)].name = states_[scope].name;
    add_class_dict(parent_of(scope));
  }
  states_[scope].sees_class = in_class;
  add_class_dict(scope);
}

void ScopeBuilder::add_type_param(NodeId id) {
  TokenId token = name_token(tree_, tokens_, id);
  const uint32_t before = walk_.newest_scope();
  if (token) {
    // In a generic class it is private to that class, for which the walk has no token here.
    const uint32_t scope = walk_.scope_index();
    const NodeId owner = tree_.parent(tree_.parent(id));
    const bool of_class = states_[scope].mangles_only == scope && tree_.kind(owner) == NodeKind::ClassDef;
    const TokenId class_name = of_class ? name_token(tree_, tokens_, owner) : walk_.scope().class_name;
    add(scope, intern(texts_.mangled(token, class_name)), kTypeParameter | kAssigned, id);
  }
  enter(id);
  // A scope for the bound and one for the default, of those that are there.
  NodeId part = tree_.first_child(id);
  for (uint32_t scope = before + 1; scope <= walk_.newest_scope(); ++scope) {
    states_[scope].node = part;
    part = tree_.next_sibling(part);
    if (token) states_[scope].name = intern(texts_.plain(token));
    add_class_dict(scope);
  }
}

void ScopeBuilder::add_comprehension(NodeId id, std::string_view name) {
  enter(id);
  const uint32_t scope = walk_.newest_scope();
  states_[scope].name = intern(name);
  add(scope, intern(".0"), kParameter);
  for (NodeId clause : tree_.children(id)) {
    if (tree_.kind(clause) != NodeKind::Comprehension) continue;
    states_[scope].position = positions_[clause.index];
    break;
  }
}

void ScopeBuilder::add_alias(NodeId id) {
  const Node& alias = tree_[id];
  // `import a.b` binds `a`.
  TokenId token = alias.has(node_flag::kHasName) ? alias.last_token : alias.first_token;
  if (tokens_[token].kind == TokenKind::Name) add_token(walk_.scope_index(), token, kImported, id);
}

void ScopeBuilder::add_name(NodeId id) {
  const bool load = tree_[id].context() == Context::Load;
  const TokenId token = tree_[id].first_token;
  const uint32_t scope = walk_.scope_index();
  if (!load) {
    NodeId parent = tree_.parent(id);
    // See add_annotated.
    if (tree_.kind(parent) == NodeKind::AnnAssign && tree_.first_child(parent) == id) return;
  }
  add_token(scope, token, load ? kReferenced : kAssigned, id);
  // `super` stands for a use of `__class__`.
  if (load && is_function_like(walk_.scope().kind) && texts_.plain(token) == "super") {
    const bool in_target = id.index < states_[scope].target_end;
    add(scope, class_name_, in_target ? kReferenced | kComprehensionTarget : kReferenced);
  }
}

void ScopeBuilder::add_annotated(NodeId id) {
  NodeId target = tree_.first_child(id);
  if (target && tree_.kind(target) == NodeKind::Name) {
    uint16_t flags = 0;
    if (tree_[id].has(node_flag::kSimple)) {
      flags = kAssigned | kAnnotated;
    } else if (tree_[id].has_optional(0)) {
      flags = kAssigned;
    }
    if (flags != 0) add_token(walk_.scope_index(), tree_[target].first_token, flags, target);
  }
  enter(id);
}

// In a comprehension the name is bound in the scope around it. The Name itself is added as any other.
void ScopeBuilder::add_named_expr(NodeId id) {
  const uint32_t inner = walk_.scope_index();
  if (!is_comprehension(kind_of(inner))) return;
  NodeId target = tree_.first_child(id);
  if (!target || tree_.kind(target) != NodeKind::Name) return;
  uint32_t scope = inner;
  while (is_comprehension(kind_of(scope)) || kind_of(scope) == ScopeKind::Annotation) scope = parent_of(scope);
  const uint32_t name = mangled(tree_[target].first_token, inner);
  if (kind_of(scope) == ScopeKind::Module) {
    add(inner, name, kGlobal);
    add(scope, name, kGlobal);
    return;
  }
  if (kind_of(scope) != ScopeKind::Function && kind_of(scope) != ScopeKind::Lambda) return;
  const uint32_t outer = table_.get(scope, name);
  const bool global = outer != kNone && (entries_[outer].flags & kGlobal) != 0;
  add(inner, name, global ? kGlobal : kNonlocal);
  add(scope, name, kAssigned);
  if (global) add(0, name, kGlobal);
}

void ScopeBuilder::declare(NodeId statement) {
  const bool global = tree_.kind(statement) == NodeKind::Global;
  const uint32_t scope = walk_.scope_index();
  for (NodeId identifier : tree_.children(statement)) {
    TokenId token = name_token(tree_, tokens_, identifier);
    if (!token) continue;
    const uint32_t entry = add_token(scope, token, global ? kGlobal : kNonlocal, identifier);
    if (global) add(0, entries_[entry].name, kGlobal);
  }
}

}  // namespace graphmend

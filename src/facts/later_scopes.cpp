// Which scope and which blocks every node lies in. In: Tree, version. Out: regions that follow the walk.
// A construct schedules regions for those of its parts that live in another scope or block than itself; subtrees are
// ranges of ids, so a stack of regions and one of those to come are all there is to keep.
#include "facts/later_scopes.h"

#include <algorithm>

#include "parse/views.h"

namespace graphmend {

namespace {

// How many blocks CPython nests in one function (CO_MAXBLOCKS).
constexpr unsigned max_blocks(Version target) { return target.minor >= 13 ? 21 : 20; }

}  // namespace

ScopeWalk::ScopeWalk(const Tree& tree, const Tokens& tokens, Version target, bool future_annotations, bool exact)
    : tree_(tree), tokens_(tokens), target_(target), future_annotations_(future_annotations), exact_(exact) {
  add_scope(ScopeKind::Module, Tree::root(), 0);
  Region module;
  module.end = tree.size();
  module.closes_scope = true;
  regions_.push_back(module);
  set_next_event();
}

uint32_t ScopeWalk::add_scope(ScopeKind kind, NodeId node, uint32_t parent) {
  Scope scope;
  scope.node = node;
  scope.parent = parent;
  scope.kind = kind;
  if (!scopes_.empty()) scope.class_name = scopes_[parent].class_name;
  scopes_.push_back(scope);
  return static_cast<uint32_t>(scopes_.size() - 1);
}

void ScopeWalk::set_next_event() {
  uint32_t end = regions_.empty() ? NodeId::kNone : regions_.back().end;
  next_event_ = pending_.empty() ? end : std::min(end, pending_.back().begin);
}

bool ScopeWalk::handle_events(uint32_t id) {
  closed_.clear();
  while (!regions_.empty() && regions_.back().end <= id) {
    if (regions_.back().closes_scope) closed_.push_back(regions_.back().scope);
    regions_.pop_back();
  }
  while (!pending_.empty() && pending_.back().begin <= id) {
    regions_.push_back(pending_.back().region);
    pending_.pop_back();
  }
  set_next_event();
  return !closed_.empty();
}

void ScopeWalk::schedule(NodeId node, Region region) {
  if (!node) return;
  region.end = tree_.end_of(node).index;
  pending_.push_back({node.index, region});
}

void ScopeWalk::schedule_annotation(NodeId node, Region region) {
  if (!node) return;
  const NodeKind kind = tree_.kind(node);
  if (exact_ || (kind != NodeKind::Name && kind != NodeKind::String && kind != NodeKind::Constant))
    schedule(node, region);
}

void ScopeWalk::schedule_scope(NodeId node, uint32_t scope, Region region) {
  region.scope = scope;
  region.closes_scope = true;
  scopes_[scope].compiled = region.compiled;
  schedule(node, region);
}

void ScopeWalk::order_since(size_t mark) {
  auto first = pending_.begin() + static_cast<std::ptrdiff_t>(mark);
  std::sort(first, pending_.end(), [](const Pending& a, const Pending& b) { return a.begin > b.begin; });
  set_next_event();
}

Region ScopeWalk::deeper(NodeId node, Region region, unsigned blocks) {
  unsigned depth = region.blocks + blocks;
  // Nothing is worse than too deep, and the count must not wrap.
  region.blocks = static_cast<uint16_t>(std::min(depth, 1000u));
  region.closes_scope = false;
  unsigned limit = max_blocks(target_);
  Scope& scope = scopes_[region.scope];
  if (depth > limit && !scope.too_deep) scope.too_deep = node;
  if (depth + 1 > limit && !scope.too_deep_for_generator) scope.too_deep_for_generator = node;
  return region;
}

// The block state of a new function, lambda or class inside `around`.
static Region fresh_blocks(const Region& around) {
  Region region = around;
  region.blocks = 0;
  region.loop = LoopState::None;
  region.in_except_star = false;
  region.in_try = false;
  return region;
}

bool ScopeWalk::opens(NodeKind kind) {
  switch (kind) {
    case NodeKind::FunctionDef:
    case NodeKind::ClassDef:
    case NodeKind::TypeAlias:
    case NodeKind::TypeVar:
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
    case NodeKind::AnnAssign:
    case NodeKind::Lambda:
    case NodeKind::ListComp:
    case NodeKind::SetComp:
    case NodeKind::DictComp:
    case NodeKind::GeneratorExp:
    case NodeKind::For:
    case NodeKind::While:
    case NodeKind::With:
    case NodeKind::Try:
      return true;
    default:
      return false;
  }
}

void ScopeWalk::enter(NodeId id) {
  switch (tree_.kind(id)) {
    case NodeKind::FunctionDef:
      return enter_function(id);
    case NodeKind::ClassDef:
      return enter_class(id);
    case NodeKind::TypeAlias:
      return enter_type_alias(id);
    case NodeKind::TypeVar:
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
      return enter_type_param(id);
    case NodeKind::AnnAssign:
      return enter_annotated(id);
    case NodeKind::Lambda:
      return enter_lambda(id);
    case NodeKind::ListComp:
      return enter_comprehension(id, ScopeKind::ListComp);
    case NodeKind::SetComp:
      return enter_comprehension(id, ScopeKind::SetComp);
    case NodeKind::DictComp:
      return enter_comprehension(id, ScopeKind::DictComp);
    case NodeKind::GeneratorExp:
      return enter_comprehension(id, ScopeKind::GeneratorExp);
    case NodeKind::For:
    case NodeKind::While: {
      // The `else` of a loop is no longer in it.
      NodeId body = tree_.kind(id) == NodeKind::For ? ForView(tree_, id).body : WhileView(tree_, id).body;
      Region region = deeper(id, here(), 1);
      region.loop = LoopState::Inside;
      schedule(body, region);
      return set_next_event();
    }
    case NodeKind::With: {
      WithView with(tree_, id);
      unsigned items = 0;
      for ([[maybe_unused]] NodeId item : with.items) ++items;
      schedule(with.body, deeper(id, here(), items));
      return set_next_event();
    }
    case NodeKind::Try:
      return enter_try(id);
    default:
      return;
  }
}

Region ScopeWalk::annotation_region(NodeId node, Region around, bool evaluated, uint32_t& annotation_scope) {
  Region region = around;
  region.closes_scope = false;
  region.compiled = around.compiled && evaluated && !future_annotations_;
  if (target_.minor >= 14 || (target_.minor >= 10 && future_annotations_)) {
    if (annotation_scope == 0) {
      annotation_scope = add_scope(ScopeKind::Annotation, node, around.scope);
      scopes_[annotation_scope].compiled = region.compiled;
    }
    region.scope = annotation_scope;
  }
  return region;
}

void ScopeWalk::enter_function(NodeId id) {
  FunctionView function(tree_, id);
  const Region around = here();
  size_t mark = pending_.size();
  Region outer = around;
  outer.closes_scope = false;
  if (function.type_params) {
    outer.scope = add_scope(ScopeKind::TypeParams, id, around.scope);
    schedule_scope(function.type_params, outer.scope, outer);
  }
  uint32_t annotation_scope = 0;
  const Region annotation = annotation_region(id, outer, true, annotation_scope);
  const bool own = annotation.scope != around.scope || !annotation.compiled;
  if (own && function.parameters) {
    for (NodeId parameter : tree_.children(function.parameters)) {
      if (tree_.kind(parameter) != NodeKind::Parameter || !tree_[parameter].has_optional(0)) continue;
      schedule_annotation(tree_.first_child(parameter), annotation);
    }
  }
  if (own) schedule_annotation(function.returns, annotation);

  uint32_t scope = add_scope(ScopeKind::Function, id, outer.scope);
  scopes_[scope].is_async = scopes_[scope].coroutine = tree_[id].has(node_flag::kAsync);
  schedule_scope(function.body, scope, fresh_blocks(around));
  order_since(mark);
}

void ScopeWalk::enter_class(NodeId id) {
  ClassView view(tree_, id);
  const Region around = here();
  size_t mark = pending_.size();
  Region outer = around;
  outer.closes_scope = false;
  if (view.type_params) {
    outer.scope = add_scope(ScopeKind::TypeParams, id, around.scope);
    schedule_scope(view.type_params, outer.scope, outer);
    schedule(view.arguments, outer);
  }
  uint32_t scope = add_scope(ScopeKind::Class, id, outer.scope);
  scopes_[scope].class_name = name_token(tree_, tokens_, id);
  schedule_scope(view.body, scope, fresh_blocks(around));
  order_since(mark);
}

void ScopeWalk::enter_type_alias(NodeId id) {
  TypeAliasView alias(tree_, id);
  size_t mark = pending_.size();
  Region outer = fresh_blocks(here());
  outer.closes_scope = false;
  if (alias.type_params) {
    outer.scope = add_scope(ScopeKind::TypeParams, id, outer.scope);
    schedule_scope(alias.type_params, outer.scope, outer);
  }
  schedule_scope(alias.value, add_scope(ScopeKind::TypeAlias, id, outer.scope), outer);
  order_since(mark);
}

void ScopeWalk::enter_type_param(NodeId id) {
  size_t mark = pending_.size();
  const Region around = fresh_blocks(here());
  for (NodeId part : tree_.children(id)) {
    schedule_scope(part, add_scope(ScopeKind::TypeVariable, id, around.scope), around);
  }
  order_since(mark);
}

void ScopeWalk::enter_annotated(NodeId id) {
  NodeId annotation = AnnAssignView(tree_, id).annotation;
  const Scope& scope = scopes_[scope_index()];
  bool evaluated = scope.kind == ScopeKind::Module || scope.kind == ScopeKind::Class;
  // Since 3.14 only the annotations that are kept are evaluated: those of plain names.
  if (target_.minor >= 14 && !tree_[id].has(node_flag::kSimple)) evaluated = false;
  uint32_t annotation_scope = 0;
  Region region = annotation_region(id, here(), evaluated, annotation_scope);
  // Before 3.10 the others were evaluated even under `from __future__ import annotations`.
  if (target_.minor < 10 && !tree_[id].has(node_flag::kSimple)) region.compiled = evaluated;
  if (region.scope == scope_index() && region.compiled == here().compiled) return;
  schedule_annotation(annotation, region);
  set_next_event();
}

void ScopeWalk::enter_lambda(NodeId id) {
  // Defaults belong to the scope around.
  uint32_t scope = add_scope(ScopeKind::Lambda, id, scope_index());
  schedule_scope(LambdaView(tree_, id).body, scope, fresh_blocks(here()));
  set_next_event();
}

void ScopeWalk::enter_comprehension(NodeId id, ScopeKind kind) {
  const Region around = here();
  const uint32_t scope = add_scope(kind, id, around.scope);
  Region outside = around;
  outside.closes_scope = false;
  outside.in_iterable = true;

  Region inside = around;
  inside.scope = scope;
  inside.end = tree_.end_of(id).index;
  inside.closes_scope = true;
  scopes_[scope].compiled = around.compiled;
  // Since 3.12 all but generator expressions are compiled into the function around them.
  const bool inlined = target_.minor >= 12 && kind != ScopeKind::GeneratorExp;
  if (!inlined) inside.blocks = 0;

  size_t mark = pending_.size();
  unsigned async_clauses = 0;
  bool first = true;
  for (NodeId clause : tree_.children(id)) {
    if (tree_.kind(clause) != NodeKind::Comprehension) continue;
    if (tree_[clause].has(node_flag::kAsync)) ++async_clauses;
    Region iterable = first ? outside : inside;
    iterable.closes_scope = false;
    iterable.in_iterable = true;
    schedule(ComprehensionView(tree_, clause).iterable, iterable);
    first = false;
  }
  if (async_clauses > 0) scopes_[scope].coroutine = true;
  // Before 3.10 they were no blocks.
  if (async_clauses > 0 && target_.minor >= 10) {
    Region counted = inside;
    if (inlined) counted.scope = around.scope;
    inside.blocks = deeper(id, counted, async_clauses).blocks;
  }
  regions_.push_back(inside);
  order_since(mark);
}

void ScopeWalk::enter_try(NodeId id) {
  TryView view(tree_, id);
  const bool star = tree_[id].has(node_flag::kStar);
  size_t mark = pending_.size();
  Region around = here();
  around.in_try = true;
  Region protected_by_finally = view.final_clause ? deeper(id, around, 1) : deeper(id, around, 0);
  schedule(view.body, deeper(id, protected_by_finally, view.handlers.empty() ? 0 : 1));
  for (NodeId handler : view.handlers) {
    // 3.8 has no block of its own around the handlers.
    Region region = deeper(handler, protected_by_finally, target_.minor >= 9 || star ? 2 : 1);
    if (star) {
      region.in_except_star = true;
      region.loop = LoopState::BehindExceptStar;
    }
    schedule(ExceptHandlerView(tree_, handler).body, region);
  }
  schedule(view.orelse, protected_by_finally);
  schedule(view.final_clause, deeper(id, around, 1));
  order_since(mark);
}

}  // namespace graphmend

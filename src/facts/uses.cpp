// What each element does with the names of its function. In: Tree, Cfg, Scopes. Out: `Uses`.
// Here: steps, and the events they make. Which steps a node is made of is in uses_nodes.cpp.
#include "facts/uses.h"

#include <utility>

#include "facts/uses_builder.h"
#include "parse/views.h"

namespace graphmend {

UsesBuilder::UsesBuilder(std::string_view text, const Tokens& tokens, const Tree& tree, const Cfg& cfg,
                         const Scopes& scopes)
    : text_(text), tokens_(tokens), tree_(tree), cfg_(cfg), scopes_(scopes) {
  out_.variables_ = variables_of(tree, scopes, cfg.owner());
  for (uint32_t i = 0; i < out_.variables_.count; ++i) {
    const SymbolId symbol = out_.variables_.first + i;
    if (scopes[symbol].binding == symbol && !scopes[symbol].has(symbol_flag::kFromComprehension))
      out_.own_.push_back(symbol);
  }
  is_definite_.assign(out_.variables_.count, false);
}

Uses UsesBuilder::build() {
  const NodeId owner = cfg_.owner();
  const bool is_function = tree_.kind(owner) == NodeKind::FunctionDef;
  out_.all_escape_ = !is_function;
  if (is_function && FunctionView(tree_, owner).parameters) {
    for (NodeId child : tree_.children(FunctionView(tree_, owner).parameters)) {
      if (tree_.kind(child) == NodeKind::Parameter && is_ours(child))
        out_.parameters_.push_back(scopes_.binding(child));
    }
  }
  for (ElementId e(0); e.index < cfg_.element_count(); ++e) {
    out_.offsets_.push_back(static_cast<uint32_t>(out_.uses_.size()));
    element(cfg_[e]);
  }
  out_.offsets_.push_back(static_cast<uint32_t>(out_.uses_.size()));
  return std::move(out_);
}

void UsesBuilder::element(const Element& element) {
  patterns_bind_ = element.kind == ElementKind::Capture;
  switch (element.kind) {
    case ElementKind::Advance:
    case ElementKind::Exit:
      return;
    case ElementKind::Enter:
      visit(WithItemView(tree_, element.node).expression);
      break;
    case ElementKind::Handler:
      visit(ExceptHandlerView(tree_, element.node).type);
      break;
    case ElementKind::Bind:
      plan(Do::Bind, element.node);
      break;
    case ElementKind::Unbind:
      plan(Do::Remove, element.node);
      break;
    default:
      visit(element.node);
      break;
  }
  run();
  while (!definite_.empty()) forget();
}

// Steps are planned in the order of evaluation; those that a step plans come before all others.
void UsesBuilder::run() {
  steps_.clear();
  take_plan();
  while (!steps_.empty()) {
    const Step step = steps_.back();
    steps_.pop_back();
    perform(step);
    take_plan();
  }
}

void UsesBuilder::take_plan() {
  steps_.insert(steps_.end(), plan_.rbegin(), plan_.rend());
  plan_.clear();
}

void UsesBuilder::perform(Step step) {
  switch (step.what) {
    case Do::Visit:
      return expand(step.node);
    case Do::Read:
      return read(step.node);
    case Do::Bind:
      return write(step.node);
    case Do::Remove:
      return remove(step.node);
    case Do::Open:
      return marks_.push_back(definite_.size());
    case Do::Close:
      while (definite_.size() > marks_.back()) forget();
      return marks_.pop_back();
    case Do::Share:
      return share(step.node);
    case Do::ReadAll:
      for (SymbolId variable : out_.own_) emit(variable, step.node, UseKind::Read);
      return;
    case Do::ReadSelf:
      if (!out_.parameters_.empty()) emit(out_.parameters_[0], step.node, UseKind::Read);
      return;
  }
}

void UsesBuilder::emit(SymbolId variable, NodeId node, UseKind kind) {
  if (kind == UseKind::Read && is_definite_[place(variable)]) kind = UseKind::ReadOwn;
  out_.uses_.push_back({variable, node, kind});
}

void UsesBuilder::read(NodeId node) {
  if (is_ours(node)) emit(scopes_.binding(node), node, UseKind::Read);
}

void UsesBuilder::write(NodeId node) {
  if (!is_ours(node)) return;
  const SymbolId variable = scopes_.binding(node);
  emit(variable, node, marks_.empty() ? UseKind::Write : UseKind::MaybeWrite);
  if (is_definite_[place(variable)]) return;
  is_definite_[place(variable)] = true;
  definite_.push_back(variable);
}

void UsesBuilder::remove(NodeId node) {
  if (!is_ours(node)) return;
  emit(scopes_.binding(node), node, marks_.empty() ? UseKind::Delete : UseKind::MaybeDelete);
}

void UsesBuilder::forget() {
  is_definite_[place(definite_.back())] = false;
  definite_.pop_back();
}

// Code that runs later, perhaps: every name of ours in it is captured.
void UsesBuilder::share(NodeId node) {
  for (NodeId id = node; id < tree_.end_of(node); ++id) {
    if (!is_ours(id)) continue;
    const NodeKind kind = tree_.kind(id);
    out_.uses_.push_back({scopes_.binding(id), id, UseKind::Capture});
    if (kind != NodeKind::Name || tree_[id].context() != Context::Load || is_walrus_target(id)) {
      out_.uses_.push_back({scopes_.binding(id), id, UseKind::CapturedWrite});
    }
  }
}

bool UsesBuilder::is_walrus_target(NodeId id) const {
  const NodeId parent = tree_.parent(id);
  return tree_.kind(parent) == NodeKind::NamedExpr && tree_.first_child(parent) == id;
}

VariableRange variables_of(const Tree& tree, const Scopes& scopes, NodeId owner) {
  NodeId inside = owner;
  if (tree.kind(owner) == NodeKind::FunctionDef) inside = FunctionView(tree, owner).body;
  if (tree.kind(owner) == NodeKind::ClassDef) inside = ClassView(tree, owner).body;
  if (!inside) return {SymbolId(0), 0};
  const ScopeInfo& scope = scopes[scopes.scope_of(inside)];
  return {scope.first_symbol, scope.symbol_count};
}

Uses compute_uses(std::string_view text, const Tokens& tokens, const Tree& tree, const Cfg& cfg, const Scopes& scopes) {
  return UsesBuilder(text, tokens, tree, cfg, scopes).build();
}

}  // namespace graphmend

// What each kind of node does with names. In: a node. Out: steps of the UsesBuilder, in the order of evaluation.
#include <algorithm>
#include <array>
#include <utility>

#include "base/one_of.h"
#include "facts/uses_builder.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr std::array<std::string_view, 6> kReadEverything = {"locals", "vars", "eval", "exec", "dir", "breakpoint"};
constexpr std::array<std::string_view, 3> kReadEverythingMethods = {"currentframe", "_getframe", "set_trace"};
// They use a generator up before they return, and keep nothing of it.
constexpr std::array<std::string_view, 11> kConsumers = {"all", "any", "dict",   "frozenset", "list", "max",
                                                         "min", "set", "sorted", "sum",       "tuple"};

}  // namespace

void UsesBuilder::expand(NodeId id) {
  switch (tree_.kind(id)) {
    case NodeKind::Name:
      return name(id);
    case NodeKind::Assign: {
      AssignView assign(tree_, id);
      visit(assign.value);
      for (NodeId target : assign.targets) visit(target);
      return;
    }
    case NodeKind::AugAssign: {
      AugAssignView assign(tree_, id);
      const bool is_name = assign.target && tree_.kind(assign.target) == NodeKind::Name;
      if (is_name) plan(Do::Read, assign.target);
      if (!is_name) visit(assign.target);
      visit(assign.value);
      if (is_name) plan(Do::Bind, assign.target);
      return;
    }
    case NodeKind::AnnAssign: {
      // In functions annotations are not evaluated; without a value a name is not bound.
      AnnAssignView assign(tree_, id);
      visit(assign.value);
      if (assign.target && (assign.value || tree_.kind(assign.target) != NodeKind::Name)) visit(assign.target);
      if (out_.all_escape_) visit(assign.annotation);
      return;
    }
    case NodeKind::NamedExpr: {
      NamedExprView named(tree_, id);
      visit(named.value);
      if (named.target) plan(Do::Bind, named.target);
      return;
    }
    case NodeKind::BoolOp: {
      bool first = true;
      for (NodeId operand : tree_.children(id)) {
        visit(operand);
        if (std::exchange(first, false)) plan(Do::Open, id);
      }
      return plan(Do::Close, id);
    }
    case NodeKind::Compare: {
      // Left, operator, right; from the second operator on operands are evaluated only if what came before held.
      unsigned count = 0;
      for (NodeId part : tree_.children(id)) {
        if (count++ == 3) plan(Do::Open, id);
        visit(part);
      }
      if (count > 3) plan(Do::Close, id);
      return;
    }
    case NodeKind::IfExp: {
      IfExpView view(tree_, id);
      visit(view.test);
      for (NodeId side : {view.body, view.orelse}) {
        plan(Do::Open, id);
        visit(side);
        plan(Do::Close, id);
      }
      return;
    }
    case NodeKind::Assert:
      // Under `python -O` it does not run at all.
      plan(Do::Open, id);
      visit_children(id);
      return plan(Do::Close, id);
    case NodeKind::Lambda:
      parameters(LambdaView(tree_, id).parameters);
      if (NodeId body = LambdaView(tree_, id).body) plan(Do::Share, body);
      return;
    case NodeKind::FunctionDef:
    case NodeKind::ClassDef:
    case NodeKind::TypeAlias:
      return definition(id);
    case NodeKind::ListComp:
    case NodeKind::SetComp:
    case NodeKind::DictComp:
    case NodeKind::GeneratorExp:
      return comprehension(id);
    case NodeKind::Call:
      return call(id);
    case NodeKind::Alias:
      return plan(Do::Bind, id);
    case NodeKind::MatchAs:
    case NodeKind::MatchStar:
    case NodeKind::MatchRest:
    case NodeKind::MatchValue:
    case NodeKind::MatchClass:
      return pattern(id);
    case NodeKind::Global:
    case NodeKind::Nonlocal:
      return;
    default:
      return visit_children(id);
  }
}

void UsesBuilder::name(NodeId id) {
  switch (tree_[id].context()) {
    case Context::Load:
      return patterns_bind_ ? void() : read(id);
    case Context::Store:
      return write(id);
    case Context::Delete:
      read(id);
      return remove(id);
  }
}

void UsesBuilder::parameters(NodeId id) {
  if (!id) return;
  // Defaults, and annotations: they are evaluated with the definition, or later by whoever asks for them.
  for (NodeId child : tree_.children(id)) {
    if (tree_.kind(child) != NodeKind::Parameter) {
      visit(child);
    } else if (NodeId annotation = ParameterView(tree_, child).annotation) {
      visit(annotation);
      plan(Do::Share, annotation);
    }
  }
}

void UsesBuilder::definition(NodeId id) {
  if (tree_.kind(id) == NodeKind::FunctionDef) {
    FunctionView view(tree_, id);
    for (NodeId decorator : view.decorators) visit(decorator);
    if (view.type_params) plan(Do::Share, view.type_params);
    parameters(view.parameters);
    if (view.returns) {
      visit(view.returns);
      plan(Do::Share, view.returns);
    }
    if (view.body) plan(Do::Share, view.body);
    return plan(Do::Bind, id);
  }
  if (tree_.kind(id) == NodeKind::ClassDef) {
    ClassView view(tree_, id);
    for (NodeId decorator : view.decorators) visit(decorator);
    if (view.type_params) plan(Do::Share, view.type_params);
    visit(view.arguments);
    // The body runs at once and its functions later; it may do both with a name.
    if (view.body) plan(Do::Share, view.body);
    return plan(Do::Bind, id);
  }
  TypeAliasView view(tree_, id);
  if (view.type_params) plan(Do::Share, view.type_params);
  if (view.value) plan(Do::Share, view.value);
  if (view.name) plan(Do::Bind, view.name);
}

// The first iterable is evaluated at once and in the function's own scope, whatever becomes of the rest.
void UsesBuilder::comprehension(NodeId id) {
  const bool later = tree_.kind(id) == NodeKind::GeneratorExp && !is_consumed_at_once(id);
  bool first = true;
  std::vector<NodeId> elements;
  for (NodeId child : tree_.children(id)) {
    if (tree_.kind(child) != NodeKind::Comprehension) {
      elements.push_back(child);
      continue;
    }
    ComprehensionView clause(tree_, child);
    visit(clause.iterable);
    if (std::exchange(first, false)) plan(Do::Open, id);
    visit(clause.target);
    for (NodeId condition : clause.conditions) visit(condition);
  }
  if (first) plan(Do::Open, id);
  for (NodeId element : elements) visit(element);
  plan(Do::Close, id);
  if (!later) return;
  first = true;
  for (NodeId child : tree_.children(id)) {
    if (tree_.kind(child) != NodeKind::Comprehension || !std::exchange(first, false)) {
      plan(Do::Share, child);
      continue;
    }
    ComprehensionView clause(tree_, child);
    if (clause.target) plan(Do::Share, clause.target);
    for (NodeId condition : clause.conditions) plan(Do::Share, condition);
  }
}

bool UsesBuilder::is_consumed_at_once(NodeId generator) const {
  const NodeId parent = tree_.parent(generator);
  if (tree_.kind(parent) != NodeKind::Call) return false;
  const NodeId function = tree_.first_child(parent);
  if (tree_.kind(function) != NodeKind::Name || function == generator || scopes_.binding(function)) return false;
  return is_one_of(word(tree_[function].first_token), kConsumers);
}

void UsesBuilder::call(NodeId id) {
  visit_children(id);
  CallView view(tree_, id);
  if (!view.function) return;
  const Node& function = tree_[view.function];
  if (function.kind == NodeKind::Name && !scopes_.binding(view.function)) {
    const std::string_view called = word(function.first_token);
    if (is_one_of(called, kReadEverything)) plan(Do::ReadAll, id);
    if (called == "super" && view.arguments.empty()) plan(Do::ReadSelf, id);
  } else if (function.kind == NodeKind::Attribute) {
    if (is_one_of(word(function.last_token), kReadEverythingMethods)) plan(Do::ReadAll, id);
  }
}

// Matching reads values and may or may not bind; when it has matched, all names of the pattern are bound.
void UsesBuilder::pattern(NodeId id) {
  visit_children(id);
  const NodeKind kind = tree_.kind(id);
  if (kind == NodeKind::MatchValue || kind == NodeKind::MatchClass) return;
  if (!patterns_bind_) plan(Do::Open, id);
  plan(Do::Bind, id);
  if (!patterns_bind_) plan(Do::Close, id);
}

}  // namespace graphmend

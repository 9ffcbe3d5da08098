// What each element does with the names of its function. In: Tree, Cfg, Scopes. Out: `Uses`.
// A stack of steps stands for recursion: expressions can be a million levels deep. Parts that run only sometimes are
// bracketed by Open and Close; a name written inside is written for sure only up to the Close.
#include "facts/uses.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parse/views.h"

namespace graphmend {

namespace {

constexpr std::array<std::string_view, 6> kReadEverything = {"locals", "vars", "eval", "exec", "dir", "breakpoint"};
constexpr std::array<std::string_view, 3> kReadEverythingMethods = {"currentframe", "_getframe", "set_trace"};
// They use a generator up before they return, and keep nothing of it.
constexpr std::array<std::string_view, 11> kConsumers = {"all", "any", "dict",   "frozenset", "list", "max",
                                                         "min", "set", "sorted", "sum",       "tuple"};

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

class UsesBuilder {
 public:
  UsesBuilder(std::string_view text, const Tokens& tokens, const Tree& tree, const Cfg& cfg, const Scopes& scopes)
      : text_(text), tokens_(tokens), tree_(tree), cfg_(cfg), scopes_(scopes) {
    out_.variables_ = variables_of(tree, scopes, cfg.owner());
    for (uint32_t i = 0; i < out_.variables_.count; ++i) {
      const SymbolId symbol = out_.variables_.first + i;
      if (scopes[symbol].binding == symbol && !scopes[symbol].has(symbol_flag::kFromComprehension))
        out_.own_.push_back(symbol);
    }
    is_definite_.assign(out_.variables_.count, false);
  }

  Uses build() {
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

 private:
  enum class Do : uint8_t { Visit, Read, Bind, Remove, Open, Close, Share, ReadAll, ReadSelf };
  struct Step {
    Do what;
    NodeId node;
  };

  bool is_ours(NodeId node) const { return out_.variables_.contains(scopes_.binding(node)); }
  size_t place(SymbolId variable) const { return out_.variables_.place(variable); }
  std::string_view word(TokenId token) const { return tokens_[token].span().in(text_); }

  void element(const Element& element) {
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

  void plan(Do what, NodeId node) { plan_.push_back({what, node}); }
  void visit(NodeId node) {
    if (node) plan(Do::Visit, node);
  }
  void visit_children(NodeId node) {
    for (NodeId child : tree_.children(node)) visit(child);
  }

  // Steps are planned in the order of evaluation; those that a step plans come before all others.
  void run() {
    steps_.clear();
    take_plan();
    while (!steps_.empty()) {
      const Step step = steps_.back();
      steps_.pop_back();
      perform(step);
      take_plan();
    }
  }

  void take_plan() {
    steps_.insert(steps_.end(), plan_.rbegin(), plan_.rend());
    plan_.clear();
  }

  void perform(Step step) {
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

  void emit(SymbolId variable, NodeId node, UseKind kind) {
    if (kind == UseKind::Read && is_definite_[place(variable)]) kind = UseKind::ReadOwn;
    out_.uses_.push_back({variable, node, kind});
  }

  void read(NodeId node) {
    if (is_ours(node)) emit(scopes_.binding(node), node, UseKind::Read);
  }

  void write(NodeId node) {
    if (!is_ours(node)) return;
    const SymbolId variable = scopes_.binding(node);
    emit(variable, node, marks_.empty() ? UseKind::Write : UseKind::MaybeWrite);
    if (is_definite_[place(variable)]) return;
    is_definite_[place(variable)] = true;
    definite_.push_back(variable);
  }

  void remove(NodeId node) {
    if (!is_ours(node)) return;
    emit(scopes_.binding(node), node, marks_.empty() ? UseKind::Delete : UseKind::MaybeDelete);
  }

  void forget() {
    is_definite_[place(definite_.back())] = false;
    definite_.pop_back();
  }

  // Code that runs later, perhaps: every name of ours in it is captured.
  void share(NodeId node) {
    for (NodeId id = node; id < tree_.end_of(node); ++id) {
      if (!is_ours(id)) continue;
      const NodeKind kind = tree_.kind(id);
      out_.uses_.push_back({scopes_.binding(id), id, UseKind::Capture});
      if (kind != NodeKind::Name || tree_[id].context() != Context::Load || is_walrus_target(id)) {
        out_.uses_.push_back({scopes_.binding(id), id, UseKind::CapturedWrite});
      }
    }
  }

  bool is_walrus_target(NodeId id) const {
    const NodeId parent = tree_.parent(id);
    return tree_.kind(parent) == NodeKind::NamedExpr && tree_.first_child(parent) == id;
  }

  void expand(NodeId id);
  void name(NodeId id);
  void definition(NodeId id);
  void comprehension(NodeId id);
  void call(NodeId id);
  bool is_consumed_at_once(NodeId generator) const;
  void pattern(NodeId id);
  void parameters(NodeId id);

  std::string_view text_;
  const Tokens& tokens_;
  const Tree& tree_;
  const Cfg& cfg_;
  const Scopes& scopes_;
  Uses out_;
  std::vector<Step> steps_;
  std::vector<Step> plan_;
  // Names written for sure so far, and where the open brackets began.
  std::vector<SymbolId> definite_;
  std::vector<bool> is_definite_;
  std::vector<size_t> marks_;
  bool patterns_bind_ = false;
};

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
  if (later) plan(Do::Share, id);
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

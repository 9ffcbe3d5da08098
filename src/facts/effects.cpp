// What code may do. In: text, Tokens, Tree, Scopes. Out: `ModuleEffects`. Here: what each kind of node does by itself.
// "Known while tracing" is what Dynamo guards on: an attribute that is not there, a shape that does not fit. Operators
// and attributes are taken to be those of tensors, numbers and plain objects, and the result says so.
#include "facts/effects.h"

#include <algorithm>

#include "facts/cfg.h"
#include "facts/definitions.h"
#include "facts/effects_builder.h"
#include "facts/uses.h"
#include "parse/views.h"

namespace graphmend {

using namespace effect;

std::string effects_text(Effects effects) {
  static constexpr std::string_view kNames[] = {
      "raises-on-values", "raises-on-shapes", "reads-state",     "writes-local",    "writes-self",
      "writes-global",    "writes-unknown",   "talks",           "random",          "syncs",
      "may-not-end",      "assumes-plain",    "assumes-tensors", "assumes-methods", "unknown"};
  if (effects.bits == 0) return "none";
  if (effects.unknown()) return "unknown";
  std::string text;
  for (size_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((effects.bits >> bit & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += kNames[bit];
  }
  return text;
}

Effects ModuleEffects::of_range(const Tree& tree, NodeId first, NodeId last) const {
  Effects all;
  for (NodeId id = first; id <= last; id = tree.next_sibling(id)) all = all | of(id);
  return all;
}

Effects ModuleEffects::of_call(NodeId function) const {
  auto found = std::lower_bound(summaries_.begin(), summaries_.end(), function,
                                [](const Summary& summary, NodeId node) { return summary.function < node; });
  return found != summaries_.end() && found->function == function ? found->effects : Effects{kAnything};
}

std::span<const WriteSite> ModuleEffects::writes(const Tree& tree, NodeId first, NodeId last) const {
  auto before = [](const WriteSite& site, NodeId node) { return site.node < node; };
  auto from = std::lower_bound(writes_.begin(), writes_.end(), first, before);
  auto to = std::lower_bound(from, writes_.end(), tree.end_of(last), before);
  return {writes_.data() + (from - writes_.begin()), static_cast<size_t>(to - from)};
}

ModuleEffects compute_effects(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes) {
  return EffectsBuilder(text, tokens, tree, scopes).build();
}

ModuleEffects EffectsBuilder::build() {
  out_.by_node_.assign(tree_.size(), 0);
  for (NodeId id = Tree::root(); id.index < tree_.size(); ++id) {
    imports_all_ = imports_all_ || (tree_.kind(id) == NodeKind::Alias && word(tree_[id].first_token) == "*");
  }
  find_functions();
  find_unbound_reads();
  scan();
  solve_calls();
  for (const CallEdge& edge : calls_) finish_call(edge);
  std::sort(out_.writes_.begin(), out_.writes_.end(), [](const WriteSite& a, const WriteSite& b) {
    return a.node != b.node ? a.node < b.node : a.variable < b.variable;
  });
  for (const Function& function : functions_) {
    out_.summaries_.push_back({function.node, {function.opaque ? kAnything : function.effects}});
  }
  // effects = own | those of all parts; but the body of a function runs only when it is called.
  for (uint32_t i = tree_.size(); i-- > 1;) {
    const NodeId id(i);
    const NodeId parent = tree_.parent(id);
    const NodeKind above = tree_.kind(parent);
    const bool is_last = tree_.next_sibling(id) == tree_.end_of(parent);
    if ((above == NodeKind::FunctionDef || above == NodeKind::Lambda) && is_last) continue;
    out_.by_node_[parent.index] |= out_.by_node_[i];
  }
  return std::move(out_);
}

void EffectsBuilder::find_functions() {
  is_self_.assign(scopes_.symbol_count(), false);
  for (NodeId id = Tree::root(); id.index < tree_.size(); ++id) {
    if (tree_.kind(id) != NodeKind::FunctionDef) continue;
    FunctionView view(tree_, id);
    const auto index = static_cast<uint32_t>(functions_.size());
    Function function;
    function.node = id;
    function.opaque = tree_[id].has(node_flag::kAsync) || !view.decorators.empty();
    functions_.push_back(function);
    function_index_[id.index] = index;
    const NodeId owner = tree_.parent(id) ? tree_.parent(tree_.parent(id)) : NodeId();
    if (!owner || tree_.kind(owner) != NodeKind::ClassDef) continue;
    const TokenId name = name_token(tree_, tokens_, id);
    if (name) {
      auto [entry, is_new] = methods_.try_emplace(std::to_string(owner.index) + '.' + std::string(word(name)), index);
      if (!is_new) entry->second = kNone;
    }
    if (!view.parameters || !tree_.first_child(view.parameters) || !view.decorators.empty()) continue;
    const NodeId first = tree_.first_child(view.parameters);
    const SymbolId variable = scopes_.binding(first);
    // Assigned anew it may be anything.
    if (variable && scopes_.sites(variable).size() == 1) is_self_[variable.index] = true;
  }
}

void EffectsBuilder::find_unbound_reads() {
  may_be_unbound_.assign(tree_.size(), false);
  for (const Function& function : functions_) {
    const Cfg cfg = compute_cfg(tree_, tokens_, function.node, text_);
    const Uses uses = compute_uses(text_, tokens_, tree_, cfg, scopes_);
    for (NodeId read : compute_definitions(cfg, uses).unbound_reads()) may_be_unbound_[read.index] = true;
  }
}

void EffectsBuilder::scan() {
  struct Around {
    NodeId end;
    uint32_t function;
  };
  std::vector<Around> around;
  std::vector<std::pair<NodeId, Around>> coming;
  for (NodeId id = Tree::root(); id.index < tree_.size(); ++id) {
    while (!around.empty() && around.back().end <= id) around.pop_back();
    while (!coming.empty() && coming.back().first == id) {
      around.push_back(coming.back().second);
      coming.pop_back();
    }
    current_ = around.empty() ? kNone : around.back().function;
    const uint16_t bits = own(id);
    out_.by_node_[id.index] |= bits;
    if (current_ != kNone) functions_[current_].effects |= bits;
    const NodeKind kind = tree_.kind(id);
    if (current_ != kNone && (kind == NodeKind::Yield || kind == NodeKind::YieldFrom || kind == NodeKind::Await)) {
      functions_[current_].opaque = true;
    }
    if (kind == NodeKind::FunctionDef) {
      if (NodeId body = FunctionView(tree_, id).body)
        coming.push_back({body, {tree_.end_of(body), function_index_[id.index]}});
    } else if (kind == NodeKind::Lambda) {
      if (NodeId body = LambdaView(tree_, id).body) coming.push_back({body, {tree_.end_of(body), kNone}});
    }
  }
  // A call that was read before its callee proved to be a generator.
  for (const CallEdge& edge : calls_) {
    if (functions_[edge.callee].opaque) functions_[edge.callee].effects = kAnything;
  }
}

uint16_t EffectsBuilder::write(NodeId site, NodeId object, bool by_operator) {
  const Root root = root_of(object);
  if (root.kind != 0) out_.writes_.push_back({site, root.kind, root.variable, by_operator});
  return root.kind;
}

uint16_t EffectsBuilder::own(NodeId id) {
  const NodeId child = tree_.first_child(id);
  switch (tree_.kind(id)) {
    case NodeKind::Name:
      return of_name(id);
    case NodeKind::Attribute:
      return of_attribute(id);
    case NodeKind::Subscript:
      return of_subscript(id);
    case NodeKind::Call:
      return of_call(id);
    case NodeKind::BinOp:
    case NodeKind::UnaryOp:
      return of_operator(id);
    case NodeKind::Compare:
      return of_comparison(id);
    case NodeKind::AugAssign:
      return of_aug_assign(id);
    case NodeKind::BoolOp: {
      uint16_t bits = 0;
      for (NodeId operand : tree_.children(id)) bits |= truth_of(operand);
      return bits;
    }
    case NodeKind::If:
    case NodeKind::Elif:
      return truth_of(child);
    case NodeKind::While:
      return kMayNotEnd | truth_of(child);
    case NodeKind::IfExp:
      return truth_of(IfExpView(tree_, id).test);
    case NodeKind::Assert:
      return kRaises | truth_of(child);
    case NodeKind::MatchCase:
      return truth_of(MatchCaseView(tree_, id).guard);
    case NodeKind::Comprehension: {
      uint16_t bits = kRaisesOnShapes | kAssumesPlain;
      for (NodeId condition : ComprehensionView(tree_, id).conditions) bits |= truth_of(condition);
      return tree_[id].has(node_flag::kAsync) ? kAnything : bits;
    }
    case NodeKind::For:
      return tree_[id].has(node_flag::kAsync) ? kAnything : kRaisesOnShapes | kAssumesPlain;
    case NodeKind::WithItem:
      return of_with_item(id);
    case NodeKind::Tuple:
    case NodeKind::List:
      return tree_[id].context() == Context::Store ? kRaisesOnShapes | kAssumesPlain : 0;
    case NodeKind::Starred:
    case NodeKind::Dict:
    case NodeKind::DictUnpack:
    case NodeKind::Set:
      return kRaisesOnShapes | kAssumesPlain;
    case NodeKind::Interpolation:
      return kRaisesOnShapes | kSyncs | kAssumesPlain;
    case NodeKind::Raise:
    case NodeKind::ExceptHandler:
      return kRaises;
    case NodeKind::MatchValue:
    case NodeKind::MatchClass:
    case NodeKind::MatchMapping:
    case NodeKind::MatchSequence:
      return kRaises | kSyncs | kAssumesPlain;
    case NodeKind::Decorator:
    case NodeKind::ClassDef:
    case NodeKind::Import:
    case NodeKind::ImportFrom:
    case NodeKind::Await:
    case NodeKind::Yield:
    case NodeKind::YieldFrom:
    case NodeKind::TypeAlias:
    case NodeKind::ErrorStatement:
    case NodeKind::ErrorExpression:
      return kAnything;
    default:
      return 0;
  }
}

uint16_t EffectsBuilder::of_name(NodeId id) {
  const SymbolId variable = scopes_.binding(id);
  const bool load = tree_[id].context() == Context::Load;
  if (!variable) return load && known_builtin(word(tree_[id].first_token)) ? 0 : kReadsState | kRaisesOnShapes;
  const bool own_variable = is_own(id);
  if (!load) {
    if (own_variable) return may_be_unbound_[id.index] ? kRaises : 0;
    out_.writes_.push_back({id, kWritesGlobal, variable, false});
    return kWritesGlobal;
  }
  if (own_variable && scopes_[scopes_[variable].scope].kind != ScopeKind::Module) {
    return may_be_unbound_[id.index] ? kRaises : 0;
  }
  // What only a definition or an import binds does not change.
  const std::span<const NodeId> sites = scopes_.sites(variable);
  const bool is_module = scopes_[scopes_[variable].scope].kind == ScopeKind::Module;
  if (is_module && sites.size() == 1 && tree_.kind(sites[0]) != NodeKind::Name) return 0;
  if (is_module && !module_path(variable).empty()) return 0;
  return kReadsState | (is_module ? kRaisesOnShapes : kRaises);
}

uint16_t EffectsBuilder::of_attribute(NodeId id) {
  const NodeId object = tree_.first_child(id);
  if (tree_[id].context() != Context::Load) return kRaisesOnShapes | kAssumesPlain | write(id, object);
  if (is_type_info(object)) return 0;
  if (!dotted_path(id).empty()) return of_module_attribute(id);
  // Which method is called is the call's business.
  const NodeId parent = tree_.parent(id);
  const bool called = tree_.kind(parent) == NodeKind::Call && tree_.first_child(parent) == id;
  const std::string_view name = word(tree_[id].last_token);
  if (called && (known_method(name) || local_callee(id) != kNone)) return 0;
  const bool on_self = tree_.kind(object) == NodeKind::Name && is_self(scopes_.binding(object));
  if (is_tensor_attribute(name) && !on_self) return kAssumesTensors;
  return kReadsState | kRaisesOnShapes | kAssumesPlain;
}

// Numbers, slices, `None`, `...`, and tuples of them: an index that a trace knows.
bool EffectsBuilder::is_constant_index(NodeId index) const {
  for (NodeId id = index; id < tree_.end_of(index); ++id) {
    switch (tree_.kind(id)) {
      case NodeKind::Number:
      case NodeKind::Constant:
      case NodeKind::String:
      case NodeKind::Slice:
      case NodeKind::Tuple:
      case NodeKind::UnaryOp:
        break;
      default:
        return false;
    }
  }
  return true;
}

uint16_t EffectsBuilder::of_subscript(NodeId id) {
  SubscriptView view(tree_, id);
  if (!view.slice) return kAnything;
  uint16_t bits = kReadsState | kRaisesOnShapes | kAssumesPlain;
  // Any other index may be a tensor, or a mask.
  if (!is_constant_index(view.slice)) bits |= kRaisesOnValues | kSyncs;
  if (tree_[id].context() != Context::Load) bits |= write(id, view.value);
  return bits;
}

uint16_t EffectsBuilder::of_operator(NodeId id) const {
  if (tree_.kind(id) == NodeKind::UnaryOp) {
    const bool is_not = tree_[id].operation() == Operator::Not;
    const NodeId operand = tree_.first_child(id);
    if (is_not) return truth_of(operand);
    return tree_.kind(operand) == NodeKind::Number ? 0 : kRaisesOnShapes | kAssumesPlain;
  }
  BinOpView view(tree_, id);
  uint16_t bits = kRaisesOnShapes | kAssumesPlain;
  const Operator op = tree_[id].operation();
  // Integers by zero.
  if (op == Operator::FloorDiv || op == Operator::Mod) {
    const bool literal = view.right && tree_.kind(view.right) == NodeKind::Number &&
                         word(tree_[view.right].first_token).find_first_of("123456789") != std::string_view::npos;
    if (!literal) bits |= kRaisesOnValues;
  }
  // `"%s" % x` prints what it is given.
  if (op == Operator::Mod) bits |= kSyncs;
  return bits;
}

uint16_t EffectsBuilder::of_comparison(NodeId id) const {
  uint16_t bits = 0;
  unsigned count = 0;
  const NodeId left = tree_.first_child(id);
  for (NodeId part : tree_.children(id)) {
    if (tree_.kind(part) != NodeKind::CompareOp) continue;
    ++count;
    switch (tree_[part].operation()) {
      case Operator::Is:
      case Operator::IsNot:
        break;
      case Operator::In:
      case Operator::NotIn:
        bits |= kRaisesOnShapes | kAssumesPlain;
        if (tree_.kind(left) != NodeKind::String) bits |= kSyncs;
        break;
      default:
        bits |= kRaisesOnShapes | kAssumesPlain;
        break;
    }
  }
  // `a < b < c` tests the truth of `a < b`.
  if (count > 1) bits |= kRaisesOnShapes | kSyncs | kAssumesPlain;
  return bits;
}

uint16_t EffectsBuilder::of_aug_assign(NodeId id) {
  AugAssignView view(tree_, id);
  if (!view.target) return kAnything;
  uint16_t bits = kRaisesOnShapes | kAssumesPlain;
  const Operator op = tree_[id].operation();
  if (op == Operator::FloorDiv || op == Operator::Mod) bits |= kRaisesOnValues;
  if (may_be_unbound_[view.target.index]) bits |= kRaises;
  // Of an attribute or item the Attribute or Subscript itself is only the store.
  if (tree_.kind(view.target) != NodeKind::Name) return bits | kReadsState;
  return bits | write(id, view.target, true);
}

// The truth of a tensor is asked of the device, and is an error unless it has one element.
uint16_t EffectsBuilder::truth_of(NodeId expression) const {
  if (!expression) return 0;
  switch (tree_.kind(expression)) {
    case NodeKind::Constant:
    case NodeKind::Number:
    case NodeKind::String:
      return 0;
    case NodeKind::UnaryOp:
      if (tree_[expression].operation() == Operator::Not) return 0;
      break;
    case NodeKind::Compare: {
      bool identity = true;
      for (NodeId part : tree_.children(expression)) {
        if (tree_.kind(part) != NodeKind::CompareOp) continue;
        const Operator op = tree_[part].operation();
        identity = identity && op >= Operator::Is && op <= Operator::NotIn;
      }
      if (identity) return 0;
      break;
    }
    case NodeKind::Call: {
      const NodeId function = tree_.first_child(expression);
      if (tree_.kind(function) != NodeKind::Name || scopes_.binding(function)) break;
      const std::string_view name = word(tree_[function].first_token);
      if (name == "isinstance" || name == "issubclass" || name == "hasattr" || name == "callable" || name == "len" ||
          name == "any" || name == "all" || name == "bool") {
        return 0;
      }
      break;
    }
    default:
      break;
  }
  return kRaisesOnShapes | kSyncs | kAssumesPlain;
}

}  // namespace graphmend

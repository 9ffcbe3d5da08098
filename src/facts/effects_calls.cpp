// What calls do. In: a call. Out: the table's line for it, the effects of a function of this module, or anything.
// A name stands for a module's function only when imports alone bind it, for a function of this file only when nothing
// but its `def` does.
#include <algorithm>

#include "facts/effects_builder.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// Dotted names longer than this are nobody's.
constexpr unsigned kMaxDots = 8;
// Chains of methods longer than this lead who knows where; so a chain of a million calls costs no more than a million.
constexpr unsigned kMaxChain = 200;

}  // namespace

// The full name of what an Alias binds: "torch.nn.functional"; empty for what is relative or unknown.
std::string EffectsBuilder::import_path(NodeId alias) const {
  const NodeId statement = tree_.parent(alias);
  std::string name = alias_name(text_, tree_, tokens_, alias);
  if (tree_.kind(statement) == NodeKind::Import) {
    // `import a.b` binds `a`, `import a.b as c` what `a.b` is.
    return tree_[alias].has(node_flag::kHasName) ? name : name.substr(0, name.find('.'));
  }
  const ImportModule module = import_module(text_, tree_, tokens_, statement);
  if (module.level > 0 || name == "*") return {};
  return module.name + '.' + name;
}

const std::string& EffectsBuilder::module_path(SymbolId variable) {
  auto [entry, is_new] = module_paths_.try_emplace(variable.index);
  std::string& path = entry->second;
  if (!is_new) return path;
  for (NodeId site : scopes_.sites(variable)) {
    std::string here = tree_.kind(site) == NodeKind::Alias ? import_path(site) : std::string();
    if (here.empty() || (!path.empty() && path != here)) {
      path.clear();
      break;
    }
    path = std::move(here);
  }
  return path;
}

// "torch.relu" for `F.relu` and the like; empty when the root is no module.
std::string EffectsBuilder::dotted_path(NodeId expression) {
  std::vector<std::string_view> names;
  while (tree_.kind(expression) == NodeKind::Attribute && names.size() < kMaxDots) {
    names.push_back(word(tree_[expression].last_token));
    expression = tree_.first_child(expression);
  }
  if (tree_.kind(expression) != NodeKind::Name || !scopes_.binding(expression)) return {};
  std::string path = module_path(scopes_.binding(expression));
  if (path.empty()) return {};
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    path += '.';
    path += *name;
  }
  return path;
}

// In torch and `math` themselves what is not called is a constant (`torch.float32`), elsewhere it is a variable. What
// is called, or a part of a longer name, is looked at with the whole.
uint16_t EffectsBuilder::of_module_attribute(NodeId id) {
  const NodeId parent = tree_.parent(id);
  const NodeKind above = tree_.kind(parent);
  if (above == NodeKind::Attribute || (above == NodeKind::Call && tree_.first_child(parent) == id)) return 0;
  const std::string path = dotted_path(id);
  const size_t dot = path.rfind('.');
  const bool constant = path.compare(0, dot, "torch") == 0 || path.compare(0, dot, "math") == 0;
  return constant ? 0 : effect::kReadsState | effect::kRaisesOnShapes | effect::kAssumesPlain;
}

// Whether an expression is a name that an import binds, or an attribute of one: hardly a tensor.
bool EffectsBuilder::is_imported(NodeId expression) const {
  for (unsigned dots = 0; tree_.kind(expression) == NodeKind::Attribute && dots < kMaxDots; ++dots) {
    expression = tree_.first_child(expression);
  }
  const SymbolId variable = tree_.kind(expression) == NodeKind::Name ? scopes_.binding(expression) : SymbolId();
  if (!variable) return false;
  const std::span<const NodeId> sites = scopes_.sites(variable);
  return std::any_of(sites.begin(), sites.end(), [&](NodeId site) { return tree_.kind(site) == NodeKind::Alias; });
}

// Whether a name is a variable of the function in which it is evaluated; comprehensions are part of it.
bool EffectsBuilder::is_own(NodeId name) const {
  const SymbolId symbol = scopes_.symbol(name);
  if (!symbol) return false;
  const ScopeId home = scopes_[scopes_[symbol].binding].scope;
  ScopeId scope = scopes_[symbol].scope;
  while (scope != home && is_comprehension(scopes_[scope].kind)) scope = scopes_[scope].parent;
  return scope == home;
}

bool EffectsBuilder::is_self(SymbolId variable) const { return variable && is_self_[variable.index]; }

// A variable that only `getLogger` or `get_logger` was assigned to, or anything that is called a logger.
bool EffectsBuilder::is_logger(NodeId receiver) {
  const NodeKind kind = tree_.kind(receiver);
  if (kind != NodeKind::Name && kind != NodeKind::Attribute) return false;
  const std::string_view name = word(tree_[receiver].last_token);
  if (name == "logger" || name == "_logger" || name == "LOGGER" || name == "log" || name == "LOG") return true;
  if (kind != NodeKind::Name || !scopes_.binding(receiver)) return false;
  const std::span<const NodeId> sites = scopes_.sites(scopes_.binding(receiver));
  for (NodeId site : sites) {
    const NodeId statement = tree_.parent(site);
    if (tree_.kind(statement) != NodeKind::Assign) return false;
    const NodeId value = AssignView(tree_, statement).value;
    if (!value || tree_.kind(value) != NodeKind::Call) return false;
    const std::string_view called = word(tree_[tree_.first_child(value)].last_token);
    if (called != "getLogger" && called != "get_logger") return false;
  }
  return !sites.empty();
}

EffectsBuilder::Root EffectsBuilder::root_of_variable(NodeId name) const {
  const SymbolId variable = scopes_.binding(name);
  if (!variable) return {effect::kWritesGlobal, variable};
  if (is_self(variable)) return {effect::kWritesSelf, variable};
  // A nonlocal name leads to another function's objects.
  const bool local = is_own(name) && scopes_[scopes_[variable].scope].kind != ScopeKind::Module;
  return {local ? effect::kWritesLocal : effect::kWritesGlobal, variable};
}

// What an object can be reached from: `x` for `x.a[0].view(-1)`. None for what is new, such as a sum.
EffectsBuilder::Root EffectsBuilder::root_of(NodeId object) const {
  for (unsigned steps = 0; steps < kMaxChain; ++steps) {
    switch (tree_.kind(object)) {
      case NodeKind::Attribute:
      case NodeKind::Subscript:
      case NodeKind::Starred:
        object = tree_.first_child(object);
        break;
      case NodeKind::Call: {
        // The result of a method may be a view of its tensor.
        const NodeId function = tree_.first_child(object);
        if (tree_.kind(function) != NodeKind::Attribute) return {effect::kWritesUnknown, SymbolId()};
        object = function;
        break;
      }
      case NodeKind::UnaryOp:
        // `+x` is `x`.
        if (tree_[object].operation() != Operator::UAdd) return {};
        object = tree_.first_child(object);
        break;
      case NodeKind::Name:
        return root_of_variable(object);
      case NodeKind::Number:
      case NodeKind::Constant:
      case NodeKind::String:
      case NodeKind::Strings:
      case NodeKind::FString:
      case NodeKind::BinOp:
      case NodeKind::Compare:
      case NodeKind::Lambda:
        return {};
      default:
        return {effect::kWritesUnknown, SymbolId()};
    }
  }
  return {effect::kWritesUnknown, SymbolId()};
}

uint32_t EffectsBuilder::local_callee(NodeId function) const {
  NodeId definition;
  if (tree_.kind(function) == NodeKind::Name) {
    const SymbolId variable = scopes_.binding(function);
    if (!variable || scopes_.sites(variable).size() != 1) return kNone;
    definition = scopes_.sites(variable)[0];
  } else if (tree_.kind(function) == NodeKind::Attribute) {
    const NodeId receiver = tree_.first_child(function);
    if (tree_.kind(receiver) != NodeKind::Name || !is_self(scopes_.binding(receiver))) return kNone;
    const NodeId method = scopes_[scopes_[scopes_.binding(receiver)].scope].node;
    const NodeId owner = tree_.parent(tree_.parent(method));
    auto found = methods_.find(std::to_string(owner.index) + '.' + std::string(word(tree_[function].last_token)));
    return found == methods_.end() ? kNone : found->second;
  }
  if (!definition || tree_.kind(definition) != NodeKind::FunctionDef) return kNone;
  auto found = function_index_.find(definition.index);
  return found == function_index_.end() ? kNone : found->second;
}

uint16_t EffectsBuilder::writes_all(NodeId call) {
  uint16_t bits = 0;
  for (NodeId argument : CallView(tree_, call).arguments) {
    bits |= write(call, tree_.kind(argument) == NodeKind::Keyword ? tree_.first_child(argument) : argument);
  }
  return bits;
}

uint16_t EffectsBuilder::known_call(NodeId call, const KnownCall& known, NodeId receiver) {
  uint16_t bits = known.effects;
  if (known.writes_receiver && receiver) bits |= write(call, receiver);
  for (NodeId argument : CallView(tree_, call).arguments) {
    const bool keyword = tree_.kind(argument) == NodeKind::Keyword;
    const NodeId value = keyword ? tree_.first_child(argument) : argument;
    const TokenId name = keyword ? name_token(tree_, tokens_, argument) : TokenId();
    const std::string_view spelled = name ? word(name) : std::string_view();
    if (known.writes_arguments || spelled == "out") bits |= write(call, value);
    // `inplace=True`, and who knows what with `inplace=x`.
    const bool off =
        tree_.kind(value) == NodeKind::Constant && tokens_[tree_[value].first_token].kind == TokenKind::False;
    if (spelled == "inplace" && !off) {
      bits |= writes_all(call);
    }
    // `relu(x, True)`; a number says how, and not whether.
    const bool is_number = tree_.kind(value) == NodeKind::Number || tree_.kind(value) == NodeKind::UnaryOp;
    const bool is_first = argument == *CallView(tree_, call).arguments.begin();
    const bool is_told = tree_.kind(argument) == NodeKind::Starred || (!keyword && !is_first && !is_number && !off);
    if (known.changes_by_place && is_told) bits |= writes_all(call);
    // Integer division, which zero makes raise.
    if (spelled == "rounding_mode") bits |= effect::kRaises;
    // Functions of the user's.
    if (spelled == "key" || spelled == "default_factory") bits |= effect::kAnything;
    // `f(**options)` may hold any of these.
    if (keyword && !name) bits |= effect::kRaises | effect::kWritesUnknown;
    if (tree_.kind(argument) == NodeKind::Starred) bits |= effect::kRaisesOnShapes | effect::kAssumesPlain;
  }
  return bits;
}

bool EffectsBuilder::is_builtin(NodeId function, std::string_view name) const {
  return tree_.kind(function) == NodeKind::Name && !scopes_.binding(function) &&
         word(tree_[function].first_token) == name;
}

uint16_t EffectsBuilder::of_call(NodeId id) {
  const NodeId function = tree_.first_child(id);
  if (!function) return effect::kAnything;
  if (tree_.kind(function) == NodeKind::Name && !scopes_.binding(function)) {
    const std::optional<KnownCall> known = known_builtin(word(tree_[function].first_token));
    // `from … import *` may have brought another one.
    return known && !imports_all_ ? known_call(id, *known, NodeId()) : effect::kAnything;
  }
  const std::string path = dotted_path(function);
  if (!path.empty()) {
    const std::optional<KnownCall> known = known_function(path);
    if (known) return known_call(id, *known, NodeId());
    return effect::kAnything;
  }
  if (uint32_t callee = local_callee(function); callee != kNone && !functions_[callee].opaque) {
    CallEdge edge{id, current_, callee, 0};
    if (tree_.kind(function) == NodeKind::Attribute) edge.argument_roots |= root_of(function).kind;
    for (NodeId argument : CallView(tree_, id).arguments) {
      const bool keyword = tree_.kind(argument) == NodeKind::Keyword;
      edge.argument_roots |= root_of(keyword ? tree_.first_child(argument) : argument).kind;
    }
    calls_.push_back(edge);
    // Arguments may not fit the parameters.
    return tree_.kind(function) == NodeKind::Attribute ? effect::kRaisesOnShapes | effect::kAssumesMethods
                                                       : effect::kRaisesOnShapes;
  }
  if (tree_.kind(function) != NodeKind::Attribute) return effect::kAnything;
  const NodeId receiver = tree_.first_child(function);
  const std::string_view name = word(tree_[function].last_token);
  if (is_logger_method(name) && is_logger(receiver)) {
    return effect::kTalks | effect::kRaises | effect::kSyncs | effect::kAssumesPlain;
  }
  if (is_self(scopes_.binding(receiver)) && tree_.kind(receiver) == NodeKind::Name) return effect::kAnything;
  // `super().add(x)` is a method of the program's.
  if (tree_.kind(receiver) == NodeKind::Call && is_builtin(tree_.first_child(receiver), "super")) {
    return effect::kAnything;
  }
  const std::optional<KnownCall> known = known_method(name);
  if (!known || is_imported(receiver)) return effect::kAnything;
  return known_call(id, *known, receiver) | effect::kAssumesTensors;
}

uint16_t EffectsBuilder::of_with_item(NodeId id) {
  const NodeId expression = tree_.first_child(id);
  if (!expression || tree_.kind(expression) != NodeKind::Call) return effect::kAnything;
  const std::string path = dotted_path(tree_.first_child(expression));
  const std::optional<KnownCall> known = path.empty() ? std::nullopt : known_function(path);
  return known && known->is_context ? 0 : effect::kAnything;
}

// What a call does to the caller: what the callee does to its own variables' objects happens to the arguments.
uint16_t EffectsBuilder::seen_by_caller(const CallEdge& edge) const {
  const uint16_t bits = functions_[edge.callee].effects;
  constexpr uint16_t kOwn = effect::kWritesLocal | effect::kWritesSelf;
  const uint16_t writes = (bits & kOwn) != 0 ? edge.argument_roots : uint16_t{0};
  return static_cast<uint16_t>((bits & ~kOwn) | writes);
}

void EffectsBuilder::finish_call(const CallEdge& edge) {
  out_.by_node_[edge.call.index] |= seen_by_caller(edge);
  if ((functions_[edge.callee].effects & (effect::kWritesLocal | effect::kWritesSelf)) == 0) return;
  const NodeId function = tree_.first_child(edge.call);
  if (tree_.kind(function) == NodeKind::Attribute) write(edge.call, function);
  for (NodeId argument : CallView(tree_, edge.call).arguments) {
    const bool keyword = tree_.kind(argument) == NodeKind::Keyword;
    write(edge.call, keyword ? tree_.first_child(argument) : argument);
  }
}

// `torch.finfo(…)`, whose attributes are numbers.
bool EffectsBuilder::is_type_info(NodeId expression) {
  if (tree_.kind(expression) != NodeKind::Call) return false;
  const std::string path = dotted_path(tree_.first_child(expression));
  return path == "torch.finfo" || path == "torch.iinfo";
}

// A function that may call itself may not end, and raises when it is too deep. Every cycle has an edge that leads back.
void EffectsBuilder::mark_recursion() {
  std::vector<std::vector<uint32_t>> callees(functions_.size());
  for (const CallEdge& edge : calls_) {
    if (edge.caller != kNone) callees[edge.caller].push_back(edge.callee);
  }
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(functions_.size(), kNew);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t root = 0; root < functions_.size(); ++root) {
    if (state[root] != kNew) continue;
    state[root] = kOpen;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [function, next] = stack.back();
      if (next == callees[function].size()) {
        state[function] = kDone;
        stack.pop_back();
        continue;
      }
      const uint32_t callee = callees[function][next++];
      if (state[callee] == kOpen) functions_[callee].effects |= effect::kMayNotEnd | effect::kRaises;
      if (state[callee] != kNew) continue;
      state[callee] = kOpen;
      stack.emplace_back(callee, 0);
    }
  }
}

// effects(f) = own(f) | effects of what f calls; to a fixed point.
void EffectsBuilder::solve_calls() {
  mark_recursion();
  std::vector<std::vector<uint32_t>> callers(functions_.size());
  for (uint32_t i = 0; i < calls_.size(); ++i) callers[calls_[i].callee].push_back(i);
  std::vector<uint32_t> work(functions_.size());
  for (uint32_t i = 0; i < work.size(); ++i) work[i] = i;
  while (!work.empty()) {
    const uint32_t changed = work.back();
    work.pop_back();
    for (uint32_t i : callers[changed]) {
      const CallEdge& edge = calls_[i];
      if (edge.caller == kNone) continue;
      Function& caller = functions_[edge.caller];
      const uint16_t after = caller.effects | seen_by_caller(edge);
      if (after == caller.effects) continue;
      caller.effects = after;
      work.push_back(edge.caller);
    }
  }
}

}  // namespace graphmend

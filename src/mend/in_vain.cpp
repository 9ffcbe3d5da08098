// Code that is evaluated though Python may not come to it. In: expressions, statements. Out: what has to hold for that.
#include "mend/in_vain.h"

#include <algorithm>

namespace graphmend {

namespace {

bool is_called(const Tree& tree, NodeId id) {
  const NodeId parent = tree.parent(id);
  return tree.kind(parent) == NodeKind::Call && tree.first_child(parent) == id;
}

// Whether a name, or what it leads to, is the class of `isinstance(x, Class)`: a class of the module, or an import.
bool is_asked_for(const MendContext& context, const Scopes& scopes, NodeId name) {
  const Tree& tree = context.tree;
  const SymbolId variable = tree.kind(name) == NodeKind::Name ? scopes.binding(name) : SymbolId();
  const auto sites = variable ? scopes.sites(variable) : std::span<const NodeId>();
  if (std::any_of(sites.begin(), sites.end(), [&](NodeId site) {
        return tree.kind(site) != NodeKind::ClassDef && tree.kind(site) != NodeKind::Alias;
      })) {
    return false;
  }
  while (tree.kind(tree.parent(name)) == NodeKind::Attribute || tree.kind(tree.parent(name)) == NodeKind::Tuple) {
    name = tree.parent(name);
  }
  const NodeId call = tree.parent(name);
  if (tree.kind(call) != NodeKind::Call || tree.end_of(name) != tree.end_of(call)) return false;
  const NodeId callee = tree.first_child(call);
  return context.text_of(callee) == "isinstance" && !scopes.binding(callee) && name != callee;
}

// `__x` in class C is `_C__x`.
std::string attribute_name(const MendContext& context, NodeId attribute) {
  std::string name(context.token_at(context.tree[attribute].last_token));
  const NodeId around =
      name.starts_with("__") && !name.ends_with("__") ? context.enclosing(attribute, NodeKind::ClassDef) : NodeId();
  if (!around) return name;
  std::string_view owner = context.token_at(name_token(context.tree, context.tokens, around));
  owner.remove_prefix(std::min(owner.find_first_not_of('_'), owner.size()));
  return owner.empty() ? name : "_" + std::string(owner) + name;
}

// A function works on what it is given; what else it reads is looked at by nobody.
bool reads_more(const MendContext& context, const ModuleFacts& facts, NodeId call) {
  const Tree& tree = context.tree;
  const SymbolId variable = facts.scopes.binding(tree.first_child(call));
  const auto sites = variable ? facts.scopes.sites(variable) : std::span<const NodeId>();
  if (sites.size() != 1 || tree.kind(sites[0]) != NodeKind::FunctionDef) return false;
  if (facts.effects.of_call(sites[0]).reads_state()) return true;
  const NodeId parameters = FunctionView(tree, sites[0]).parameters;
  if (!parameters) return false;
  for (NodeId each : tree.children(parameters)) {
    if (tree.kind(each) != NodeKind::Parameter) continue;
    const NodeId value = ParameterView(tree, each).default_value;
    const NodeKind kind = value ? tree.kind(value) : NodeKind::Constant;
    if (kind != NodeKind::Constant && kind != NodeKind::Number && kind != NodeKind::String) return true;
  }
  return false;
}

// `get().add(x)`: what a function of this module gives may be anything.
bool is_method_of_a_result(const MendContext& context, const ModuleFacts& facts, NodeId call) {
  const Tree& tree = context.tree;
  NodeId owner = tree.first_child(call);
  while (tree.kind(owner) == NodeKind::Attribute || tree.kind(owner) == NodeKind::Subscript) {
    owner = tree.first_child(owner);
  }
  if (owner == tree.first_child(call) || tree.kind(owner) != NodeKind::Call) return false;
  const SymbolId variable = facts.scopes.binding(tree.first_child(owner));
  const auto sites = variable ? facts.scopes.sites(variable) : std::span<const NodeId>();
  return std::any_of(sites.begin(), sites.end(), [&](NodeId site) { return tree.kind(site) == NodeKind::FunctionDef; });
}

}  // namespace

WorkedOn worked_on(const MendContext& context, const ModuleFacts& facts, NodeId code, const std::set<SymbolId>& own) {
  const Tree& tree = context.tree;
  WorkedOn found;
  for (NodeId id = code; id < tree.end_of(code); ++id) {
    if (tree.kind(id) == NodeKind::AnnAssign) {
      // The annotation of a variable is not evaluated.
      const AnnAssignView view(tree, id);
      if (view.value) found.merge(worked_on(context, facts, view.value, own));
      id = NodeId(tree.end_of(id).index - 1);
      continue;
    }
    // A class that is only asked for.
    if (is_asked_for(context, facts.scopes, id)) continue;
    // A function that is called by its name is known, or is none that only computes.
    if (tree.kind(id) != NodeKind::Name || tree[id].context() != Context::Load || is_called(tree, id)) continue;
    const SymbolId variable = facts.scopes.binding(id);
    // Builtins, and what the code has computed itself.
    if (!variable || own.contains(variable)) continue;
    const NodeId binder = facts.scopes[facts.scopes[variable].scope].node;
    const bool in_comprehension = binder >= code && binder < tree.end_of(code);
    // `self.scale = …` is looked at where it is assigned.
    const bool is_target =
        tree.kind(tree.parent(id)) == NodeKind::Attribute && tree[tree.parent(id)].context() != Context::Load;
    if (in_comprehension || is_target) continue;
    std::string chain(context.text_of(id));
    NodeId last = id;
    for (NodeId next = tree.parent(id); tree.kind(next) == NodeKind::Attribute; next = tree.parent(next)) {
      if (is_called(tree, next)) break;
      chain += (last == id ? ", '" : "', '") + attribute_name(context, next);
      last = next;
    }
    const auto sites = facts.scopes.sites(variable);
    const bool imported = sites.size() == 1 && tree.kind(sites[0]) == NodeKind::Alias;
    // `torch.relu(x)`, `math.pi`: what belongs to a module is known by its name.
    const NodeId above = tree.parent(last);
    const bool is_function = tree.kind(above) == NodeKind::Attribute && is_called(tree, above);
    if (imported && (is_function || (last != id && facts.effects.of(last).bits == 0))) continue;
    found.insert(chain + (last == id ? "," : "'"));
  }
  return found;
}

bool is_pure(const MendContext& context, const ModuleFacts& facts, NodeId code) {
  if (!facts.effects.of(code).pure()) return false;
  for (NodeId inner = code; inner < context.tree.end_of(code); ++inner) {
    if (context.tree.kind(inner) != NodeKind::Call) continue;
    if (reads_more(context, facts, inner) || is_method_of_a_result(context, facts, inner)) return false;
  }
  return true;
}

std::string and_is_plain(const std::string& site, const WorkedOn& worked) {
  if (worked.empty()) return "";
  std::string text = " and __graphmend__.is_plain('" + site + "'";
  for (const std::string& each : worked) text += ", (" + each + ")";
  return text + ")";
}

std::string not_traced(const std::string& site, const WorkedOn& worked) {
  const std::string asked = "__graphmend__.asks('" + site + "')" + and_is_plain(site, worked);
  return worked.empty() ? "not " + asked : "not (" + asked + ")";
}

}  // namespace graphmend

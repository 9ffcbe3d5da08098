// Who only talks. In: a statement, the names that were found to talk. Out: whether, and by what, it is known to.
#include "mend/talks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "parse/views.h"

namespace graphmend {

namespace {

// Whether it tells of the exception that is being handled where it stands, which is gone after the graph.
bool tells_of_exception(const MendContext& context, NodeId call) {
  const Tree& tree = context.tree;
  NodeId around = call;
  do {
    around = tree.parent(around);
  } while (around && tree.kind(around) != NodeKind::ExceptHandler && tree.kind(around) != NodeKind::FunctionDef);
  if (!around || tree.kind(around) != NodeKind::ExceptHandler) return false;
  NodeId callee = tree.first_child(call);
  if (context.token_at(tree[callee].last_token) == "exception") return true;
  for (NodeId argument : tree.children(call)) {
    if (tree.kind(argument) != NodeKind::Keyword) continue;
    const std::string_view text = context.text_of(argument);
    if (text.starts_with("exc_info") || text.starts_with("**")) return true;
  }
  return false;
}

// A callee's name; what is asked for by a call has its name with `()`: `logging.getLogger().info`.
std::string name_of(const MendContext& context, NodeId callee) {
  const Tree& tree = context.tree;
  if (tree.kind(callee) != NodeKind::Attribute || tree.kind(tree.first_child(callee)) != NodeKind::Call) {
    return context.dotted_name(callee);
  }
  const std::string asked = context.dotted_name(tree.first_child(tree.first_child(callee)));
  if (asked.empty()) return "";
  return asked + "()." + std::string(context.token_at(tree[callee].last_token));
}

bool matches(std::string_view name, std::string_view talker) {
  if (talker.ends_with(".*")) {
    talker.remove_suffix(1);
    return name.starts_with(talker) && name.find('.', talker.size()) == std::string_view::npos;
  }
  return name == talker;
}

}  // namespace

// What is assigned here is written back after the graph.
bool is_fixed_global(const Tree& tree, const Scopes& scopes, NodeId id) {
  while (tree.kind(id) == NodeKind::Attribute || tree.kind(id) == NodeKind::Call) id = tree.first_child(id);
  const SymbolId symbol = scopes.symbol(id);
  if (!symbol) return false;
  const Symbol& found = scopes[symbol];
  if (found.scope == Scopes::module()) return true;
  if (!found.is_global() || found.has(symbol_flag::kBound)) return false;
  // What another function may bind anew while this one runs.
  const auto sites = found.binding ? scopes.sites(found.binding) : std::span<const NodeId>();
  return std::all_of(sites.begin(), sites.end(),
                     [&](NodeId site) { return scopes.scope_of(site) == Scopes::module(); });
}

static Talks call_talks(const MendContext& context, const Scopes& scopes, NodeId call) {
  const Tree& tree = context.tree;
  if (tree.kind(call) != NodeKind::Call) return Talks::No;
  NodeId callee = tree.first_child(call);
  const std::string name = name_of(context, callee);
  if (name.empty()) return Talks::No;
  const std::vector<std::string>& talkers = context.request.talkers;
  const auto is_talker = [&](std::string_view asked) {
    return std::any_of(talkers.begin(), talkers.end(),
                       [asked](std::string_view talker) { return matches(asked, talker); });
  };
  if (is_talker("!" + name) || tells_of_exception(context, call)) return Talks::No;
  if (is_talker(name) && is_fixed_global(tree, scopes, callee)) return Talks::ByName;
  const size_t dot = name.rfind('.');
  const bool asks = dot != std::string::npos && name[dot - 1] != ')' && is_talker(name.substr(dot));
  return asks ? Talks::ByReceiver : Talks::No;
}

Talks talks(const MendContext& context, const Scopes& scopes, NodeId statement) {
  const Tree& tree = context.tree;
  if (tree.kind(statement) != NodeKind::ExprStatement) return Talks::No;
  return call_talks(context, scopes, tree.first_child(statement));
}

std::vector<NodeId> prints_in_lambdas(const MendContext& context, const Scopes& scopes, NodeId statement) {
  const Tree& tree = context.tree;
  std::vector<NodeId> found;
  for (NodeId id = statement; id < tree.end_of(statement); ++id) {
    if (tree.kind(id) != NodeKind::Lambda) continue;
    const NodeId body = LambdaView(tree, id).body;
    const bool is_print = body && call_talks(context, scopes, body) == Talks::ByName &&
                          context.text_of(tree.first_child(body)) == "print" && !scopes.binding(tree.first_child(body));
    if (is_print) found.push_back(body);
  }
  return found;
}

}  // namespace graphmend

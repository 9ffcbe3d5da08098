// An import that may fail. In: `import x` in a `try` that deals with it. Out: `imports(site, 'x');` before it.
// The handlers must not look at the exception: they bind no name, raise nothing, and do not ask for it.
#include "mend/substitute_import.h"

#include <algorithm>
#include <array>

namespace graphmend {

namespace {

bool is_import_error(const MendContext& context, NodeId type) {
  static constexpr std::array<std::string_view, 3> kNames = {"ImportError", "ModuleNotFoundError", "Exception"};
  return std::find(kNames.begin(), kNames.end(), context.text_of(type)) != kNames.end();
}

// One of the names, or a tuple with one of them.
bool catches_import_error(const MendContext& context, NodeId type) {
  if (context.tree.kind(type) != NodeKind::Tuple) return is_import_error(context, type);
  for (NodeId element : context.tree.children(type)) {
    if (is_import_error(context, element)) return true;
  }
  return false;
}

bool looks_at_exception(const MendContext& context, NodeId handler) {
  static constexpr std::array<std::string_view, 7> kWords = {"raise",      "exc_info",  "exception", "last_exc",
                                                             "format_exc", "print_exc", "yield"};
  const Node& node = context.tree[handler];
  if ((node.flags & node_flag::kHasName) != 0) return true;
  for (TokenId token = node.first_token; token <= node.last_token; ++token) {
    if (std::find(kWords.begin(), kWords.end(), context.token_at(token)) != kWords.end()) return true;
  }
  return false;
}

// Whether the `try` around the statement deals with an ImportError, in its first handler, and nobody sees it.
bool is_dealt_with(const MendContext& context, NodeId statement) {
  const Tree& tree = context.tree;
  NodeId body = tree.parent(statement);
  NodeId around = body ? tree.parent(body) : NodeId();
  if (!around || tree.kind(around) != NodeKind::Try || tree.first_child(around) != body) return false;
  if ((tree[around].flags & node_flag::kStar) != 0) return false;
  bool is_first = true;
  for (NodeId part : tree.children(around)) {
    if (tree.kind(part) == NodeKind::Finally) return false;
    if (tree.kind(part) != NodeKind::ExceptHandler) continue;
    NodeId type = tree.first_child(part);
    const bool has_type = tree.kind(type) != NodeKind::Body;
    if (is_first && has_type && !catches_import_error(context, type)) return false;
    if (looks_at_exception(context, part)) return false;
    is_first = false;
  }
  return !is_first;
}

// The first part of the module's name; nothing for several modules and for what is relative.
std::string_view outermost_module(const MendContext& context, NodeId statement) {
  const Tree& tree = context.tree;
  if ((tree[statement].flags & node_flag::kLazy) != 0) return {};
  if (tree.kind(statement) == NodeKind::ImportFrom) {
    const std::string_view name = context.token_at(tree[statement].first_token + 1);
    return name.starts_with(".") ? std::string_view() : name;
  }
  NodeId alias = tree.first_child(statement);
  return tree.end_of(alias) == tree.end_of(statement) ? context.token_at(tree[alias].first_token) : std::string_view();
}

}  // namespace

std::optional<Substituted> substitute_import(const MendContext& context, NodeId statement) {
  const std::string_view name = outermost_module(context, statement);
  if (name.empty() || !is_dealt_with(context, statement)) return std::nullopt;
  const Span span = context.span(statement);
  const Span before = {span.start, span.start};
  Substituted made{PieceText(context.text), before, context.site(statement, "substitute")};
  made.text.add("__graphmend__.imports('" + made.site + "', '" + std::string(name) + "'); ", span);
  return made;
}

}  // namespace graphmend

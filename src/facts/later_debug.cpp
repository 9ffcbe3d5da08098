// The name `__debug__`, which nothing may bind. In: all nodes that bind names. Out: errors.
// A file that does not mention it is done after one search of its text.
#include <algorithm>

#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr std::string_view kDebug = "__debug__";

}  // namespace

bool LaterErrors::mentions_debug() const {
  if (text_.find(kDebug) != std::string_view::npos) return true;
  // Other characters that normalise to it.
  const bool ascii = std::all_of(text_.begin(), text_.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (ascii) return false;
  return std::any_of(tokens_.all.begin(), tokens_.all.end(), [this](const Token& token) {
    if (token.kind != TokenKind::Name || !(token.flags & name_flag::kNotAscii)) return false;
    return identifier_text(text_, token) == kDebug;
  });
}

// The name that the node binds by itself, if any.
TokenId LaterErrors::bound_name(NodeId id) {
  const Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::Name:
      if (node.context() == Context::Load) return TokenId();
      // `(x): int` alone binds nothing; since 3.14 nobody looks at it.
      if (target_.minor >= 14 && tree_.kind(tree_.parent(id)) == NodeKind::AnnAssign) {
        const Node& statement = tree_[tree_.parent(id)];
        if (!statement.has(node_flag::kSimple) && !statement.has_optional(0)) return TokenId();
      }
      return node.first_token;
    case NodeKind::Attribute:
      if (node.context() == Context::Load) return TokenId();
      // Until 3.13 the compiler forgot about `a.__debug__ += 1`, and about annotations without a value.
      if (target_.minor < 14 && tree_.kind(tree_.parent(id)) == NodeKind::AugAssign) return TokenId();
      if (tree_.kind(tree_.parent(id)) == NodeKind::AnnAssign && target_.minor < 14 &&
          !tree_[tree_.parent(id)].has_optional(0)) {
        return TokenId();
      }
      return node.last_token;
    case NodeKind::Alias:
      return node.has(node_flag::kHasName) ? node.last_token : node.first_token;
    case NodeKind::FunctionDef:
    case NodeKind::ClassDef:
    case NodeKind::Parameter:
    case NodeKind::Keyword:
    case NodeKind::KeywordPattern:
    case NodeKind::TypeVar:
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
    case NodeKind::ExceptHandler:
    case NodeKind::MatchAs:
    case NodeKind::MatchStar:
    case NodeKind::MatchRest:
      return name_token(tree_, tokens_, id);
    default:
      return TokenId();
  }
}

void LaterErrors::check_debug() {
  ScopeWalk walk(tree_, tokens_, target_, future_annotations_, true);
  const NodeId end(tree_.size());
  for (NodeId id = Tree::root(); id < end; ++id) {
    walk.advance(id);
    walk.enter(id);
    // Since 3.14 the symbol table looks at it, and so at annotations that are not compiled.
    if (target_.minor < 14 && !walk.here().compiled) continue;
    TokenId token = bound_name(id);
    if (!token || tokens_[token].kind != TokenKind::Name || names_.plain(token) != kDebug) continue;
    const bool deleted = (tree_.kind(id) == NodeKind::Name || tree_.kind(id) == NodeKind::Attribute) &&
                         tree_[id].context() == Context::Delete;
    report(token, deleted ? "`__debug__` cannot be deleted" : "`__debug__` cannot be assigned");
  }
}

}  // namespace graphmend

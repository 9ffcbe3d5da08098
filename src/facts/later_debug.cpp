// The name `__debug__`, which nothing may bind. In: all nodes that bind names. Out: errors.
// A file that does not mention it is done after one search of its text.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr std::string_view kDebug = "__debug__";

constexpr size_t kBlock = 4096;

// Whether `bug_` stands somewhere in the block; the byte-wise tests become vector instructions.
bool may_hold_debug(const char* block) {
  uint8_t found = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    found |=
        static_cast<uint8_t>((block[i] == 'b') & (block[i + 1] == 'u') & (block[i + 2] == 'g') & (block[i + 3] == '_'));
  }
  return found != 0;
}

// A search by the first byte would stop at each underscore of the file.
bool contains_debug(std::string_view text) {
  size_t at = 0;
  for (; at + kBlock + kDebug.size() <= text.size(); at += kBlock) {
    if (!may_hold_debug(text.data() + at)) continue;
    size_t from = at < kDebug.size() ? 0 : at - kDebug.size();
    if (text.substr(from, kBlock + 2 * kDebug.size()).find(kDebug) != std::string_view::npos) return true;
  }
  size_t from = at < kDebug.size() ? 0 : at - kDebug.size();
  return text.find(kDebug, from) != std::string_view::npos;
}

bool is_ascii(std::string_view text) {
  uint64_t all = 0;
  size_t i = 0;
  for (; i + sizeof all <= text.size(); i += sizeof all) {
    uint64_t eight;
    std::memcpy(&eight, text.data() + i, sizeof eight);
    all |= eight;
  }
  for (; i < text.size(); ++i) all |= static_cast<uint8_t>(text[i]);
  return (all & 0x8080808080808080) == 0;
}

}  // namespace

bool LaterErrors::mentions_debug() const {
  if (contains_debug(text_)) return true;
  // Other characters that normalise to it.
  if (is_ascii(text_)) return false;
  return std::any_of(tokens_.all.begin(), tokens_.all.end(), [this](const Token& token) {
    if (token.kind != TokenKind::Name || !(token.flags & name_flag::kNotAscii)) return false;
    return identifier_text(text_, token) == kDebug;
  });
}

// The name that the node binds by itself, if any.
TokenId LaterErrors::bound_name(NodeId id) {
  const Node& node = tree_[id];
  const bool between_9_and_13 = target_.minor >= 9 && target_.minor <= 13;
  switch (node.kind) {
    case NodeKind::Name:
      if (node.context() == Context::Load) return TokenId();
      if (node.context() == Context::Delete && target_.minor < 10) return TokenId();
      // `(x): int` alone binds nothing; since 3.14 nobody looks at it.
      if (target_.minor >= 14 && tree_.kind(tree_.parent(id)) == NodeKind::AnnAssign) {
        const Node& statement = tree_[tree_.parent(id)];
        if (!statement.has(node_flag::kSimple) && !statement.has_optional(0)) return TokenId();
      }
      return node.first_token;
    case NodeKind::Attribute:
      if (node.context() == Context::Load) return TokenId();
      // Until 3.13 the compiler forgot about `a.__debug__ += 1` and `del a.__debug__`.
      if (target_.minor < 14 && node.context() == Context::Delete) return TokenId();
      if (between_9_and_13 && tree_.kind(tree_.parent(id)) == NodeKind::AugAssign) return TokenId();
      return node.last_token;
    case NodeKind::Alias:
      if (node.has(node_flag::kHasName)) return node.last_token;
      // `import a.b` binds `a`, which 3.8 forgot.
      return target_.minor == 8 && node.first_token != node.last_token ? TokenId() : node.first_token;
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
    // The compiler does not see annotations that it makes no code of. The symbol table does, which has this rule since
    // 3.14, and so did the parser of 3.8.
    if (target_.minor >= 9 && target_.minor <= 13 && !walk.here().compiled) continue;
    TokenId token = bound_name(id);
    if (!token || tokens_[token].kind != TokenKind::Name || names_.plain(token) != kDebug) continue;
    const bool deleted = (tree_.kind(id) == NodeKind::Name || tree_.kind(id) == NodeKind::Attribute) &&
                         tree_[id].context() == Context::Delete;
    report(token, deleted ? "`__debug__` cannot be deleted" : "`__debug__` cannot be assigned");
  }
}

}  // namespace graphmend

// Names that are tokens. In: Tree, Tokens, text. Out: name tokens, identifiers, module names.
// Tokens are looked for only within the node's own range, so that nodes cut short by syntax errors do no harm.
#include "parse/views.h"

#include "source/unicode.h"

namespace graphmend {

namespace {

TokenId only_name(const Tokens& tokens, TokenId token) {
  return token && token.index < tokens.size() && tokens[token].kind == TokenKind::Name ? token : TokenId();
}

TokenId name_after(const Tokens& tokens, TokenId token, TokenId last) {
  TokenId next = next_code_token(tokens, token);
  return next <= last ? only_name(tokens, next) : TokenId();
}

}  // namespace

TokenId next_code_token(const Tokens& tokens, TokenId token) {
  while (token.index + 1 < tokens.size()) {
    ++token;
    if (tokens[token].kind != TokenKind::Comment) break;
  }
  return token;
}

TokenId definition_token(const Tree& tree, const Tokens& tokens, NodeId id) {
  const Node& node = tree[id];
  TokenId token = node.first_token;
  // After the last decorator come only closing parentheses, comments and line ends.
  for (NodeId child : tree.children(id)) {
    if (tree.kind(child) != NodeKind::Decorator) break;
    token = tree[child].last_token;
  }
  for (TokenId t = token; t <= node.last_token; ++t) {
    TokenKind kind = tokens[t].kind;
    if (kind == TokenKind::Def || kind == TokenKind::Class || kind == TokenKind::Async) return t;
  }
  return node.first_token;
}

TokenId name_token(const Tree& tree, const Tokens& tokens, NodeId id) {
  const Node& node = tree[id];
  switch (node.kind) {
    case NodeKind::FunctionDef:
    case NodeKind::ClassDef: {
      TokenId keyword = definition_token(tree, tokens, id);
      if (tokens[keyword].kind == TokenKind::Async) keyword = next_code_token(tokens, keyword);
      return name_after(tokens, keyword, node.last_token);
    }
    case NodeKind::Name:
    case NodeKind::Identifier:
    case NodeKind::Parameter:
    case NodeKind::TypeVar:
    case NodeKind::KeywordPattern:
      return only_name(tokens, node.first_token);
    case NodeKind::Keyword:
      return node.has(node_flag::kDoubleStar) ? TokenId() : only_name(tokens, node.first_token);
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
      return name_after(tokens, node.first_token, node.last_token);
    case NodeKind::Attribute:
    case NodeKind::MatchRest:
    case NodeKind::MatchStar:
    case NodeKind::MatchAs:
      return only_name(tokens, node.last_token);
    case NodeKind::Alias:
      return node.has(node_flag::kHasName) ? only_name(tokens, node.last_token) : TokenId();
    case NodeKind::ExceptHandler: {
      if (!node.has(node_flag::kHasName)) return TokenId();
      NodeId body = ExceptHandlerView(tree, id).body;
      if (!body) return TokenId();
      TokenId token = tree[body].first_token;
      while (token > node.first_token) {
        token = token - 1;
        if (tokens[token].kind != TokenKind::Comment) break;
      }
      return only_name(tokens, token);
    }
    default:
      return TokenId();
  }
}

std::string identifier_text(std::string_view text, const Token& token) {
  std::string_view spelling = token.span().in(text);
  bool not_ascii = token.kind == TokenKind::Name && (token.flags & name_flag::kNotAscii) != 0;
  return not_ascii ? nfkc(spelling) : std::string(spelling);
}

std::string alias_name(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id) {
  const Node& node = tree[id];
  std::string name;
  for (TokenId t = node.first_token; t <= node.last_token; ++t) {
    TokenKind kind = tokens[t].kind;
    if (kind == TokenKind::As) break;
    if (kind != TokenKind::Comment) name += identifier_text(text, tokens[t]);
  }
  return name;
}

ImportModule import_module(std::string_view text, const Tree& tree, const Tokens& tokens, NodeId id) {
  const Node& node = tree[id];
  ImportModule module;
  TokenId t = node.first_token;
  while (t < node.last_token && tokens[t].kind != TokenKind::From) ++t;
  for (++t; t <= node.last_token && tokens[t].kind != TokenKind::Import; ++t) {
    TokenKind kind = tokens[t].kind;
    if (kind == TokenKind::Name || !module.name.empty()) {
      module.name += identifier_text(text, tokens[t]);
    } else if (kind == TokenKind::Dot) {
      module.level += 1;
    } else if (kind == TokenKind::Ellipsis) {
      module.level += 3;
    }
  }
  return module;
}

}  // namespace graphmend

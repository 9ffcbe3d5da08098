// What `from __future__` imports switch on. In: text, Tokens, Tree, version. Out: which statements are such imports.
#include "facts/future_imports.h"

#include "parse/views.h"

namespace graphmend {

namespace {

bool is_dots(TokenKind kind) { return kind == TokenKind::Dot || kind == TokenKind::Ellipsis; }

}  // namespace

bool is_future_import(std::string_view text, const Tokens& tokens, const Tree& tree, NodeId statement, Version target) {
  if (tree.kind(statement) != NodeKind::ImportFrom) return false;
  TokenId token = tree[statement].first_token;
  const TokenId last = tree[statement].last_token;
  while (token < last && tokens[token].kind != TokenKind::From) ++token;
  token = next_code_token(tokens, token);
  // Before 3.13 nobody looked at the dots.
  while (target.minor < 13 && token < last && is_dots(tokens[token].kind)) token = next_code_token(tokens, token);
  if (token > last || tokens[token].kind != TokenKind::Name) return false;
  if (identifier_text(text, tokens[token]) != "__future__") return false;
  return tokens[next_code_token(tokens, token)].kind == TokenKind::Import;
}

bool is_docstring(const Tree& tree, const Tokens& tokens, NodeId statement) {
  if (tree.kind(statement) != NodeKind::ExprStatement) return false;
  NodeId value = tree.first_child(statement);
  if (!value) return false;
  NodeId part = value;
  if (tree.kind(value) == NodeKind::Strings) {
    for (NodeId string : tree.children(value)) {
      if (tree.kind(string) != NodeKind::String) return false;
    }
    part = tree.first_child(value);
  }
  return tree.kind(part) == NodeKind::String && !(tokens[tree[part].first_token].flags & string_flag::kBytes);
}

bool has_future_annotations(std::string_view text, const Tokens& tokens, const Tree& tree, Version target) {
  bool first = true;
  for (NodeId statement : tree.children(Tree::root())) {
    if (is_future_import(text, tokens, tree, statement, target)) {
      for (NodeId alias : tree.children(statement)) {
        if (tree.kind(alias) == NodeKind::Alias && alias_name(text, tree, tokens, alias) == "annotations") return true;
      }
    } else if (!first || !is_docstring(tree, tokens, statement)) {
      break;
    }
    first = false;
  }
  return false;
}

}  // namespace graphmend

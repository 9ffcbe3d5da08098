// What must hold for any text. In: text, tokens, tree, errors. Out: nothing, or a trap that libFuzzer reports.
// A failed check prints what was wrong and where; the input that did it is saved by libFuzzer.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "lex/token.h"
#include "parse/tree.h"

namespace graphmend::fuzz {

inline void require(bool holds, const char* what, uint32_t place) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s, at %u\n", what, place);
  std::abort();
}

// White space, line ends, and backslashes that continue a line: all that may stand between tokens.
inline void check_gap(std::string_view text, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r';
    const bool continuation = c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
    require(blank || continuation, "a gap holds more than white space", i);
  }
}

// Tokens stand in order, inside the text, and with their gaps give it back.
inline void check_tokens(std::string_view text, const Tokens& tokens) {
  require(tokens.size() > 0, "no tokens", 0);
  uint32_t at = 0;
  uint32_t open_blocks = 0;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[TokenId(i)];
    require(token.start >= at, "tokens overlap", i);
    require(token.end >= token.start && token.end <= text.size(), "a token lies outside of the text", i);
    require((token.kind == TokenKind::EndOfFile) == (i + 1 == tokens.size()), "the end of the file is elsewhere", i);
    const bool layout = token.kind == TokenKind::Newline || token.kind == TokenKind::Indent ||
                        token.kind == TokenKind::Dedent || token.kind == TokenKind::EndOfFile;
    require(layout || token.end > token.start || token.kind == TokenKind::FStringEnd, "an empty token", i);
    if (token.kind == TokenKind::Indent) ++open_blocks;
    if (token.kind == TokenKind::Dedent) require(open_blocks-- > 0, "a dedent without an indent", i);
    check_gap(text, at, token.start);
    at = token.end;
  }
  require(open_blocks == 0, "an indent without a dedent", 0);
  require(at == text.size(), "text behind the last token", at);
}

inline void check_errors(std::string_view text, const Diagnostics& errors) {
  for (const Diagnostic& error : errors) {
    require(error.span.start <= error.span.end && error.span.end <= text.size(), "an error outside of the text",
            error.span.start);
    require(!error.message.empty(), "an error without a message", error.span.start);
  }
}

// A decorator stands before the function or class it belongs to, as in CPython's tree.
inline bool lies_before_parent(NodeKind kind) { return kind == NodeKind::Decorator; }

inline void check_children(const Tree& tree, NodeId id, bool is_clean) {
  const Node& node = tree[id];
  uint32_t sum = 1;
  TokenId before;
  for (NodeId child : tree.children(id)) {
    const Node& inner = tree[child];
    require(tree.parent(child) == id, "a child has another parent", child.index);
    sum += inner.size;
    require(sum <= node.size, "a child reaches beyond its parent", child.index);
    if (before) require(inner.first_token >= before, "siblings out of order", child.index);
    before = is_clean ? inner.last_token + 1 : inner.first_token;
    // After an error a node may have nothing to cover, and then covers a token that is not its parent's.
    if (!is_clean || lies_before_parent(inner.kind)) continue;
    require(inner.first_token >= node.first_token && inner.last_token <= node.last_token,
            "a child's tokens are not its parent's", child.index);
  }
  require(sum == node.size, "children do not add up", id.index);
}

// Sizes, parents and tokens of all nodes fit together; `is_clean` when there was no syntax error.
inline void check_tree(const Tree& tree, const Tokens& tokens, bool is_clean) {
  require(tree.size() > 0 && tree[Tree::root()].size == tree.size(), "the root is not the whole tree", 0);
  require(tree.kind(Tree::root()) == NodeKind::Module, "the root is no module", 0);
  require(!tree.parent(Tree::root()), "the root has a parent", 0);
  // `x` on a line of its own makes Name and ExprStatement from a name and a newline; nothing makes more.
  require(tree.size() <= 3 * tokens.size(), "more nodes than the tokens can make", tree.size());
  for (NodeId id = Tree::root(); id.index < tree.size(); ++id) {
    const Node& node = tree[id];
    require(node.first_token <= node.last_token && node.last_token.index < tokens.size(), "a node without tokens",
            id.index);
    const bool is_error = node.kind == NodeKind::ErrorStatement || node.kind == NodeKind::ErrorExpression;
    require(!is_clean || !is_error, "an error in the tree that was not reported", id.index);
    check_children(tree, id, is_clean);
  }
}

}  // namespace graphmend::fuzz

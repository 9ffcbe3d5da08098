// What every mend looks at. In: text, tokens, tree, request. Out: small questions about nodes.
#pragma once

#include <string>
#include <string_view>

#include "mend/mend.h"
#include "parse/tree.h"
#include "parse/views.h"

namespace graphmend {

struct MendContext {
  std::string_view text;
  const Tokens& tokens;
  const Tree& tree;
  const MendRequest& request;

  Span span(NodeId id) const { return node_span(tree, tokens, id); }
  std::string_view text_of(NodeId id) const { return span(id).in(text); }
  std::string_view token_at(TokenId id) const { return tokens[id].span().in(text); }

  NodeId enclosing(NodeId id, NodeKind kind) const {
    do {
      id = tree.parent(id);
    } while (id && tree.kind(id) != kind);
    return id;
  }

  // "a.b.c" of a Name or a chain of attributes on one; nothing for anything else.
  std::string dotted_name(NodeId id) const {
    std::string name;
    while (tree.kind(id) == NodeKind::Attribute) {
      name = "." + std::string(token_at(tree[id].last_token)) + name;
      id = tree.first_child(id);
    }
    if (tree.kind(id) != NodeKind::Name) return "";
    return std::string(token_at(tree[id].first_token)) + name;
  }

  // Names file, place and kind of mend: the same site always stands for the same text.
  std::string site(NodeId id, std::string_view kind) const;
};

}  // namespace graphmend

// What every mend looks at. In: text, tokens, tree, request. Out: small questions about nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

  // The nodes of a function, without those of functions and classes inside of it.
  std::vector<NodeId> own_nodes(NodeId function) const {
    std::vector<NodeId> nodes;
    for (NodeId id = function + 1; id < tree.end_of(function);) {
      const NodeKind kind = tree.kind(id);
      const bool is_another = kind == NodeKind::FunctionDef || kind == NodeKind::ClassDef || kind == NodeKind::Lambda;
      if (!is_another) nodes.push_back(id);
      id = is_another ? tree.end_of(id) : id + 1;
    }
    return nodes;
  }

  // Whether it asks for the truth of its first part, and may be mended as a whole.
  bool is_test(NodeId id) const {
    const NodeKind kind = tree.kind(id);
    return kind == NodeKind::If || kind == NodeKind::Elif || kind == NodeKind::Assert;
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

// The making of Uses. In: Tree, Tokens, text, Cfg, Scopes. Out: what each element does with names, one after the other.
// A stack of steps stands for recursion: expressions can be a million levels deep. Parts that run only sometimes are
// bracketed by Open and Close; a name written inside is written for sure only up to the Close.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "facts/uses.h"

namespace graphmend {

class UsesBuilder {
 public:
  UsesBuilder(std::string_view text, const Tokens& tokens, const Tree& tree, const Cfg& cfg, const Scopes& scopes);
  Uses build();

 private:
  enum class Do : uint8_t { Visit, Read, Bind, Remove, Open, Close, Share, ReadAll, ReadSelf };
  struct Step {
    Do what;
    NodeId node;
  };

  bool is_ours(NodeId node) const { return out_.variables_.contains(scopes_.binding(node)); }
  size_t place(SymbolId variable) const { return out_.variables_.place(variable); }
  std::string_view word(TokenId token) const { return tokens_[token].span().in(text_); }

  // uses.cpp: steps and events
  void element(const Element& element);
  void plan(Do what, NodeId node) { plan_.push_back({what, node}); }
  void visit(NodeId node) {
    if (node) plan(Do::Visit, node);
  }
  void visit_children(NodeId node) {
    for (NodeId child : tree_.children(node)) visit(child);
  }
  void run();
  void take_plan();
  void perform(Step step);
  void emit(SymbolId variable, NodeId node, UseKind kind);
  void read(NodeId node);
  void write(NodeId node);
  void remove(NodeId node);
  void forget();
  void share(NodeId node);
  bool is_walrus_target(NodeId id) const;

  // uses_nodes.cpp: the steps of each kind of node
  void expand(NodeId id);
  void name(NodeId id);
  void definition(NodeId id);
  void comprehension(NodeId id);
  void call(NodeId id);
  bool is_consumed_at_once(NodeId generator) const;
  void pattern(NodeId id);
  void parameters(NodeId id);

  std::string_view text_;
  const Tokens& tokens_;
  const Tree& tree_;
  const Cfg& cfg_;
  const Scopes& scopes_;
  Uses out_;
  std::vector<Step> steps_;
  std::vector<Step> plan_;
  // Names written for sure so far, and where the open brackets began.
  std::vector<SymbolId> definite_;
  std::vector<bool> is_definite_;
  std::vector<size_t> marks_;
  bool patterns_bind_ = false;
};

}  // namespace graphmend

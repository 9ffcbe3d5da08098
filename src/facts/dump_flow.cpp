// Control flow and liveness as text. In: text, Tokens, Tree, Scopes. Out: one line for each element or statement.
#include "facts/dump_flow.h"

#include <algorithm>
#include <vector>

#include "facts/cfg.h"
#include "facts/definitions.h"
#include "facts/liveness.h"
#include "facts/uses.h"
#include "parse/views.h"
#include "source/line_index.h"

namespace graphmend {

namespace {

class FlowDump {
 public:
  FlowDump(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes)
      : text_(text), tokens_(tokens), tree_(tree), scopes_(scopes), lines_(text) {}

  template <class Body>
  std::string run(Body body) {
    for (NodeId id = Tree::root(); id.index < tree_.size(); ++id) {
      const NodeKind kind = tree_.kind(id);
      if (kind != NodeKind::Module && kind != NodeKind::FunctionDef && kind != NodeKind::ClassDef) continue;
      title(id);
      const Cfg cfg = compute_cfg(tree_, tokens_, id, text_);
      const Uses uses = compute_uses(text_, tokens_, tree_, cfg, scopes_);
      (this->*body)(cfg, uses);
    }
    return std::move(out_);
  }

  void flow(const Cfg& cfg, const Uses& uses) {
    const Definitions definitions = compute_definitions(cfg, uses);
    for (BlockId id(0); id.index < cfg.block_count(); ++id) {
      const Block& block = cfg[id];
      out_ += "  block " + std::to_string(id.index);
      if (id == cfg.exit()) out_ += " exit";
      if (id == cfg.raise_exit()) out_ += " raise";
      if (!cfg.reachable(id)) out_ += " unreachable";
      out_ += '\n';
      for (ElementId e = block.first; e < block.end; ++e) element(cfg, uses, definitions, e);
      edges(cfg, id);
    }
  }

  void liveness(const Cfg& cfg, const Uses& uses) {
    const Liveness live = compute_liveness(tree_, cfg, uses);
    NodeId id = cfg.owner() + 1;
    while (id < tree_.end_of(cfg.owner())) {
      if (!cfg.entries(id).empty()) statement(live, id);
      const NodeKind kind = tree_.kind(id);
      const bool opaque = kind == NodeKind::FunctionDef || kind == NodeKind::ClassDef ||
                          node_group(kind) == NodeGroup::Expression || node_group(kind) == NodeGroup::Pattern;
      id = opaque ? tree_.end_of(id) : id + 1;
    }
  }

 private:
  std::string place(NodeId id) const {
    const Position position = lines_.position(tokens_[tree_[id].first_token].start);
    return std::to_string(position.line) + ':' + std::to_string(position.column);
  }

  void title(NodeId id) {
    const TokenId name = name_token(tree_, tokens_, id);
    switch (tree_.kind(id)) {
      case NodeKind::FunctionDef:
        out_ += "function ";
        break;
      case NodeKind::ClassDef:
        out_ += "class ";
        break;
      default:
        out_ += "module\n";
        return;
    }
    if (name) out_ += tokens_[name].span().in(text_);
    out_ += ' ' + place(id) + '\n';
  }

  void element(const Cfg& cfg, const Uses& uses, const Definitions& definitions, ElementId id) {
    const Element& element = cfg[id];
    out_ += "    " + place(element.node) + ' ';
    out_ += element_kind_name(element.kind);
    out_ += ' ';
    out_ += node_name(tree_.kind(element.node));
    changes(uses, id);
    reads(uses, definitions, id);
    if (!element.may_raise) out_ += "; cannot raise";
    out_ += '\n';
  }

  void changes(const Uses& uses, ElementId id) {
    const char* before = " ";
    for (const Use& use : uses.at(id)) {
      if (!is_change(use.kind)) continue;
      const bool deletes = use.kind == UseKind::Delete || use.kind == UseKind::MaybeDelete;
      out_ += before;
      if (!is_kill(use.kind)) out_ += "maybe ";
      if (deletes) out_ += "del ";
      out_ += scopes_.name(use.variable);
      before = ", ";
    }
  }

  void reads(const Uses& uses, const Definitions& definitions, ElementId id) {
    for (const Use& use : uses.at(id)) {
      if (!is_read(use.kind)) continue;
      out_ += "; " + place(use.node) + (use.kind == UseKind::Capture ? " shares " : " ");
      out_ += scopes_.name(use.variable);
      // Copies of one definition have one name.
      std::vector<std::string> found;
      for (DefinitionId reaching : definitions.reaching(use.node)) {
        if (definitions[reaching].variable == use.variable) found.push_back(definition_name(definitions[reaching]));
      }
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      const char* before = " from ";
      for (const std::string& definition : found) {
        out_ += before + definition;
        before = " or ";
      }
    }
  }

  std::string definition_name(const Definition& definition) const {
    switch (definition.kind) {
      case DefinitionKind::Unbound:
        return "unbound";
      case DefinitionKind::Parameter:
        return "entry";
      case DefinitionKind::Delete:
        return "del@" + place(definition.node);
      case DefinitionKind::Closure:
        return "closure@" + place(definition.node);
      case DefinitionKind::Write:
        break;
    }
    return place(definition.node);
  }

  void edges(const Cfg& cfg, BlockId id) {
    static constexpr std::string_view kNames[] = {"", " true", " false", " raised", " returned"};
    std::string line;
    for (const Edge& edge : cfg.edges(id)) {
      line += line.empty() ? "-> " : ", ";
      line += std::to_string(edge.to.index);
      line += kNames[static_cast<size_t>(edge.kind)];
    }
    if (cfg[id].on_raise) line += (line.empty() ? "" : "; ") + ("raise -> " + std::to_string(cfg[id].on_raise.index));
    if (!line.empty()) out_ += "    " + line + '\n';
  }

  void list(std::string_view label, const Variables& variables) {
    out_ += " | ";
    out_ += label;
    out_ += ':';
    for (SymbolId variable : variables) {
      out_ += ' ';
      out_ += scopes_.name(variable);
    }
  }

  void statement(const Liveness& live, NodeId id) {
    out_ += "  " + place(id) + ' ';
    out_ += node_name(tree_.kind(id));
    list("in", live.live_in(id));
    list("out", live.live_out(id));
    list("raise", live.live_on_raise(id, id));
    list("reads", live.reads(id, id));
    list("needs", live.needs(id, id));
    list("may", live.may_assign(id, id));
    list("must", live.must_assign(id, id));
    out_ += '\n';
  }

  std::string_view text_;
  const Tokens& tokens_;
  const Tree& tree_;
  const Scopes& scopes_;
  LineIndex lines_;
  std::string out_;
};

}  // namespace

std::string dump_flow(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes) {
  return FlowDump(text, tokens, tree, scopes).run(&FlowDump::flow);
}

std::string dump_liveness(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes) {
  return FlowDump(text, tokens, tree, scopes).run(&FlowDump::liveness);
}

}  // namespace graphmend

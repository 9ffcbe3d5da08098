// For tests of data flow. In: text of a module. Out: its facts, and statements found by their line.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "facts/cfg.h"
#include "facts/definitions.h"
#include "facts/liveness.h"
#include "facts/scopes.h"
#include "facts/uses.h"
#include "lex/lexer.h"
#include "parse/parser.h"
#include "source/line_index.h"

namespace graphmend {

struct ParsedModule {
  std::string text;
  Tokens tokens;
  Tree tree;
  Scopes scopes;

  explicit ParsedModule(std::string source) : text(std::move(source)) {
    LexResult lexed = lex(text);
    tokens = std::move(lexed.tokens);
    tree = parse(text, tokens).tree;
    scopes = compute_scopes(text, tokens, tree);
  }

  uint32_t line_of(NodeId id) const { return LineIndex(text).position(tokens[tree[id].first_token].start).line; }

  // The outermost statement that begins on that line.
  NodeId statement(uint32_t line) const {
    for (NodeId id(1); id.index < tree.size(); ++id) {
      if (node_group(tree.kind(id)) == NodeGroup::Statement && line_of(id) == line) return id;
    }
    return NodeId();
  }
  // The `nth` Name of that spelling on a line, from 0.
  NodeId name(uint32_t line, std::string_view spelled, unsigned nth = 0) const {
    for (NodeId id(1); id.index < tree.size(); ++id) {
      if (tree.kind(id) != NodeKind::Name || line_of(id) != line) continue;
      if (node_span(tree, tokens, id).in(text) == spelled && nth-- == 0) return id;
    }
    return NodeId();
  }
  NodeId first_function() const {
    for (NodeId id(1); id.index < tree.size(); ++id) {
      if (tree.kind(id) == NodeKind::FunctionDef) return id;
    }
    return NodeId();
  }
};

// The flow of the first function of a module.
struct FunctionFlow {
  ParsedModule module;
  Cfg cfg;
  Uses uses;
  Definitions definitions;
  Liveness liveness;

  explicit FunctionFlow(std::string source)
      : module(std::move(source)),
        cfg(compute_cfg(module.tree, module.tokens, module.first_function(), module.text)),
        uses(compute_uses(module.text, module.tokens, module.tree, cfg, module.scopes)),
        definitions(compute_definitions(cfg, uses)),
        liveness(compute_liveness(module.tree, cfg, uses)) {}
  // The facts point at each other.
  FunctionFlow(const FunctionFlow&) = delete;
  FunctionFlow& operator=(const FunctionFlow&) = delete;

  NodeId at(uint32_t line) const { return module.statement(line); }
  std::string names(const Variables& variables) const {
    std::vector<std::string> found;
    for (SymbolId variable : variables) found.emplace_back(module.scopes.name(variable));
    std::sort(found.begin(), found.end());
    std::string text;
    for (const std::string& name : found) text += (text.empty() ? "" : " ") + name;
    return text;
  }
  std::string live_in(uint32_t line) const { return names(liveness.live_in(at(line))); }
  std::string live_out(uint32_t line) const { return names(liveness.live_out(at(line))); }
  std::string needs(uint32_t first, uint32_t last) const { return names(liveness.needs(at(first), at(last))); }
  std::string must(uint32_t first, uint32_t last) const { return names(liveness.must_assign(at(first), at(last))); }
  std::string may(uint32_t first, uint32_t last) const { return names(liveness.may_assign(at(first), at(last))); }

  // Lines of the definitions that reach a name, with `unbound`, `entry`, `del …` and `closure …` for the others.
  std::string reaching(uint32_t line, std::string_view spelled, unsigned nth = 0) const {
    std::vector<std::string> found;
    for (DefinitionId id : definitions.reaching(module.name(line, spelled, nth))) {
      const Definition& definition = definitions[id];
      const std::string place = definition.node ? std::to_string(module.line_of(definition.node)) : "";
      switch (definition.kind) {
        case DefinitionKind::Unbound:
          found.emplace_back("unbound");
          break;
        case DefinitionKind::Parameter:
          found.emplace_back("entry");
          break;
        case DefinitionKind::Write:
          found.push_back(place);
          break;
        case DefinitionKind::Delete:
          found.push_back("del " + place);
          break;
        case DefinitionKind::Closure:
          found.push_back("closure " + place);
          break;
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::string text;
    for (const std::string& name : found) text += (text.empty() ? "" : ", ") + name;
    return text;
  }
};

}  // namespace graphmend

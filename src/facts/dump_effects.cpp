// Effects as text. In: text, Tokens, Tree, Scopes. Out: one line for each function and each statement.
#include "facts/dump_effects.h"

#include "facts/effects.h"
#include "parse/views.h"
#include "source/line_index.h"

namespace graphmend {

std::string dump_effects(std::string_view text, const Tokens& tokens, const Tree& tree, const Scopes& scopes) {
  const ModuleEffects effects = compute_effects(text, tokens, tree, scopes);
  const LineIndex lines(text);
  std::string out;
  for (NodeId id = Tree::root(); id.index < tree.size(); ++id) {
    const NodeKind kind = tree.kind(id);
    if (node_group(kind) != NodeGroup::Statement) continue;
    const Position position = lines.position(tokens[tree[id].first_token].start);
    const std::string place = std::to_string(position.line) + ':' + std::to_string(position.column);
    if (kind == NodeKind::FunctionDef) {
      out += "function ";
      if (TokenId name = name_token(tree, tokens, id)) out += tokens[name].span().in(text);
      out += ' ' + place + ' ' + effects_text(effects.of_call(id)) + '\n';
    }
    out += place + ' ';
    out += node_name(kind);
    out += ' ' + effects_text(effects.of(id));
    std::string roots;
    for (const WriteSite& site : effects.writes(tree, id, id)) {
      // What is written inside of a definition happens when it is called.
      if (kind == NodeKind::FunctionDef || kind == NodeKind::ClassDef) break;
      roots += roots.empty() ? " (" : ", ";
      roots += site.variable ? scopes.name(site.variable) : std::string_view("?");
    }
    if (!roots.empty()) out += roots + ')';
    out += '\n';
  }
  return out;
}

}  // namespace graphmend

// Starred expressions, arguments and parameters. In: single nodes. Out: errors.
// Targets, arguments and parameters have been checked for their form and order by the parser.
#include <algorithm>
#include <utility>

#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// As many targets may stand before a starred one as one byte can count.
constexpr unsigned kMaxBeforeStar = 255;

using NamedToken = std::pair<std::string_view, TokenId>;

// The second of two equal names, the one that stands first in the text; none when all differ.
TokenId find_repeated(std::vector<NamedToken>& names) {
  TokenId repeated;
  // Nearly all lists are short, and there comparing each with each is quickest.
  constexpr size_t kShort = 12;
  if (names.size() <= kShort) {
    for (size_t i = 1; i < names.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (names[i].first == names[j].first) return names[i].second;
      }
    }
    return repeated;
  }
  std::sort(names.begin(), names.end());
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i].first != names[i - 1].first) continue;
    if (!repeated || names[i].second < repeated) repeated = names[i].second;
  }
  return repeated;
}

}  // namespace

// `x[1, *a]: int`: since 3.9 CPython evaluates the index part by part there, and a star is no part by itself.
bool LaterErrors::is_index_of_bare_annotation(NodeId tuple) const {
  NodeId subscript = tree_.parent(tuple);
  NodeId statement = tree_.parent(subscript);
  return tree_.kind(subscript) == NodeKind::Subscript && tree_.first_child(subscript) != tuple &&
         tree_.kind(statement) == NodeKind::AnnAssign && tree_.first_child(statement) == subscript &&
         !tree_[statement].has_optional(0);
}

void LaterErrors::check_starred(NodeId id) {
  if (!walk_.here().compiled) return;
  NodeKind parent = tree_.kind(tree_.parent(id));
  const bool in_sequence = parent == NodeKind::Tuple || parent == NodeKind::List;
  if (parent == NodeKind::Tuple && target_.minor >= 9 && is_index_of_bare_annotation(tree_.parent(id))) {
    return report(id, "starred index in an annotation without a value");
  }
  if (in_sequence || parent == NodeKind::ErrorExpression || parent == NodeKind::ErrorStatement) return;
  if (tree_[id].context() == Context::Store) {
    return report(id, "starred target that is not in a list or tuple; write `*a, = …`");
  }
  switch (parent) {
    case NodeKind::Call:
    case NodeKind::Arguments:
    case NodeKind::Set:
    case NodeKind::Subscript:
    // `*args: *Ts` and `[*Ts = *Default]`.
    case NodeKind::Parameter:
    case NodeKind::TypeVarTuple:
    // The parser says which versions unpack in comprehensions.
    case NodeKind::ListComp:
    case NodeKind::SetComp:
    case NodeKind::GeneratorExp:
      return;
    default:
      report(id, "starred expression that is not in a list, tuple, set or call; write `*a,` for a tuple");
  }
}

void LaterErrors::check_unpacking(NodeId id) {
  if (!walk_.here().compiled) return;
  unsigned index = 0;
  bool seen = false;
  for (NodeId element : tree_.children(id)) {
    if (tree_.kind(element) == NodeKind::Starred) {
      if (seen) return report(element, "second starred target in one list or tuple");
      if (index > kMaxBeforeStar) return report(element, "more than 255 targets before the starred one");
      seen = true;
    }
    ++index;
  }
}

void LaterErrors::check_keywords(NodeId id) {
  if (tree_[id].size < 4) return;
  // 3.8 looked before it made any code.
  if (!walk_.here().compiled && target_.minor > 8) return;
  std::vector<NamedToken>& names = named_tokens_;
  names.clear();
  for (NodeId argument : tree_.children(id)) {
    if (tree_.kind(argument) != NodeKind::Keyword || tree_[argument].has(node_flag::kDoubleStar)) continue;
    TokenId token = tree_[argument].first_token;
    names.emplace_back(names_.plain(token), token);
  }
  if (names.size() < 2) return;
  if (TokenId repeated = find_repeated(names)) {
    report(repeated, "keyword argument " + quoted(names_.plain(repeated)) + " given twice");
  }
}

void LaterErrors::check_parameters(NodeId id) {
  if (tree_[id].size < 3) return;
  std::vector<NamedToken>& names = named_tokens_;
  names.clear();
  const TokenId class_name = walk_.scope().class_name;
  for (NodeId parameter : tree_.children(id)) {
    if (tree_.kind(parameter) != NodeKind::Parameter) continue;
    TokenId token = tree_[parameter].first_token;
    names.emplace_back(names_.mangled(token, class_name), token);
  }
  if (names.size() < 2) return;
  if (TokenId repeated = find_repeated(names)) {
    report(repeated, "second parameter named " + quoted(names_.plain(repeated)));
  }
}

void LaterErrors::check_type_params(NodeId id) {
  std::vector<NamedToken>& names = named_tokens_;
  names.clear();
  // Those of a class are private to it.
  NodeId owner = tree_.parent(id);
  TokenId class_name =
      tree_.kind(owner) == NodeKind::ClassDef ? name_token(tree_, tokens_, owner) : walk_.scope().class_name;
  bool seen_default = false;
  for (NodeId param : tree_.children(id)) {
    TokenId token = name_token(tree_, tokens_, param);
    if (!token) continue;
    names.emplace_back(names_.mangled(token, class_name), token);
    if (target_.minor >= 14 && names_.plain(token) == "__classdict__") {
      report(token, "type parameter with the reserved name `__classdict__`");
    }
    bool has_default = tree_[param].has_optional(tree_.kind(param) == NodeKind::TypeVar ? 1 : 0);
    if (seen_default && !has_default) {
      report(param, "type parameter without a default after one that has a default");
    }
    seen_default = seen_default || has_default;
  }
  if (TokenId repeated = find_repeated(names)) {
    report(repeated, "second type parameter named " + quoted(names_.plain(repeated)));
  }
}

// `from __future__ import barry_as_FLUFL` works in files since 3.14; before, and without it, `<>` is nothing.
void LaterErrors::check_comparison(NodeId id) {
  const bool flufl = future_flufl_ && target_.minor >= 14;
  const bool angled = tokens_[tree_[id].first_token].kind == TokenKind::LessGreater;
  if (angled && !flufl) {
    report(id, future_flufl_ ? "`<>` needs Python 3.14 even with `barry_as_FLUFL`; write `!=`"
                             : "`<>` is no operator; write `!=`");
  }
  if (!angled && flufl) report(id, "`!=` after `from __future__ import barry_as_FLUFL`; write `<>`");
}

}  // namespace graphmend

// Patterns of `match`. In: Match nodes. Out: errors: unreachable cases, names bound twice or not in all alternatives,
// repeated attributes and keys, second stars. What a pattern may consist of is the parser's.
#include <algorithm>

#include "facts/later_check.h"
#include "facts/later_keys.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr unsigned kMaxBeforeStar = 255;

bool is_wildcard(std::string_view name) { return name == "_"; }

}  // namespace

void LaterErrors::check_match(NodeId id) {
  MatchView match(tree_, id);
  const NodeId end = tree_.end_of(id);
  for (NodeId match_case : match.cases) {
    if (tree_.kind(match_case) != NodeKind::MatchCase) continue;
    MatchCaseView view(tree_, match_case);
    if (!view.pattern || node_group(tree_.kind(view.pattern)) != NodeGroup::Pattern) continue;
    const bool last = tree_.next_sibling(match_case) >= end;
    check_irrefutable(view.pattern, last || view.guard);
    check_captures(view.pattern);
    for (NodeId part = view.pattern; part < tree_.end_of(view.pattern); ++part) check_pattern(part);
  }
}

// A pattern that always matches must be the last alternative, and its case the last one.
void LaterErrors::check_irrefutable(NodeId pattern, bool allowed) {
  std::vector<std::pair<NodeId, bool>> todo = {{pattern, allowed}};
  while (!todo.empty()) {
    auto [id, may_match_all] = todo.back();
    todo.pop_back();
    if (tree_.kind(id) == NodeKind::MatchOr) {
      for (NodeId alternative : tree_.children(id)) {
        const bool last = tree_.next_sibling(alternative) >= tree_.end_of(id);
        todo.emplace_back(alternative, last && may_match_all);
      }
    } else if (tree_.kind(id) == NodeKind::MatchAs) {
      if (NodeId inner = tree_.first_child(id)) {
        todo.emplace_back(inner, may_match_all);
      } else if (!may_match_all) {
        report(id, quoted(name_of(id)) + " matches everything; what follows is never reached");
      }
    }
  }
}

// Captures are collected alternative by alternative: within one no name may come twice, and all alternatives of one
// pattern must have the same names.
void LaterErrors::check_captures(NodeId pattern) {
  using Names = std::vector<std::pair<std::string_view, TokenId>>;
  struct Alternatives {
    NodeId node;
    NodeId end;
    // Of the alternative being read.
    NodeId alternative_end;
    Names names;
    // Of the first alternative.
    Names expected;
    bool is_first = true;
  };
  // The whole pattern is the only alternative of the outermost.
  std::vector<Alternatives> open;
  open.push_back({pattern, tree_.end_of(pattern), tree_.end_of(pattern), {}, {}, true});

  auto close_alternative = [&](Alternatives& in) {
    Names& names = in.names;
    std::sort(names.begin(), names.end());
    auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    for (size_t i = 1; i < names.size(); ++i) {
      if (!same(names[i - 1], names[i])) continue;
      report(names[i].second, "pattern binds " + quoted(names[i].first) + " twice");
    }
    names.erase(std::unique(names.begin(), names.end(), same), names.end());
    if (in.is_first) {
      in.expected = std::move(names);
    } else if (!std::equal(names.begin(), names.end(), in.expected.begin(), in.expected.end(), same)) {
      report(in.node, "alternatives of a pattern bind different names");
    }
    in.is_first = false;
    names.clear();
  };

  const NodeId end = tree_.end_of(pattern);
  for (NodeId id = pattern;; ++id) {
    while (open.size() > 1 && id >= open.back().alternative_end) {
      Alternatives& in = open.back();
      close_alternative(in);
      if (id < in.end) {
        in.alternative_end = tree_.end_of(id);
        break;
      }
      Names names = std::move(in.expected);
      open.pop_back();
      Names& outer = open.back().names;
      outer.insert(outer.end(), names.begin(), names.end());
    }
    if (id >= end) break;
    const NodeKind kind = tree_.kind(id);
    if (kind == NodeKind::MatchOr) {
      NodeId first = tree_.first_child(id);
      if (first) open.push_back({id, tree_.end_of(id), tree_.end_of(first), {}, {}, true});
    } else if (kind == NodeKind::MatchAs || kind == NodeKind::MatchStar || kind == NodeKind::MatchRest) {
      TokenId token = name_token(tree_, tokens_, id);
      if (!token) continue;
      std::string_view name = names_.plain(token);
      if (!is_wildcard(name)) open.back().names.emplace_back(name, token);
    }
  }
  close_alternative(open.back());
}

void LaterErrors::check_pattern(NodeId id) {
  const NodeKind parent = tree_.kind(tree_.parent(id));
  switch (tree_.kind(id)) {
    case NodeKind::MatchAs:
    case NodeKind::MatchOr:
      // In a larger pattern everything may match, but still only as the last alternative.
      if (parent != NodeKind::MatchCase && parent != NodeKind::MatchAs && parent != NodeKind::MatchOr) {
        check_irrefutable(id, true);
      }
      return;
    case NodeKind::MatchSequence: {
      unsigned index = 0;
      bool seen = false;
      for (NodeId part : tree_.children(id)) {
        if (tree_.kind(part) == NodeKind::MatchStar) {
          if (seen) return report(part, "second starred name in one sequence pattern");
          // `[first, *_]` is matched by index, without unpacking.
          if (index > kMaxBeforeStar && !is_wildcard(name_of(part))) {
            return report(part, "more than 255 patterns before the starred one");
          }
          seen = true;
        }
        ++index;
      }
      return;
    }
    case NodeKind::MatchClass: {
      std::vector<std::pair<std::string_view, TokenId>> names;
      for (NodeId part : tree_.children(id)) {
        if (tree_.kind(part) != NodeKind::KeywordPattern) continue;
        if (TokenId token = name_token(tree_, tokens_, part)) names.emplace_back(names_.plain(token), token);
      }
      std::sort(names.begin(), names.end());
      for (size_t i = 1; i < names.size(); ++i) {
        if (names[i].first != names[i - 1].first) continue;
        report(names[i].second, "class pattern names the attribute " + quoted(names[i].first) + " twice");
      }
      return;
    }
    case NodeKind::MatchMapping:
      return check_mapping_keys(id);
    default:
      return;
  }
}

void LaterErrors::check_mapping_keys(NodeId id) {
  std::vector<std::pair<std::string, NodeId>> keys;
  MatchMappingView mapping(tree_, id);
  bool is_key = true;
  for (NodeId part : mapping.entries) {
    if (is_key) {
      std::string key = literal_key(text_, tree_, tokens_, part);
      if (!key.empty()) keys.emplace_back(std::move(key), part);
    }
    is_key = !is_key;
  }
  std::sort(keys.begin(), keys.end());
  for (size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].first == keys[i - 1].first) report(keys[i].second, "mapping pattern has this key twice");
  }
}

}  // namespace graphmend

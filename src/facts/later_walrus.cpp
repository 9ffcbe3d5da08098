// Assignment expressions in comprehensions. In: the walk's scopes, the comprehensions' targets. Out: errors.
// `:=` in a comprehension binds in the scope around it, so it may not share a name with the comprehension's targets.
#include <algorithm>
#include <utility>

#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

bool is_comprehension_node(NodeKind kind) {
  return kind == NodeKind::ListComp || kind == NodeKind::SetComp || kind == NodeKind::DictComp ||
         kind == NodeKind::GeneratorExp;
}

}  // namespace

void LaterErrors::check_named_expr(NodeId id) {
  uint32_t index = walk_.scope_index();
  ScopeKind kind = walk_.scope().kind;
  if (is_type_scope(kind)) return report(id, not_in_type_scope("`:=`", kind));
  if (walk_.here().in_iterable) return report(id, "`:=` in the iterable of a comprehension");
  if (!is_comprehension(kind)) return;

  TokenId token = name_token(tree_, tokens_, NamedExprView(tree_, id).target);
  if (!token) return;
  bool direct = true;
  while (is_comprehension(walk_.scope(index).kind)) {
    // Before 3.13 the symbol table looked private names up by their plain spelling, and found none.
    TokenId class_name = walk_.scope(index).class_name;
    std::string_view plain = names_.plain(token);
    std::string_view name = names_.mangle(plain, class_name);
    if (target_.minor >= 13 || name == plain) {
      if (!check_comprehension_targets(id, index, direct, name)) return;
    }
    direct = false;
    index = walk_.scope(index).parent;
  }
  // An annotation's scope is looked through.
  while (walk_.scope(index).kind == ScopeKind::Annotation) index = walk_.scope(index).parent;
  ScopeKind around = walk_.scope(index).kind;
  if (around == ScopeKind::Class) {
    report(id, "`:=` in a comprehension in a class body; it would bind in the class");
  } else if (is_type_scope(around)) {
    report(id, not_in_type_scope("`:=` in a comprehension", around));
  }
}

// CPython reads the clauses in order and the element last. A name that was a target before is an error in all
// comprehensions around; one that becomes a target later only in the comprehension itself.
bool LaterErrors::check_comprehension_targets(NodeId id, uint32_t scope, bool direct, std::string_view name) {
  const ComprehensionTargets& targets = comprehension_targets(scope);
  // The clauses before the one that begins behind `id`; none of them means the element, which stands first.
  auto behind = std::upper_bound(targets.clauses.begin(), targets.clauses.end(), id);
  const bool in_element = behind == targets.clauses.begin();
  if (direct && !in_element && tree_.contains(ComprehensionView(tree_, behind[-1]).target, id)) {
    report(id, "`:=` in the target of a comprehension");
    return false;
  }
  auto found = targets.uses.find(name);
  if (found == targets.uses.end()) return true;
  const TargetUse& use = found->second;
  const uint32_t clause = in_element ? NodeId::kNone : static_cast<uint32_t>(behind - targets.clauses.begin() - 1);
  bool before = use.first_store <= clause && use.first_store != NodeId::kNone;
  // Before 3.12 a name read in a target (`for x.a in …`) counted as well.
  if (target_.minor < 12 && use.first_load != NodeId::kNone) before = before || use.first_load <= clause;
  bool after = direct && !in_element && use.last > clause;
  if (!before && !after) return true;
  report(id, "`:=` rebinds " + quoted(name) + ", a target of the comprehension");
  return false;
}

const LaterErrors::ComprehensionTargets& LaterErrors::comprehension_targets(uint32_t scope) {
  auto [entry, is_new] = comprehension_targets_.try_emplace(scope);
  ComprehensionTargets& targets = entry->second;
  if (is_new) {
    for (NodeId child : tree_.children(walk_.scope(scope).node)) {
      if (tree_.kind(child) != NodeKind::Comprehension) continue;
      const uint32_t clause = static_cast<uint32_t>(targets.clauses.size());
      targets.clauses.push_back(child);
      collect_target_uses(ComprehensionView(tree_, child).target, clause, walk_.scope(scope).class_name, targets.uses);
    }
  }
  return targets;
}

// The names of the target that belong to the comprehension's scope: bodies of lambdas and inner comprehensions do not.
void LaterErrors::collect_target_uses(NodeId target, uint32_t clause, TokenId class_name, TargetUses& uses) {
  if (!target) return;
  std::vector<std::pair<NodeId, NodeId>> ranges = {{target, tree_.end_of(target)}};
  while (!ranges.empty()) {
    auto [id, end] = ranges.back();
    ranges.pop_back();
    while (id < end) {
      NodeKind kind = tree_.kind(id);
      if (kind == NodeKind::Lambda || is_comprehension_node(kind)) {
        NodeId part;
        if (kind == NodeKind::Lambda) {
          part = LambdaView(tree_, id).parameters;
        } else {
          for (NodeId child : tree_.children(id)) {
            if (tree_.kind(child) != NodeKind::Comprehension) continue;
            part = ComprehensionView(tree_, child).iterable;
            break;
          }
        }
        if (part) ranges.emplace_back(part, tree_.end_of(part));
        id = tree_.end_of(id);
        continue;
      }
      if (kind == NodeKind::Name) {
        TargetUse& use = uses[names_.mangled(tree_[id].first_token, class_name)];
        uint32_t& first = tree_[id].context() == Context::Store ? use.first_store : use.first_load;
        first = std::min(first, clause);
        use.last = std::max(use.last, clause);
      }
      ++id;
    }
  }
}

}  // namespace graphmend

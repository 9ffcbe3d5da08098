// Imports that depend on their place. In: import statements. Out: errors, and what the future imports switch on.
#include <algorithm>
#include <array>

#include "facts/future_imports.h"
#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr std::array<std::string_view, 10> kFutureFeatures = {
    "nested_scopes",  "generators",       "division",       "absolute_import", "with_statement",
    "print_function", "unicode_literals", "barry_as_FLUFL", "generator_stop",  "annotations"};

}  // namespace

bool LaterErrors::is_future_import(NodeId id) const {
  return graphmend::is_future_import(text_, tokens_, tree_, id, target_);
}

// Only a docstring may stand before them.
bool LaterErrors::read_future_imports() {
  bool first = true;
  for (NodeId statement : tree_.children(Tree::root())) {
    if (is_future_import(statement)) {
      check_future_features(statement);
      last_future_import_ = statement;
    } else if (!first || !is_docstring(tree_, tokens_, statement)) {
      break;
    }
    first = false;
  }
  return future_annotations_;
}

void LaterErrors::check_future_features(NodeId id) {
  for (NodeId alias : tree_.children(id)) {
    if (tree_.kind(alias) != NodeKind::Alias) continue;
    std::string feature = alias_name(text_, tree_, tokens_, alias);
    if (feature == "annotations") future_annotations_ = true;
    if (feature == "barry_as_FLUFL") future_flufl_ = true;
    if (std::find(kFutureFeatures.begin(), kFutureFeatures.end(), feature) == kFutureFeatures.end()) {
      report(alias, feature == "braces" ? "no future feature `braces`; blocks stay indented"
                                        : "no future feature " + quoted(feature));
    }
  }
}

void LaterErrors::check_import_from(NodeId id) {
  check_lazy_import(id);
  if (is_future_import(id) && (!last_future_import_ || id > last_future_import_)) {
    report(id, "`from __future__` import after other code; move it to the beginning of the file");
  }
  NodeId alias = tree_.first_child(id);
  if (alias && tokens_[tree_[alias].first_token].kind == TokenKind::Star) {
    if (walk_.scope().kind != ScopeKind::Module) {
      report(alias, "`import *` in a function or class; it works at module level only");
    } else if (tree_[id].has(node_flag::kLazy)) {
      report(alias, "`import *` cannot be lazy");
    }
  }
}

void LaterErrors::check_lazy_import(NodeId id) {
  if (!tree_[id].has(node_flag::kLazy)) return;
  const TokenId lazy = tree_[id].first_token;
  if (is_future_import(id)) return report(lazy, "lazy import from `__future__`");
  if (walk_.here().in_try) return report(lazy, "lazy import in a `try` statement");
  ScopeKind kind = walk_.scope().kind;
  if (kind == ScopeKind::Module) return;
  report(lazy, kind == ScopeKind::Class ? "lazy import in a class" : "lazy import in a function");
}

}  // namespace graphmend

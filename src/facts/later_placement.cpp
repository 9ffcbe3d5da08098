// Where statements and expressions may stand. In: the walk's scopes and blocks. Out: errors.
// `return`, `yield`, `await`, `async`, `break`, `continue`, bare `except:`, and how deep blocks nest.
#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

constexpr const char* kAsyncComprehension = "asynchronous comprehension outside of an async function";

bool outside_function(ScopeKind kind) { return kind == ScopeKind::Module || kind == ScopeKind::Class; }

std::string_view type_scope_name(ScopeKind kind) {
  switch (kind) {
    case ScopeKind::Annotation:
      return "an annotation";
    case ScopeKind::TypeVariable:
      return "the bound or default of a type parameter";
    case ScopeKind::TypeAlias:
      return "a type alias";
    default:
      return "the head of a generic definition";
  }
}

std::string_view comprehension_name(ScopeKind kind) {
  switch (kind) {
    case ScopeKind::ListComp:
      return "a list comprehension";
    case ScopeKind::SetComp:
      return "a set comprehension";
    case ScopeKind::DictComp:
      return "a dict comprehension";
    default:
      return "a generator expression";
  }
}

}  // namespace

std::string not_in_type_scope(std::string_view what, ScopeKind kind) {
  return std::string(what) + " in " + std::string(type_scope_name(kind));
}

void LaterErrors::check_return(NodeId id) {
  Scope& scope = walk_.scope();
  if (outside_function(scope.kind)) return report(id, "`return` outside of a function");
  if (walk_.here().in_except_star) return report(id, "`return` in an `except*` block; leave the block first");
  if (tree_[id].has_optional(0) && !scope.value_return) scope.value_return = id;
}

void LaterErrors::check_leave_loop(NodeId id) {
  std::string keyword = tree_.kind(id) == NodeKind::Break ? "`break`" : "`continue`";
  switch (walk_.here().loop) {
    case LoopState::Inside:
      return;
    case LoopState::BehindExceptStar:
      return report(id, keyword + " in an `except*` block; leave the block first");
    case LoopState::None:
      return report(id, keyword + " outside of a loop");
  }
}

void LaterErrors::check_yield(NodeId id) {
  Scope& scope = walk_.scope();
  scope.generator = true;
  if (is_type_scope(scope.kind)) return report(id, not_in_type_scope("`yield`", scope.kind));
  if (is_comprehension(scope.kind)) {
    return report(id, "`yield` in " + std::string(comprehension_name(scope.kind)));
  }
  if (!walk_.here().compiled) return;
  if (outside_function(scope.kind)) return report(id, "`yield` outside of a function");
  if (tree_.kind(id) == NodeKind::YieldFrom && scope.is_async) {
    report(id, "`yield from` in an async function; use `async for` and `yield`");
  }
}

void LaterErrors::check_await(NodeId id) {
  Scope& scope = walk_.scope();
  scope.coroutine = true;
  if (is_type_scope(scope.kind)) return report(id, not_in_type_scope("`await`", scope.kind));
  // Since 3.14 the symbol table looks at it, and so at annotations that are not compiled.
  if (!walk_.here().compiled && target_.minor < 14) return;
  if (outside_function(scope.kind)) return report(id, "`await` outside of a function");
  if (!scope.is_async && !is_comprehension(scope.kind)) report(id, "`await` outside of an async function");
}

void LaterErrors::check_async_statement(NodeId id) {
  if (!tree_[id].has(node_flag::kAsync) || walk_.scope().is_async) return;
  std::string what = tree_.kind(id) == NodeKind::For ? "`async for`" : "`async with`";
  report(id, what + " outside of an async function");
}

// 3.12 could not yet make functions in a type scope that sees the names of a class.
void LaterErrors::check_type_scope_in_class(NodeId id) {
  uint32_t index = walk_.scope_index();
  if (!is_type_scope(walk_.scope(index).kind) || walk_.scope(index).kind == ScopeKind::Annotation) return;
  while (is_type_scope(walk_.scope(index).kind)) index = walk_.scope(index).parent;
  if (walk_.scope(index).kind != ScopeKind::Class) return;
  std::string what = tree_.kind(id) == NodeKind::Lambda ? "lambda" : "comprehension";
  report(id, what + " in a type scope in a class; Python 3.13 allows it");
}

void LaterErrors::check_handlers(NodeId id) {
  TryView view(tree_, id);
  const NodeId behind = view.handlers.empty() ? NodeId() : tree_.end_of(id);
  for (NodeId handler : view.handlers) {
    if (tree_[handler].has_optional(0)) continue;
    NodeId next = tree_.next_sibling(handler);
    if (next < behind && tree_.kind(next) == NodeKind::ExceptHandler) {
      report(tree_[handler].first_token, "`except:` catches all and must be the last handler");
    }
  }
}

void LaterErrors::check_closed_scopes() {
  for (uint32_t index : walk_.closed()) check_closed_scope(index);
}

void LaterErrors::check_closed_scope(uint32_t index) {
  Scope& scope = walk_.scope(index);
  if (is_comprehension(scope.kind) && scope.kind != ScopeKind::GeneratorExp && scope.coroutine) {
    Scope& around = walk_.scope(scope.parent);
    const bool looked_at = scope.compiled || target_.minor >= 14;
    if (target_.minor >= 11 || is_type_scope(around.kind)) {
      // A comprehension becomes asynchronous by one inside it.
      if (looked_at && !around.is_async && !is_comprehension(around.kind)) report(scope.node, kAsyncComprehension);
      around.coroutine = true;
    } else if (looked_at && !around.async_inside) {
      // Before 3.11 it had to be by itself, which is known when all of it has been seen.
      around.async_inside = scope.node;
    }
  }
  if (scope.async_inside && !scope.coroutine) {
    report(scope.async_inside, "an asynchronous comprehension inside another comprehension needs Python 3.11");
  }
  if (scope.coroutine && scope.generator && scope.value_return) {
    report(scope.value_return, "`return` with a value in an async generator; only a bare `return` may end it");
  }
  const bool resumable = scope.kind == ScopeKind::Function && (scope.coroutine || scope.generator);
  NodeId deep = target_.minor >= 13 && resumable ? scope.too_deep_for_generator : scope.too_deep;
  if (deep) {
    report(tree_[deep].first_token, "too many nested blocks; CPython takes 20 of `for`, `while`, `with`, `try`");
  }
}

}  // namespace graphmend

// What CPython rejects after parsing. In: text, Tokens, Tree, version. Out: errors in order of place.
#include "facts/later_errors.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "facts/later_check.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// The same error may be found at another place by another version: blocks nest too deep one level later.
void keep_common(Diagnostics& errors, const Diagnostics& others) {
  std::unordered_set<uint32_t> starts;
  std::unordered_set<std::string_view> messages;
  for (const Diagnostic& other : others) {
    starts.insert(other.span.start);
    messages.insert(other.message);
  }
  std::erase_if(errors, [&](const Diagnostic& error) {
    return !starts.contains(error.span.start) && !messages.contains(error.message);
  });
}

// Every version has its own scopes, so what no version accepts is found by asking each of them; but only for files in
// which the newest finds something.
Diagnostics find_errors_of_all_versions(std::string_view text, const Tokens& tokens, const Tree& tree) {
  const Diagnostics newest = LaterErrors(text, tokens, tree, kNewestVersion).run();
  Diagnostics common = newest;
  if (newest.empty()) return common;
  for (uint8_t minor = kOldestVersion.minor; minor < kNewestVersion.minor; ++minor) {
    const Diagnostics others = LaterErrors(text, tokens, tree, Version{minor}).run();
    if (others.empty()) return {};
    keep_common(common, others);
  }
  // All reject the file, if each for another reason.
  return common.empty() ? newest : common;
}

}  // namespace

Diagnostics find_later_errors(std::string_view text, const Tokens& tokens, const Tree& tree, Version target) {
  if (tree.size() == 0) return {};
  if (target == kAnyVersion) return find_errors_of_all_versions(text, tokens, tree);
  return LaterErrors(text, tokens, tree, target).run();
}

LaterErrors::LaterErrors(std::string_view text, const Tokens& tokens, const Tree& tree, Version target)
    : text_(text),
      tokens_(tokens),
      tree_(tree),
      target_(target),
      names_(text, tokens),
      walk_(tree, tokens, target, read_future_imports()) {}

Diagnostics LaterErrors::run() {
  check_nodes();
  if (!with_declarations_.empty()) check_declarations();
  if (mentions_debug()) check_debug();
  std::sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.span.start, a.span.end, a.message) < std::tie(b.span.start, b.span.end, b.message);
  });
  return std::move(errors_);
}

void LaterErrors::check_nodes() {
  const NodeId end(tree_.size());
  for (NodeId id = Tree::root(); id < end; ++id) {
    if (walk_.advance(id)) check_closed_scopes();
    switch (tree_.kind(id)) {
      case NodeKind::FunctionDef:
      case NodeKind::ClassDef:
      case NodeKind::TypeAlias:
      case NodeKind::AnnAssign:
      case NodeKind::TypeVar:
      case NodeKind::ParamSpec:
      case NodeKind::TypeVarTuple:
      case NodeKind::While:
        walk_.enter(id);
        break;
      case NodeKind::Lambda:
      case NodeKind::ListComp:
      case NodeKind::SetComp:
      case NodeKind::DictComp:
      case NodeKind::GeneratorExp:
        if (target_.minor == 12) check_type_scope_in_class(id);
        walk_.enter(id);
        break;
      case NodeKind::For:
      case NodeKind::With:
        check_async_statement(id);
        walk_.enter(id);
        break;
      case NodeKind::Try:
        check_handlers(id);
        walk_.enter(id);
        break;
      case NodeKind::Return:
        check_return(id);
        break;
      case NodeKind::Break:
      case NodeKind::Continue:
        check_leave_loop(id);
        break;
      case NodeKind::Yield:
      case NodeKind::YieldFrom:
        check_yield(id);
        break;
      case NodeKind::Await:
        check_await(id);
        break;
      case NodeKind::NamedExpr:
        check_named_expr(id);
        break;
      case NodeKind::Starred:
        check_starred(id);
        break;
      case NodeKind::Tuple:
      case NodeKind::List:
        if (tree_[id].context() == Context::Store) check_unpacking(id);
        break;
      case NodeKind::Call:
      case NodeKind::Arguments:
        check_keywords(id);
        break;
      case NodeKind::Parameters:
        check_parameters(id);
        break;
      case NodeKind::TypeParams:
        check_type_params(id);
        break;
      case NodeKind::CompareOp:
        if (tree_[id].operation() == Operator::NotEq) check_comparison(id);
        break;
      case NodeKind::Import:
        check_lazy_import(id);
        break;
      case NodeKind::ImportFrom:
        check_import_from(id);
        break;
      case NodeKind::Match:
        check_match(id);
        break;
      case NodeKind::Global:
      case NodeKind::Nonlocal:
        note_declaration(id);
        break;
      default:
        break;
    }
  }
  walk_.finish();
  check_closed_scopes();
}

void LaterErrors::report(NodeId node, std::string message) {
  errors_.push_back({node_span(tree_, tokens_, node), std::move(message)});
}

void LaterErrors::report(TokenId token, std::string message) {
  errors_.push_back({tokens_[token].span(), std::move(message)});
}

std::string_view LaterErrors::name_of(NodeId node) {
  TokenId token = name_token(tree_, tokens_, node);
  return token ? names_.plain(token) : std::string_view();
}

}  // namespace graphmend

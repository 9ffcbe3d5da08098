// The tree as CPython prints it: statements. In: text, Tokens, Tree. Out: the text of `ast.dump`.
// Definitions, expressions, patterns and strings are in the files beside this one; the order of the work is
// AstWriter's.
#include "parse/dump_ast.h"

#include <string>
#include <vector>

#include "lex/python_repr.h"
#include "parse/ast_writer.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// CPython has no `elif`: each one is an `if` that is alone in the `else` before it and ends where the whole ends.
void write_if(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  IfView view(tree, id);
  writer.open("If");
  writer.field("test");
  writer.put_node(view.test);
  writer.body_field("body", view.body);
  for (NodeId elif : view.elifs) {
    ElifView inner(tree, elif);
    writer.field("orelse");
    writer.put("[");
    writer.open("If");
    writer.field("test");
    writer.put_node(inner.test);
    writer.body_field("body", inner.body);
  }
  writer.body_field("orelse", view.orelse);
  std::vector<NodeId> inside_out;
  for (NodeId elif : view.elifs) inside_out.push_back(elif);
  const uint32_t end = node_span(tree, writer.tokens, id).end;
  for (size_t i = inside_out.size(); i > 0; --i) {
    writer.close_at(Span{node_span(tree, writer.tokens, inside_out[i - 1]).start, end});
    writer.put("]");
  }
  writer.close_at(id);
}

void write_for(AstWriter& writer, NodeId id) {
  ForView view(writer.tree, id);
  writer.open(writer.tree[id].has(node_flag::kAsync) ? "AsyncFor" : "For");
  writer.field("target");
  writer.put_node(view.target);
  writer.field("iter");
  writer.put_node(view.iterable);
  writer.body_field("body", view.body);
  writer.body_field("orelse", view.orelse);
  writer.close_at(id);
}

void write_while(AstWriter& writer, NodeId id) {
  WhileView view(writer.tree, id);
  writer.open("While");
  writer.field("test");
  writer.put_node(view.test);
  writer.body_field("body", view.body);
  writer.body_field("orelse", view.orelse);
  writer.close_at(id);
}

void write_with(AstWriter& writer, NodeId id) {
  WithView view(writer.tree, id);
  writer.open(writer.tree[id].has(node_flag::kAsync) ? "AsyncWith" : "With");
  writer.list_field("items", view.items);
  writer.body_field("body", view.body);
  writer.close_at(id);
}

void write_with_item(AstWriter& writer, NodeId id) {
  WithItemView view(writer.tree, id);
  writer.open("withitem");
  writer.field("context_expr");
  writer.put_node(view.expression);
  writer.node_field("optional_vars", view.target);
  writer.close();
}

void write_match(AstWriter& writer, NodeId id) {
  MatchView view(writer.tree, id);
  writer.open("Match");
  writer.field("subject");
  writer.put_node(view.subject);
  writer.list_field("cases", view.cases);
  writer.close_at(id);
}

void write_match_case(AstWriter& writer, NodeId id) {
  MatchCaseView view(writer.tree, id);
  writer.open("match_case");
  writer.field("pattern");
  writer.put_node(view.pattern);
  writer.node_field("guard", view.guard);
  writer.body_field("body", view.body);
  writer.close();
}

void write_try(AstWriter& writer, NodeId id) {
  TryView view(writer.tree, id);
  writer.open(writer.tree[id].has(node_flag::kStar) ? "TryStar" : "Try");
  writer.body_field("body", view.body);
  writer.list_field("handlers", view.handlers);
  writer.body_field("orelse", view.orelse);
  writer.body_field("finalbody", view.final_clause);
  writer.close_at(id);
}

void write_except_handler(AstWriter& writer, NodeId id) {
  ExceptHandlerView view(writer.tree, id);
  writer.open("ExceptHandler");
  writer.node_field("type", view.type);
  writer.name_field("name", name_token(writer.tree, writer.tokens, id));
  writer.body_field("body", view.body);
  writer.close_at(id);
}

void write_assignment(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  switch (tree.kind(id)) {
    case NodeKind::Assign: {
      AssignView view(tree, id);
      writer.open("Assign");
      writer.list_field("targets", view.targets);
      writer.field("value");
      writer.put_node(view.value);
      break;
    }
    case NodeKind::AugAssign: {
      AugAssignView view(tree, id);
      writer.open("AugAssign");
      writer.field("target");
      writer.put_node(view.target);
      writer.field("op");
      writer.put(operator_name(tree[id].operation()));
      writer.put("()");
      writer.field("value");
      writer.put_node(view.value);
      break;
    }
    default: {
      AnnAssignView view(tree, id);
      writer.open("AnnAssign");
      writer.field("target");
      writer.put_node(view.target);
      writer.field("annotation");
      writer.put_node(view.annotation);
      writer.node_field("value", view.value);
      writer.field("simple");
      writer.put(tree[id].has(node_flag::kSimple) ? "1" : "0");
      break;
    }
  }
  writer.close_at(id);
}

void write_import(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  const bool is_from = tree.kind(id) == NodeKind::ImportFrom;
  writer.open(is_from ? "ImportFrom" : "Import");
  ImportModule module;
  if (is_from) module = import_module(writer.text, tree, writer.tokens, id);
  if (!module.name.empty()) writer.text_field("module", module.name);
  writer.list_field("names", tree.children(id));
  if (is_from) {
    writer.field("level");
    writer.put(std::to_string(module.level));
  }
  if (tree[id].has(node_flag::kLazy)) {
    writer.field("is_lazy");
    writer.put("1");
  }
  writer.close_at(id);
}

void write_alias(AstWriter& writer, NodeId id) {
  writer.open("alias");
  writer.text_field("name", alias_name(writer.text, writer.tree, writer.tokens, id));
  writer.name_field("asname", name_token(writer.tree, writer.tokens, id));
  writer.close_at(id);
}

// global and nonlocal: a list of names, not of nodes.
void write_scope_statement(AstWriter& writer, NodeId id) {
  writer.open(node_name(writer.tree.kind(id)));
  writer.field("names");
  std::string_view separator = "[";
  for (NodeId name : writer.tree.children(id)) {
    writer.put(separator);
    writer.put(str_repr(identifier_text(writer.text, writer.tokens[writer.tree[name].first_token])));
    separator = ", ";
  }
  writer.put("]");
  writer.close_at(id);
}

// A statement of up to two expressions, each left out when absent.
void write_simple(AstWriter& writer, NodeId id, std::string_view first_name, NodeId first,
                  std::string_view second_name = {}, NodeId second = NodeId()) {
  writer.open(node_name(writer.tree.kind(id)));
  writer.node_field(first_name, first);
  writer.node_field(second_name, second);
  writer.close_at(id);
}

}  // namespace

std::string dump_ast(std::string_view text, const Tokens& tokens, const Tree& tree) {
  return AstWriter(text, tokens, tree).run(Tree::root());
}

void write_statement(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  switch (tree.kind(id)) {
    case NodeKind::Module:
      writer.open("Module");
      writer.list_field("body", tree.children(id));
      return writer.close();
    case NodeKind::If:
      return write_if(writer, id);
    case NodeKind::For:
      return write_for(writer, id);
    case NodeKind::While:
      return write_while(writer, id);
    case NodeKind::With:
      return write_with(writer, id);
    case NodeKind::WithItem:
      return write_with_item(writer, id);
    case NodeKind::Match:
      return write_match(writer, id);
    case NodeKind::MatchCase:
      return write_match_case(writer, id);
    case NodeKind::Try:
      return write_try(writer, id);
    case NodeKind::ExceptHandler:
      return write_except_handler(writer, id);
    case NodeKind::Assign:
    case NodeKind::AugAssign:
    case NodeKind::AnnAssign:
      return write_assignment(writer, id);
    case NodeKind::Import:
    case NodeKind::ImportFrom:
      return write_import(writer, id);
    case NodeKind::Alias:
      return write_alias(writer, id);
    case NodeKind::Global:
    case NodeKind::Nonlocal:
      return write_scope_statement(writer, id);
    case NodeKind::Return:
      return write_simple(writer, id, "value", tree.first_child(id));
    case NodeKind::Raise: {
      RaiseView view(tree, id);
      return write_simple(writer, id, "exc", view.exception, "cause", view.cause);
    }
    case NodeKind::Assert: {
      AssertView view(tree, id);
      return write_simple(writer, id, "test", view.test, "msg", view.message);
    }
    case NodeKind::Pass:
    case NodeKind::Break:
    case NodeKind::Continue:
      return write_simple(writer, id, {}, NodeId());
    case NodeKind::Delete:
      writer.open("Delete");
      writer.list_field("targets", tree.children(id));
      return writer.close_at(id);
    case NodeKind::ExprStatement:
      writer.open("Expr");
      writer.field("value");
      writer.put_node(tree.first_child(id));
      return writer.close_at(id);
    case NodeKind::TypeAlias: {
      TypeAliasView view(tree, id);
      writer.open("TypeAlias");
      writer.field("name");
      writer.put_node(view.name);
      if (view.type_params) writer.list_field("type_params", tree.children(view.type_params));
      writer.field("value");
      writer.put_node(view.value);
      return writer.close_at(id);
    }
    default:
      return write_other(writer, id);
  }
}

void write_other(AstWriter& writer, NodeId id) {
  writer.open(node_name(writer.tree.kind(id)));
  writer.list_field("children", writer.tree.children(id));
  writer.close_at(id);
}

}  // namespace graphmend

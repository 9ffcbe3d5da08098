// The tree as CPython prints it: definitions. In: one node of a function, class or parameter. Out: its pieces.
// Names, defaults and type parameters in CPython's order of fields, which is not the order of the source.
#include <vector>

#include "parse/ast_writer.h"
#include "parse/views.h"

namespace graphmend {

namespace {

void put_decorators(AstWriter& writer, ChildRange decorators) {
  std::vector<NodeId> expressions;
  for (NodeId decorator : decorators) expressions.push_back(writer.tree.first_child(decorator));
  writer.list_field("decorator_list", expressions);
}

void put_type_params(AstWriter& writer, NodeId type_params) {
  if (type_params) writer.list_field("type_params", writer.tree.children(type_params));
}

// CPython's definitions start behind their decorators.
void close_definition(AstWriter& writer, NodeId id) {
  const uint32_t start = writer.tokens[definition_token(writer.tree, writer.tokens, id)].start;
  writer.close_at(Span{start, node_span(writer.tree, writer.tokens, id).end});
}

void write_function(AstWriter& writer, NodeId id) {
  FunctionView view(writer.tree, id);
  writer.open(writer.tree[id].has(node_flag::kAsync) ? "AsyncFunctionDef" : "FunctionDef");
  writer.name_field("name", name_token(writer.tree, writer.tokens, id));
  writer.field("args");
  put_arguments(writer, view.parameters);
  writer.body_field("body", view.body);
  put_decorators(writer, view.decorators);
  writer.node_field("returns", view.returns);
  put_type_params(writer, view.type_params);
  close_definition(writer, id);
}

void write_class(AstWriter& writer, NodeId id) {
  ClassView view(writer.tree, id);
  writer.open("ClassDef");
  writer.name_field("name", name_token(writer.tree, writer.tokens, id));
  if (view.arguments) put_call_arguments(writer, "bases", writer.tree.children(view.arguments));
  writer.body_field("body", view.body);
  put_decorators(writer, view.decorators);
  put_type_params(writer, view.type_params);
  close_definition(writer, id);
}

}  // namespace

void put_arguments(AstWriter& writer, NodeId parameters) {
  std::vector<NodeId> positional_only, regular, keyword_only, keyword_defaults, defaults;
  NodeId var_args, kw_args;
  if (parameters) {
    for (NodeId id : writer.tree.children(parameters)) {
      if (writer.tree.kind(id) != NodeKind::Parameter) continue;
      ParameterView view(writer.tree, id);
      switch (view.section) {
        case ParameterSection::PositionalOnly:
          positional_only.push_back(id);
          break;
        case ParameterSection::Regular:
          regular.push_back(id);
          break;
        case ParameterSection::VarArgs:
          var_args = id;
          continue;
        case ParameterSection::KeywordOnly:
          keyword_only.push_back(id);
          // One for each parameter, `None` for those without.
          keyword_defaults.push_back(view.default_value);
          continue;
        case ParameterSection::KwArgs:
          kw_args = id;
          continue;
      }
      if (view.default_value) defaults.push_back(view.default_value);
    }
  }
  writer.open("arguments");
  writer.list_field("posonlyargs", positional_only);
  writer.list_field("args", regular);
  writer.node_field("vararg", var_args);
  writer.list_field("kwonlyargs", keyword_only);
  writer.list_field("kw_defaults", keyword_defaults);
  writer.node_field("kwarg", kw_args);
  writer.list_field("defaults", defaults);
  writer.close();
}

void put_call_arguments(AstWriter& writer, std::string_view name, ChildRange arguments) {
  std::vector<NodeId> positional, keywords;
  for (NodeId id : arguments) (writer.tree.kind(id) == NodeKind::Keyword ? keywords : positional).push_back(id);
  writer.list_field(name, positional);
  writer.list_field("keywords", keywords);
}

void write_definition(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  const TokenId name = name_token(tree, writer.tokens, id);
  switch (tree.kind(id)) {
    case NodeKind::FunctionDef:
      return write_function(writer, id);
    case NodeKind::ClassDef:
      return write_class(writer, id);
    case NodeKind::Parameter:
      writer.open("arg");
      writer.name_field("arg", name);
      writer.node_field("annotation", ParameterView(tree, id).annotation);
      return writer.close_at(id);
    case NodeKind::TypeVar: {
      TypeVarView view(tree, id);
      writer.open("TypeVar");
      writer.name_field("name", name);
      writer.node_field("bound", view.bound);
      writer.node_field("default_value", view.default_value);
      return writer.close_at(id);
    }
    default:
      writer.open(node_name(tree.kind(id)));
      writer.name_field("name", name);
      writer.node_field("default_value", tree.first_child(id));
      return writer.close_at(id);
  }
}

}  // namespace graphmend

// The tree as CPython prints it: expressions and patterns. In: one node. Out: its pieces.
// Strings of all kinds are in dump_ast_strings.cpp.
#include <vector>

#include "lex/literal.h"
#include "lex/python_repr.h"
#include "parse/ast_writer.h"
#include "parse/views.h"

namespace graphmend {

namespace {

void put_operator(AstWriter& writer, NodeId id) {
  writer.put(operator_name(writer.tree[id].operation()));
  writer.put("()");
}

void put_required(AstWriter& writer, std::string_view name, NodeId id) {
  writer.field(name);
  writer.put_node(id);
}

// True, False, None and `...`.
std::string_view constant_text(const AstWriter& writer, NodeId id) {
  const Token& token = writer.tokens[writer.tree[id].first_token];
  return token.kind == TokenKind::Ellipsis ? "Ellipsis" : token.span().in(writer.text);
}

void write_compare(AstWriter& writer, NodeId id) {
  CompareView view(writer.tree, id);
  writer.open("Compare");
  put_required(writer, "left", view.left);
  std::vector<NodeId> operands;
  writer.field("ops");
  std::string_view separator = "[";
  for (NodeId part : view.rest) {
    if (writer.tree.kind(part) != NodeKind::CompareOp) {
      operands.push_back(part);
      continue;
    }
    writer.put(separator);
    put_operator(writer, part);
    separator = ", ";
  }
  writer.put("]");
  writer.list_field("comparators", operands);
  writer.close_at(id);
}

void write_dict(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  std::vector<NodeId> keys, values;
  ChildCursor cursor(tree, id);
  while (!cursor.done()) {
    // `**d` is a value whose key is None.
    const bool is_unpacked = cursor.at(NodeKind::DictUnpack);
    keys.push_back(is_unpacked ? NodeId() : cursor.take());
    NodeId value = cursor.take();
    values.push_back(is_unpacked ? tree.first_child(value) : value);
  }
  writer.open("Dict");
  writer.list_field("keys", keys);
  writer.list_field("values", values);
  writer.close_at(id);
}

void write_comprehension_expression(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  writer.open(node_name(tree.kind(id)));
  if (tree.kind(id) == NodeKind::DictComp) {
    DictComprehensionView view(tree, id);
    // 3.15 writes `{**d for …}` as a key without a value.
    const bool is_unpacked = !view.key && view.value;
    put_required(writer, "key", is_unpacked ? tree.first_child(view.value) : view.key);
    if (!is_unpacked) put_required(writer, "value", view.value);
    writer.list_field("generators", view.generators);
  } else {
    ElementComprehensionView view(tree, id);
    put_required(writer, "elt", view.element);
    writer.list_field("generators", view.generators);
  }
  writer.close_at(id);
}

void write_generator(AstWriter& writer, NodeId id) {
  ComprehensionView view(writer.tree, id);
  writer.open("comprehension");
  put_required(writer, "target", view.target);
  put_required(writer, "iter", view.iterable);
  writer.list_field("ifs", view.conditions);
  writer.field("is_async");
  writer.put(writer.tree[id].has(node_flag::kAsync) ? "1" : "0");
  writer.close();
}

void write_number(AstWriter& writer, NodeId id) {
  const Token& token = writer.tokens[writer.tree[id].first_token];
  writer.open("Constant");
  writer.field("value");
  writer.put(number_repr(token.kind, token.span().in(writer.text)));
  writer.close_at(id);
}

void write_mapping_pattern(AstWriter& writer, NodeId id) {
  MatchMappingView view(writer.tree, id);
  std::vector<NodeId> keys, patterns;
  for (NodeId entry : view.entries) (keys.size() == patterns.size() ? keys : patterns).push_back(entry);
  writer.open("MatchMapping");
  writer.list_field("keys", keys);
  writer.list_field("patterns", patterns);
  if (view.rest) writer.name_field("rest", name_token(writer.tree, writer.tokens, view.rest));
  writer.close_at(id);
}

void write_class_pattern(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  MatchClassView view(tree, id);
  std::vector<NodeId> patterns, keywords, keyword_patterns;
  for (NodeId argument : view.arguments) {
    const bool is_keyword = tree.kind(argument) == NodeKind::KeywordPattern;
    (is_keyword ? keywords : patterns).push_back(argument);
    if (is_keyword) keyword_patterns.push_back(tree.first_child(argument));
  }
  writer.open("MatchClass");
  put_required(writer, "cls", view.class_name);
  writer.list_field("patterns", patterns);
  if (!keywords.empty()) writer.field("kwd_attrs");
  for (size_t i = 0; i < keywords.size(); ++i) {
    writer.put(i == 0 ? "[" : ", ");
    const TokenId name = name_token(tree, writer.tokens, keywords[i]);
    writer.put(name ? str_repr(identifier_text(writer.text, writer.tokens[name])) : "None");
  }
  if (!keywords.empty()) writer.put("]");
  writer.list_field("kwd_patterns", keyword_patterns);
  writer.close_at(id);
}

// The name of a capture; none for `_`, which binds nothing.
TokenId capture_name(const AstWriter& writer, NodeId id) {
  const TokenId name = name_token(writer.tree, writer.tokens, id);
  const bool is_wildcard = name && writer.tokens[name].span().in(writer.text) == "_";
  return is_wildcard ? TokenId() : name;
}

}  // namespace

void write_expression(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  const NodeKind kind = tree.kind(id);
  switch (kind) {
    case NodeKind::Compare:
      return write_compare(writer, id);
    case NodeKind::Dict:
      return write_dict(writer, id);
    case NodeKind::ListComp:
    case NodeKind::SetComp:
    case NodeKind::DictComp:
    case NodeKind::GeneratorExp:
      return write_comprehension_expression(writer, id);
    case NodeKind::Comprehension:
      return write_generator(writer, id);
    case NodeKind::Number:
      return write_number(writer, id);
    default:
      break;
  }
  writer.open(kind == NodeKind::Keyword ? "keyword" : node_name(kind));
  switch (kind) {
    case NodeKind::BoolOp:
      writer.field("op");
      put_operator(writer, id);
      writer.list_field("values", tree.children(id));
      break;
    case NodeKind::NamedExpr: {
      NamedExprView view(tree, id);
      put_required(writer, "target", view.target);
      put_required(writer, "value", view.value);
      break;
    }
    case NodeKind::BinOp: {
      BinOpView view(tree, id);
      put_required(writer, "left", view.left);
      writer.field("op");
      put_operator(writer, id);
      put_required(writer, "right", view.right);
      break;
    }
    case NodeKind::UnaryOp:
      writer.field("op");
      put_operator(writer, id);
      put_required(writer, "operand", tree.first_child(id));
      break;
    case NodeKind::Lambda: {
      LambdaView view(tree, id);
      writer.field("args");
      put_arguments(writer, view.parameters);
      put_required(writer, "body", view.body);
      break;
    }
    case NodeKind::IfExp: {
      IfExpView view(tree, id);
      put_required(writer, "test", view.test);
      put_required(writer, "body", view.body);
      put_required(writer, "orelse", view.orelse);
      break;
    }
    case NodeKind::Set:
      writer.list_field("elts", tree.children(id));
      break;
    case NodeKind::Await:
    case NodeKind::YieldFrom:
      put_required(writer, "value", tree.first_child(id));
      break;
    case NodeKind::Yield:
      writer.node_field("value", tree.first_child(id));
      break;
    case NodeKind::Call: {
      CallView view(tree, id);
      put_required(writer, "func", view.function);
      put_call_arguments(writer, "args", view.arguments);
      break;
    }
    case NodeKind::Keyword:
      writer.name_field("arg", name_token(tree, writer.tokens, id));
      put_required(writer, "value", tree.first_child(id));
      break;
    case NodeKind::Constant:
      writer.field("value");
      writer.put(constant_text(writer, id));
      break;
    case NodeKind::Attribute:
      put_required(writer, "value", tree.first_child(id));
      writer.name_field("attr", name_token(tree, writer.tokens, id));
      writer.context_field(id);
      break;
    case NodeKind::Subscript: {
      SubscriptView view(tree, id);
      put_required(writer, "value", view.value);
      put_required(writer, "slice", view.slice);
      writer.context_field(id);
      break;
    }
    case NodeKind::Starred:
      put_required(writer, "value", tree.first_child(id));
      writer.context_field(id);
      break;
    case NodeKind::Name:
      writer.name_field("id", name_token(tree, writer.tokens, id));
      writer.context_field(id);
      break;
    case NodeKind::List:
    case NodeKind::Tuple:
      writer.list_field("elts", tree.children(id));
      writer.context_field(id);
      break;
    case NodeKind::Slice: {
      SliceView view(tree, id);
      writer.node_field("lower", view.lower);
      writer.node_field("upper", view.upper);
      writer.node_field("step", view.step);
      break;
    }
    default:
      writer.list_field("children", tree.children(id));
      break;
  }
  writer.close_at(id);
}

void write_pattern(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  const NodeKind kind = tree.kind(id);
  if (kind == NodeKind::MatchMapping) return write_mapping_pattern(writer, id);
  if (kind == NodeKind::MatchClass) return write_class_pattern(writer, id);
  writer.open(node_name(kind));
  switch (kind) {
    case NodeKind::MatchValue:
      put_required(writer, "value", tree.first_child(id));
      break;
    case NodeKind::MatchSingleton:
      writer.field("value");
      writer.put(constant_text(writer, id));
      break;
    case NodeKind::MatchStar:
      writer.name_field("name", capture_name(writer, id));
      break;
    case NodeKind::MatchAs:
      writer.node_field("pattern", tree.first_child(id));
      writer.name_field("name", capture_name(writer, id));
      break;
    default:
      writer.list_field("patterns", tree.children(id));
      break;
  }
  writer.close_at(id);
}

}  // namespace graphmend

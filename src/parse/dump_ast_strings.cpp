// The tree as CPython prints it: strings. In: a string, f-string, t-string, their concatenation or a field. Out: its
// pieces. CPython joins neighbouring texts across all parts of a concatenation and drops empty ones; this does the
// same.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lex/literal.h"
#include "lex/python_repr.h"
#include "parse/ast_writer.h"
#include "parse/fstring_text.h"
#include "parse/views.h"

namespace graphmend {

namespace {

// One of JoinedStr's values: a text, or the field that `node` is.
struct Value {
  NodeId node;
  std::string text;
  Span span;
  // CPython's kind 'u': a lower-case `u` before the first of the joined texts.
  bool has_u_prefix = false;
};

Span string_span(const AstWriter& writer, NodeId id) { return node_span(writer.tree, writer.tokens, id); }

// What is between the quotes of a String token; to the end when the closing quotes are missing.
std::string_view string_body(std::string_view text, const Token& token) {
  const std::string_view whole = token.span().in(text);
  const size_t quotes = (token.flags & string_flag::kTriple) != 0 ? 3 : 1;
  const size_t start = token.prefix_length + quotes;
  if (whole.size() < start) return {};
  const std::string_view body = whole.substr(start);
  const std::string_view closing = whole.substr(token.prefix_length, quotes);
  return body.ends_with(closing) ? body.substr(0, body.size() - quotes) : body;
}

Value string_value(const AstWriter& writer, NodeId id) {
  const Token& token = writer.tokens[writer.tree[id].first_token];
  const bool has_u_prefix = token.span().in(writer.text).starts_with('u');
  return {NodeId(), decode_string(string_body(writer.text, token), token.flags).value, token.span(), has_u_prefix};
}

void put_constant(AstWriter& writer, std::string_view repr, bool has_u_prefix, Span span) {
  writer.open("Constant");
  writer.field("value");
  writer.put(repr);
  if (has_u_prefix) {
    writer.field("kind");
    writer.put("'u'");
  }
  writer.close_at(span);
}

// The text before a `=` field starts behind the brace.
Value debug_value(const AstWriter& writer, NodeId id, bool in_format_spec) {
  const Token& brace = writer.tokens[writer.tree[id].first_token];
  const uint32_t end = writer.tokens[expression_end(writer.tree, writer.tokens, id)].start;
  std::string value = debug_text(writer.text, writer.tree, writer.tokens, id);
  // 3.13 reads escapes in it as in the other text of the f-string, but not within formats; 3.14's t-strings never do.
  const NodeId parent = writer.tree.parent(id);
  const uint8_t flags = parent ? writer.tokens[writer.tree[parent].first_token].flags : uint8_t{0};
  const bool has_escapes = !in_format_spec && (flags & (string_flag::kRaw | string_flag::kTemplate)) == 0;
  if (has_escapes) value = decode_string(value, 0).value;
  return {NodeId(), std::move(value), {brace.end, std::max(brace.end, end)}};
}

// The children of an FString or FormatSpec.
void append_values(const AstWriter& writer, NodeId id, std::vector<Value>& values) {
  const Tree& tree = writer.tree;
  const bool in_format_spec = tree.kind(id) == NodeKind::FormatSpec;
  for (NodeId child : tree.children(id)) {
    if (tree.kind(child) == NodeKind::FStringText) {
      for (TokenId t = tree[child].first_token; t <= tree[child].last_token; ++t) {
        for (FStringPart& part : fstring_parts(writer.text, writer.tokens[t], in_format_spec)) {
          values.push_back({NodeId(), std::move(part.value), part.span});
        }
      }
    } else {
      const bool is_debug = tree.kind(child) == NodeKind::Interpolation && tree[child].has(node_flag::kDebug);
      if (is_debug) {
        Value value = debug_value(writer, child, in_format_spec);
        if (!value.text.empty()) values.push_back(std::move(value));
      }
      values.push_back({child, {}, {}});
    }
  }
}

// Joins neighbouring texts; the first one says where the result starts and of what kind it is.
std::vector<Value> joined(std::vector<Value> values) {
  std::vector<Value> result;
  for (size_t i = 0; i < values.size();) {
    if (values[i].node) {
      result.push_back(std::move(values[i++]));
      continue;
    }
    Value text = std::move(values[i++]);
    for (; i < values.size() && !values[i].node; ++i) {
      text.text += values[i].text;
      text.span.end = values[i].span.end;
    }
    if (!text.text.empty()) result.push_back(std::move(text));
  }
  return result;
}

void put_joined(AstWriter& writer, std::string_view name, std::vector<Value> values, Span span) {
  values = joined(std::move(values));
  writer.open(name);
  if (!values.empty()) {
    writer.field("values");
    std::string_view separator = "[";
    for (const Value& value : values) {
      writer.put(separator);
      separator = ", ";
      if (value.node) {
        writer.put_node(value.node);
      } else {
        put_constant(writer, str_repr(value.text), value.has_u_prefix, value.span);
      }
    }
    writer.put("]");
  }
  writer.close_at(span);
}

// String, FString and Strings: one or more parts, all of them bytes, strings and f-strings, or t-strings.
void write_literal(AstWriter& writer, NodeId id, const std::vector<NodeId>& parts) {
  const Tree& tree = writer.tree;
  bool has_fields = false;
  bool is_template = false;
  bool is_bytes = false;
  std::vector<Value> values;
  for (NodeId part : parts) {
    if (tree.kind(part) == NodeKind::FString) {
      has_fields = true;
      is_template |= tree[part].has(node_flag::kTemplate);
      append_values(writer, part, values);
    } else {
      is_bytes |= (writer.tokens[tree[part].first_token].flags & string_flag::kBytes) != 0;
      values.push_back(string_value(writer, part));
    }
  }
  const Span span = string_span(writer, id);
  if (has_fields) return put_joined(writer, is_template ? "TemplateStr" : "JoinedStr", std::move(values), span);
  std::string whole;
  for (const Value& value : values) whole += value.text;
  const bool has_u_prefix = !values.empty() && values[0].has_u_prefix;
  put_constant(writer, is_bytes ? bytes_repr(whole) : str_repr(whole), has_u_prefix, span);
}

// The format is a JoinedStr, but where CPython's tokenizer cut a text without fields in two, it is a Constant.
void write_format_spec(AstWriter& writer, NodeId id) {
  std::vector<Value> values;
  append_values(writer, id, values);
  bool has_fields = false;
  for (const Value& value : values) has_fields |= static_cast<bool>(value.node);
  if (has_fields || values.size() < 2)
    return put_joined(writer, "JoinedStr", std::move(values), string_span(writer, id));
  const Value text = joined(std::move(values))[0];
  put_constant(writer, str_repr(text.text), false, text.span);
}

void write_interpolation(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  const Node& node = tree[id];
  const NodeId parent = tree.parent(id);
  const bool is_template = parent && tree.kind(parent) == NodeKind::FString && tree[parent].has(node_flag::kTemplate);
  InterpolationView view(tree, id);
  writer.open(is_template ? "Interpolation" : "FormattedValue");
  writer.field("value");
  writer.put_node(view.expression);
  if (is_template) writer.text_field("str", interpolation_source(writer.text, tree, writer.tokens, id));
  writer.field("conversion");
  if (node.op != 0) {
    writer.put(std::to_string(node.op));
  } else {
    writer.put(node.has(node_flag::kDebug) && !view.format_spec ? "114" : "-1");
  }
  writer.node_field("format_spec", view.format_spec);
  writer.close_at(id);
}

}  // namespace

void write_string(AstWriter& writer, NodeId id) {
  const Tree& tree = writer.tree;
  switch (tree.kind(id)) {
    case NodeKind::Interpolation:
      return write_interpolation(writer, id);
    case NodeKind::FormatSpec:
      return write_format_spec(writer, id);
    case NodeKind::Strings: {
      std::vector<NodeId> parts;
      for (NodeId part : tree.children(id)) parts.push_back(part);
      return write_literal(writer, id, parts);
    }
    default:
      return write_literal(writer, id, {id});
  }
}

}  // namespace graphmend

// The work list of dump_ast. In: the pieces of one node at a time. Out: the text, in order, without recursion.
// What each node consists of is said in the dump_ast files.
#include "parse/ast_writer.h"

#include <charconv>

#include "lex/python_repr.h"
#include "parse/views.h"

namespace graphmend {

namespace {

void expand(AstWriter& writer, NodeId id) {
  switch (writer.tree.kind(id)) {
    case NodeKind::FunctionDef:
    case NodeKind::ClassDef:
    case NodeKind::Parameter:
    case NodeKind::TypeVar:
    case NodeKind::ParamSpec:
    case NodeKind::TypeVarTuple:
      return write_definition(writer, id);
    case NodeKind::String:
    case NodeKind::FString:
    case NodeKind::Strings:
    case NodeKind::Interpolation:
    case NodeKind::FormatSpec:
      return write_string(writer, id);
    case NodeKind::ErrorExpression:
    case NodeKind::ErrorStatement:
      return write_other(writer, id);
    case NodeKind::Keyword:
    case NodeKind::Comprehension:
      return write_expression(writer, id);
    default:
      break;
  }
  switch (node_group(writer.tree.kind(id))) {
    case NodeGroup::Expression:
      return write_expression(writer, id);
    case NodeGroup::Pattern:
      return write_pattern(writer, id);
    case NodeGroup::Root:
    case NodeGroup::Statement:
    case NodeGroup::Clause:
      return write_statement(writer, id);
  }
}

}  // namespace

std::string AstWriter::run(NodeId root) {
  if (tree.size() == 0) return "Module()";
  put_node(root);
  flush();
  while (!waiting_.empty()) {
    Piece piece = waiting_.back();
    waiting_.pop_back();
    if (piece.node) {
      expand(*this, piece.node);
      flush();
    } else {
      size_t start = waiting_text_.size() - piece.length;
      out_.append(waiting_text_, start);
      waiting_text_.resize(start);
    }
  }
  return std::move(out_);
}

void AstWriter::flush() {
  size_t first = 0;
  size_t text_end = pieces_text_.size();
  // Text before the first child can go out at once.
  if (!pieces_.empty() && !pieces_[0].node) {
    out_.append(pieces_text_, 0, pieces_[0].length);
    first = 1;
  }
  for (size_t i = pieces_.size(); i > first; --i) {
    const Piece& piece = pieces_[i - 1];
    waiting_.push_back(piece);
    if (piece.node) continue;
    text_end -= piece.length;
    waiting_text_.append(pieces_text_, text_end, piece.length);
  }
  pieces_.clear();
  pieces_text_.clear();
}

void AstWriter::put(std::string_view value) {
  if (pieces_.empty() || pieces_.back().node) pieces_.push_back({});
  pieces_.back().length += static_cast<uint32_t>(value.size());
  pieces_text_ += value;
}

void AstWriter::put_node(NodeId id) {
  if (id) {
    pieces_.push_back({id, 0});
  } else {
    put("None");
  }
}

void AstWriter::put_nodes(ChildRange range) {
  bool first = true;
  for (NodeId id : range) {
    if (!first) put(", ");
    put_node(id);
    first = false;
  }
}

void AstWriter::open(std::string_view name) {
  put(name);
  put("(");
  needs_comma_ = false;
}

void AstWriter::field(std::string_view name) {
  if (needs_comma_) put(", ");
  put(name);
  put("=");
  needs_comma_ = true;
}

void AstWriter::node_field(std::string_view name, NodeId id) {
  if (!id) return;
  field(name);
  put_node(id);
}

void AstWriter::list_field(std::string_view name, ChildRange range) {
  if (range.empty()) return;
  field(name);
  put("[");
  put_nodes(range);
  put("]");
}

void AstWriter::list_field(std::string_view name, const std::vector<NodeId>& ids) {
  if (ids.empty()) return;
  field(name);
  for (size_t i = 0; i < ids.size(); ++i) {
    put(i == 0 ? "[" : ", ");
    put_node(ids[i]);
  }
  put("]");
}

void AstWriter::body_field(std::string_view name, NodeId clause) {
  if (clause && tree.kind(clause) != NodeKind::Body) clause = tree.first_child(clause);
  if (clause && tree.kind(clause) == NodeKind::Body) list_field(name, tree.children(clause));
}

void AstWriter::name_field(std::string_view name, TokenId token) {
  if (token) text_field(name, identifier_text(text, tokens[token]));
}

void AstWriter::text_field(std::string_view name, std::string_view value) {
  field(name);
  put(str_repr(value));
}

void AstWriter::context_field(NodeId id) {
  field("ctx");
  switch (tree[id].context()) {
    case Context::Store:
      return put("Store()");
    case Context::Delete:
      return put("Del()");
    default:
      return put("Load()");
  }
}

void AstWriter::close() {
  put(")");
  needs_comma_ = true;
}

void AstWriter::close_at(Span span) {
  put_position("lineno", "col_offset", span.start);
  put_position("end_lineno", "end_col_offset", span.end);
  close();
}

void AstWriter::put_position(std::string_view line_name, std::string_view column_name, uint32_t offset) {
  Position position = lines_.position(offset);
  field(line_name);
  put_number(position.line);
  field(column_name);
  put_number(position.column);
}

void AstWriter::put_number(uint32_t number) {
  char digits[10];
  char* end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  put(std::string_view(digits, static_cast<size_t>(end - digits)));
}

}  // namespace graphmend

// The work list of dump_ast. In: the pieces of one node at a time. Out: the text, in order, without recursion.
// Trees are as deep as their longest chain of operators, so what waits to be printed is kept here and not on the stack.
// The `write_*` functions below expand one node each: they hand over its text and the children that go in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "lex/token.h"
#include "parse/tree.h"
#include "source/line_index.h"

namespace graphmend {

class AstWriter {
 public:
  AstWriter(std::string_view source_text, const Tokens& source_tokens, const Tree& source_tree)
      : text(source_text), tokens(source_tokens), tree(source_tree), lines_(source_text) {}

  const std::string_view text;
  const Tokens& tokens;
  const Tree& tree;

  // Prints the tree below `root`; to be called once.
  std::string run(NodeId root);

  // `Name(`, to be matched by one of the closing functions.
  void open(std::string_view name);
  // `name=`, with a comma before it unless it is the first one; what follows is the value.
  void field(std::string_view name);
  void put(std::string_view value);
  // The node, expanded later; `None` when absent.
  void put_node(NodeId id);
  void put_nodes(ChildRange range);

  // Fields that are left out when there is nothing in them.
  void node_field(std::string_view name, NodeId id);
  void list_field(std::string_view name, ChildRange range);
  void list_field(std::string_view name, const std::vector<NodeId>& ids);
  // The statements of a Body, or of the Body in an Else or Finally.
  void body_field(std::string_view name, NodeId clause);
  void name_field(std::string_view name, TokenId token);

  void text_field(std::string_view name, std::string_view value);
  void context_field(NodeId id);

  void close();
  void close_at(Span span);
  void close_at(NodeId id) { close_at(node_span(tree, tokens, id)); }

 private:
  // A node that waits for its expansion, or `length` bytes of text.
  struct Piece {
    NodeId node;
    uint32_t length = 0;
  };

  void flush();
  void put_number(uint32_t number);
  void put_position(std::string_view line_name, std::string_view column_name, uint32_t offset);

  LineIndex lines_;
  std::string out_;
  // The expansion of the current node, first to last.
  std::vector<Piece> pieces_;
  std::string pieces_text_;
  // What comes after it, last to first; the texts lie in the same order, so the next one is always at the end.
  std::vector<Piece> waiting_;
  std::string waiting_text_;
  bool needs_comma_ = false;
};

// Statements and their clauses.
void write_statement(AstWriter& writer, NodeId id);
// Function and class definitions, parameters and type parameters.
void write_definition(AstWriter& writer, NodeId id);
void write_expression(AstWriter& writer, NodeId id);
void write_pattern(AstWriter& writer, NodeId id);
// Strings, f-strings, their fields and formats.
void write_string(AstWriter& writer, NodeId id);
// A kind CPython has no counterpart for at this place; only after syntax errors.
void write_other(AstWriter& writer, NodeId id);

// `arguments(…)` of a function or lambda; `parameters` may be absent.
void put_arguments(AstWriter& writer, NodeId parameters);
// `args` and `keywords` of a call, `bases` and `keywords` of a class.
void put_call_arguments(AstWriter& writer, std::string_view name, ChildRange arguments);

}  // namespace graphmend

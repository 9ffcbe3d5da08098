// The parser's state and its grammar, shared by its files. In: tokens. Out: nodes, children first, and errors.
// One method per rule; each carries its rule of the grammar where it is defined. A method appends the nodes it has
// read; its caller wraps them by remembering where they began (`Mark`).
//
// After an error the parser pretends to stand at the end of the file: no rule matches any more, every loop ends, and
// the statement that failed is closed as an ErrorStatement (recovery.cpp), behind which parsing goes on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "lex/token.h"
#include "parse/parser.h"
#include "parse/tree.h"
#include "source/line_index.h"

namespace graphmend {

// Levels of precedence, loosest first; a rule parses everything that binds at least as tightly as its level.
enum class Level : uint8_t { None, Or, And, Not, Compare, BitOr, BitXor, BitAnd, Shift, Sum, Product };

class Parser {
 public:
  Parser(std::string_view text, const Tokens& tokens, Version target);
  ParseResult run();

 private:
  // Where a node began: its first token, and the number of nodes before its children.
  struct Mark {
    uint32_t token;
    uint32_t node;
  };

  // Optional parts of `emit`.
  struct Extra {
    uint8_t op = 0;
    uint8_t flags = 0;
    uint8_t optional = 0;
  };

  // How deep the rules may call each other, in units of about the stack one level of `not` takes. CPython's own limits
  // (200 brackets, 100 indents, 6000 rules) lie below what this allows.
  static constexpr uint32_t kMaxDepth = 9000;
  static constexpr uint32_t kBracketDepth = 25;
  static constexpr uint32_t kBlockDepth = 20;
  static constexpr uint32_t kOperatorDepth = 1;
  static constexpr uint32_t kLambdaDepth = 3;

  // Counts the depth while it lives. For a bracket, which is the current token then, it also remembers it as the
  // innermost open one, and ends the reach of an f-string field's colon.
  class Deeper {
   public:
    Deeper(Parser& parser, uint32_t units);
    ~Deeper();
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Parser& parser_;
    uint32_t units_;
    bool saved_bare_field_;
    uint32_t saved_open_bracket_;
  };

  // parser.cpp: tokens and nodes
  void advance();
  bool at(TokenKind kind) const { return kind_ == kind; }
  bool accept(TokenKind kind) {
    if (kind_ != kind) return false;
    advance();
    return true;
  }
  bool expect(TokenKind kind, std::string_view after = {});
  bool expect_close(TokenKind close, uint32_t open_token);
  bool at_name(std::string_view text) const { return kind_ == TokenKind::Name && token_text_at(pos_) == text; }
  uint32_t next_index(uint32_t index) const;
  TokenKind peek_after(uint32_t index) const { return tokens_[TokenId(next_index(index))].kind; }
  TokenKind peek_kind() const { return peek_after(pos_); }
  std::string_view token_text_at(uint32_t index) const { return tokens_[TokenId(index)].span().in(text_); }
  Mark mark() const { return {pos_, static_cast<uint32_t>(nodes_.size())}; }
  void emit(NodeKind kind, Mark from, Extra extra);
  void emit(NodeKind kind, Mark from) { emit(kind, from, Extra{}); }
  void emit_leaf(NodeKind kind, Extra extra);
  void emit_leaf(NodeKind kind) { emit_leaf(kind, Extra{}); }
  Node& last() { return nodes_.back(); }
  // Something was parsed since `from`.
  bool has_node_since(Mark from) const { return nodes_.size() > from.node; }

  // recovery.cpp: errors
  void fail(std::string message);
  void fail_at(Span span, std::string message);
  void fail_expected(std::string_view what);
  // An error that does not keep the parser from going on.
  void report(Span span, std::string message);
  void require(Version version, std::string_view what, Span span);
  bool failed() const { return failed_; }
  Span current_span() const;
  Span span_since(Mark from) const;
  Span span_of(const Node& node) const { return {tokens_[node.first_token].start, tokens_[node.last_token].end}; }
  std::string place_of(uint32_t token) const;
  std::string closing_of(uint32_t open_token) const;
  void recover(Mark from);
  void skip_line();

  // statements.cpp
  void statements_until(TokenKind end);
  void indented_statements();
  void statement();
  void statement_line();
  void simple_statement();
  void expression_statement();
  void assignment(Mark from);
  void augmented_assignment(Mark from, Operator op);
  void annotated_assignment(Mark from);
  bool begins_with_grouped_target(Mark from) const;
  void require_no_bare_star(Mark value, std::string_view where);
  void return_statement();
  void delete_statement();
  void raise_statement();
  void assert_statement();
  void names_statement(NodeKind kind);
  void import_statement();
  void import_from_statement();
  void import_alias(bool dotted);
  void type_alias();

  // compound.cpp
  void block(std::string_view after, uint32_t header_token);
  void if_statement();
  void while_statement();
  void for_statement(Mark from, bool is_async);
  bool else_clause();
  void with_statement(Mark from, bool is_async);
  bool with_items_are_parenthesized() const;
  void with_item();
  void try_statement();
  void except_clause(bool is_star);
  void decorated();
  void check_old_decorator(Mark value);
  void function_definition(Mark from, bool is_async);
  void class_definition(Mark from);
  void async_statement();
  bool at_match_statement() const;
  void match_statement();
  void match_case();

  // expressions.cpp
  void star_expressions();
  void star_expression();
  void expression_list(Mark from);
  void yield_or_star_expressions();
  void yield_expression();
  void named_expression();
  void star_named_expression();
  void expression();
  void lambda();
  void operators(Level level);
  void compare_operator();
  bool at_compare_operator() const;
  void unary();
  void power();
  void primary();
  void call(Mark from);
  void call_arguments(TokenKind close, uint32_t open_token, bool allow_generator);
  void subscript(Mark from);
  void slice();

  // atoms.cpp
  void atom();
  void number();
  void parenthesized();
  bool starred_is_loose(Mark from);
  void list_display();
  void brace_display();
  void dict_item(bool& is_dict, bool first);
  void comprehension_clauses();
  bool at_comprehension() const;

  // strings.cpp
  void strings();
  void string_part();
  void f_string();
  void f_string_parts(uint8_t clear_flags);
  void f_string_field();
  void format_spec();
  void check_old_f_string(Mark from);

  // targets.cpp
  void targets(std::string_view role);
  void single_target(std::string_view role);
  bool to_target(uint32_t node, Context context, std::string_view role);
  bool is_single_target(const Node& node) const;
  std::string describe(const Node& node) const;

  // parameters.cpp
  void function_parameters(uint32_t open_token);
  void parameter_list(bool annotated, TokenKind close);
  void parameter(bool annotated, ParameterSection section, bool allow_star_annotation);
  void type_parameters();
  void type_parameter(bool& seen_default);

  // patterns.cpp
  void patterns();
  void pattern();
  void or_pattern();
  void closed_pattern();
  void star_pattern();
  void sequence_patterns(TokenKind close);
  bool literal_expression();
  void name_pattern();
  void group_or_sequence_pattern();
  void mapping_pattern();
  void class_pattern(Mark from);
  void dotted_name_expression();

  const std::string_view text_;
  const Tokens& tokens_;
  const Version target_;
  // The current token, its kind (EndOfFile while recovering), and the last one consumed.
  uint32_t pos_ = 0;
  TokenKind kind_ = TokenKind::EndOfFile;
  uint32_t previous_ = 0;
  std::vector<Node> nodes_;
  Diagnostics errors_;
  // For messages that name a line.
  mutable std::optional<LineIndex> lines_;
  bool failed_ = false;
  // Directly in an f-string field, where a colon starts the format: a lambda needs parentheses there.
  bool bare_field_ = false;
  // The innermost bracket that is open.
  uint32_t open_bracket_ = TokenId::kNone;
  uint32_t depth_ = 0;
};

}  // namespace graphmend

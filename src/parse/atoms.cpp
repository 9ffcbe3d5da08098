// Atoms: names, numbers, constants, and what stands in brackets. In: tokens at an atom. Out: its nodes.
#include "lex/literal.h"
#include "parse/parser_state.h"

namespace graphmend {

// atom: NAME | NUMBER | strings | 'True' | 'False' | 'None' | '...' | parenthesized | list | braces
void Parser::atom() {
  switch (kind_) {
    case TokenKind::Name:
      return emit_leaf(NodeKind::Name);
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Imaginary:
      return number();
    case TokenKind::String:
    case TokenKind::FStringStart:
      return strings();
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::None:
    case TokenKind::Ellipsis:
      return emit_leaf(NodeKind::Constant);
    case TokenKind::LeftParen:
      return parenthesized();
    case TokenKind::LeftBracket:
      return list_display();
    case TokenKind::LeftBrace:
      return brace_display();
    case TokenKind::Yield:
      return fail("a yield expression needs parentheses here");
    default:
      return fail_expected("an expression");
  }
}

void Parser::number() {
  const Token& token = tokens_[TokenId(pos_)];
  if (at(TokenKind::Int)) {
    if (auto error = check_int(token_text_at(pos_))) report(token.span(), error->message);
  }
  emit_leaf(NodeKind::Number);
  const bool glued = tokens_[TokenId(pos_)].start == token.end;
  if (glued && target_ >= Version{10} && (at(TokenKind::As) || at(TokenKind::From) || at(TokenKind::Async))) {
    report(token.span(), "a number needs a space before `" + std::string(token_text(kind_)) + "`");
  }
}

bool Parser::at_comprehension() const {
  return kind_ == TokenKind::For || (kind_ == TokenKind::Async && peek_kind() == TokenKind::For);
}

// parenthesized: '(' ')' | '(' yield_expression ')' | '(' named_expression ')' | '(' star_named_expression clauses ')'
//   | '(' star_named_expression ',' [star_named_expression (',' star_named_expression)* [',']] ')'
void Parser::parenthesized() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  Mark from = mark();
  advance();
  if (accept(TokenKind::RightParen)) return emit(NodeKind::Tuple, from, {.flags = node_flag::kParenthesized});
  if (at(TokenKind::Yield)) {
    yield_expression();
    expect_close(TokenKind::RightParen, from.token);
    return;
  }
  Mark inner = mark();
  const bool starred = at(TokenKind::Star);
  const bool loose = starred && starred_is_loose(inner);
  starred ? void(0) : named_expression();
  if (at_comprehension()) {
    if (starred) require({15}, "unpacking in a comprehension", span_since(inner));
    comprehension_clauses();
    expect_close(TokenKind::RightParen, from.token);
    return emit(NodeKind::GeneratorExp, from);
  }
  if (loose && !failed()) return fail_at(span_since(inner), "the operand of `*` needs parentheses here");
  if (at(TokenKind::Comma)) {
    while (accept(TokenKind::Comma) && !at(TokenKind::RightParen)) star_named_expression();
    expect_close(TokenKind::RightParen, from.token);
    return emit(NodeKind::Tuple, from, {.flags = node_flag::kParenthesized});
  }
  if (!expect_close(TokenKind::RightParen, from.token)) return;
  // 3.8 still took this as an element of a list or a tuple around it.
  if (starred && target_ >= Version{9}) {
    fail_at(span_of(last()), "a starred expression in parentheses needs a comma behind it");
  }
}

// '*' expression, as the element of a generator. True when the operand is more than a bitwise_or: other places where
// a star may stand do not take that.
bool Parser::starred_is_loose(Mark from) {
  advance();
  Mark operand = mark();
  expression();
  if (failed()) return false;
  const Node& node = last();
  const bool whole = node.first_token.index == operand.token;
  const bool loose = node.kind == NodeKind::IfExp || node.kind == NodeKind::Lambda || node.kind == NodeKind::Compare ||
                     node.kind == NodeKind::BoolOp ||
                     (node.kind == NodeKind::UnaryOp && node.operation() == Operator::Not);
  // In parentheses the last token is the closing one, not the node's.
  const bool bare = whole && node.last_token.index == previous_;
  emit(NodeKind::Starred, from);
  return loose && bare;
}

// list: '[' [star_named_expression (',' star_named_expression)* [',']] ']' | '[' star_named_expression clauses ']'
void Parser::list_display() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  Mark from = mark();
  advance();
  bool first = true;
  while (!at(TokenKind::RightBracket) && !failed()) {
    Mark element = mark();
    const bool starred = at(TokenKind::Star);
    star_named_expression();
    if (first && at_comprehension()) {
      if (starred) require({15}, "unpacking in a comprehension", span_since(element));
      comprehension_clauses();
      expect_close(TokenKind::RightBracket, from.token);
      return emit(NodeKind::ListComp, from);
    }
    first = false;
    if (!accept(TokenKind::Comma)) break;
  }
  expect_close(TokenKind::RightBracket, from.token);
  emit(NodeKind::List, from);
}

// dict_item: '**' bitwise_or | expression ':' expression        of a set: star_named_expression
void Parser::dict_item(bool& is_dict, bool first) {
  Mark from = mark();
  if (at(TokenKind::DoubleStar) && (is_dict || first)) {
    is_dict = true;
    const bool loose = starred_is_loose(from);
    if (failed()) return;
    last().kind = NodeKind::DictUnpack;
    if (loose && !(first && at_comprehension())) {
      fail_at(span_since(from), "the operand of `**` needs parentheses here");
    }
    return;
  }
  if (is_dict) {
    expression();
  } else {
    star_named_expression();
    if (failed() || !first || !at(TokenKind::Colon)) {
      if (!failed() && last().kind == NodeKind::NamedExpr && last().first_token.index == from.token) {
        require({9}, "an unparenthesized `:=` in a set", span_since(from));
      }
      return;
    }
    const bool is_key = last().kind != NodeKind::Starred &&
                        (last().kind != NodeKind::NamedExpr || last().first_token.index != from.token);
    if (!is_key) return fail_at(span_of(last()), describe(last()) + " cannot be the key of a dict");
    is_dict = true;
  }
  expect(TokenKind::Colon, "the key of a dict");
  expression();
}

// braces: '{' [dict_item (',' dict_item)* [',']] '}' | '{' dict_item clauses '}', and the same for sets
void Parser::brace_display() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  Mark from = mark();
  advance();
  if (accept(TokenKind::RightBrace)) return emit(NodeKind::Dict, from);
  bool is_dict = false;
  bool first = true;
  while (!at(TokenKind::RightBrace) && !failed()) {
    Mark item = mark();
    const bool unpacks = at(TokenKind::Star) || at(TokenKind::DoubleStar);
    dict_item(is_dict, first);
    if (first && at_comprehension()) {
      if (unpacks) require({15}, "unpacking in a comprehension", span_since(item));
      comprehension_clauses();
      expect_close(TokenKind::RightBrace, from.token);
      return emit(is_dict ? NodeKind::DictComp : NodeKind::SetComp, from);
    }
    first = false;
    if (!accept(TokenKind::Comma)) break;
  }
  expect_close(TokenKind::RightBrace, from.token);
  emit(is_dict ? NodeKind::Dict : NodeKind::Set, from);
}

// clauses: (['async'] 'for' targets 'in' disjunction ('if' disjunction)*)+
void Parser::comprehension_clauses() {
  while (at_comprehension()) {
    Mark from = mark();
    const bool is_async = accept(TokenKind::Async);
    advance();
    targets("assign to");
    expect(TokenKind::In, "the comprehension's target");
    operators(Level::Or);
    while (accept(TokenKind::If)) {
      // Up to 3.8 a lambda could stand here without parentheses.
      if (at(TokenKind::Lambda) && target_ < Version{9}) {
        lambda();
      } else {
        operators(Level::Or);
      }
    }
    emit(NodeKind::Comprehension, from, {.flags = is_async ? node_flag::kAsync : uint8_t{0}});
  }
}

}  // namespace graphmend

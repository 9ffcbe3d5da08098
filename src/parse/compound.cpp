// Compound statements. In: tokens at `if`, `for`, `def`, …. Out: their nodes, with a Body for every block.
#include "parse/parser_state.h"

namespace graphmend {

// block: ':' (NEWLINE INDENT statement+ DEDENT | simple_statement_line)
void Parser::block(std::string_view after, uint32_t header_token) {
  if (failed()) return;
  Mark from = mark();
  if (!expect(TokenKind::Colon)) return;
  if (!at(TokenKind::Newline)) {
    switch (kind_) {
      case TokenKind::If:
      case TokenKind::For:
      case TokenKind::While:
      case TokenKind::With:
      case TokenKind::Try:
      case TokenKind::Def:
      case TokenKind::Class:
      case TokenKind::Async:
      case TokenKind::At:
        return fail("a compound statement cannot stand on the line of another; it needs a block of its own");
      default:
        break;
    }
    statement_line();
    return emit(NodeKind::Body, from);
  }
  advance();
  if (!at(TokenKind::Indent)) {
    return fail("expected an indented block after `" + std::string(after) + "`" + place_of(header_token));
  }
  indented_statements();
  emit(NodeKind::Body, from);
}

// if_statement: 'if' named_expression block ('elif' named_expression block)* [else]
void Parser::if_statement() {
  Mark from = mark();
  advance();
  named_expression();
  block("if", from.token);
  while (at(TokenKind::Elif)) {
    Mark clause = mark();
    advance();
    named_expression();
    block("elif", clause.token);
    emit(NodeKind::Elif, clause);
  }
  const bool has_else = else_clause();
  emit(NodeKind::If, from, {.optional = static_cast<uint8_t>(has_else)});
}

// else: 'else' block
bool Parser::else_clause() {
  if (!at(TokenKind::Else)) return false;
  Mark from = mark();
  advance();
  block("else", from.token);
  emit(NodeKind::Else, from);
  return true;
}

// while_statement: 'while' named_expression block [else]
void Parser::while_statement() {
  Mark from = mark();
  advance();
  named_expression();
  block("while", from.token);
  const bool has_else = else_clause();
  emit(NodeKind::While, from, {.optional = static_cast<uint8_t>(has_else)});
}

// for_statement: ['async'] 'for' targets 'in' star_expressions block [else]
void Parser::for_statement(Mark from, bool is_async) {
  const uint32_t keyword = pos_;
  advance();
  targets("assign to");
  expect(TokenKind::In, "the loop's target");
  Mark iterable = mark();
  star_expressions();
  require_no_bare_star(iterable, "a `for` loop");
  block("for", keyword);
  const bool has_else = else_clause();
  emit(NodeKind::For, from,
       {.flags = is_async ? node_flag::kAsync : uint8_t{0}, .optional = static_cast<uint8_t>(has_else)});
}

// Whether the parenthesis after `with` holds the list of items (PEP 617), and is not part of an expression: it must be
// followed by the colon and contain what an item can be, which a walrus, a star, a yield or a generator is not.
bool Parser::with_items_are_parenthesized() const {
  uint32_t depth = 0;
  bool in_lambda = false;
  bool has_as = false;
  bool only_expression = false;
  TokenKind before = TokenKind::EndOfFile;
  uint32_t i = pos_;
  for (;; i = next_index(i)) {
    const TokenKind kind = tokens_[TokenId(i)].kind;
    if (kind == TokenKind::Newline || kind == TokenKind::EndOfFile) return false;
    if (kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket || kind == TokenKind::LeftBrace) ++depth;
    if (kind == TokenKind::RightParen || kind == TokenKind::RightBracket || kind == TokenKind::RightBrace) {
      if (--depth == 0) break;
    }
    if (depth == 1) {
      if (kind == TokenKind::Lambda) in_lambda = true;
      if (kind == TokenKind::Colon) in_lambda = false;
      if (kind == TokenKind::As) has_as = true;
      const bool starts_item = before == TokenKind::LeftParen || before == TokenKind::Comma;
      if (kind == TokenKind::ColonEqual || kind == TokenKind::For || kind == TokenKind::Yield ||
          (kind == TokenKind::Star && starts_item && !in_lambda)) {
        only_expression = true;
      }
    }
    before = kind;
  }
  if (before == TokenKind::LeftParen || peek_after(i) != TokenKind::Colon) return false;
  return has_as || (!only_expression && target_ >= Version{9});
}

// with_statement: ['async'] 'with' ('(' with_item (',' with_item)* [','] ')' | with_item (',' with_item)*) block
void Parser::with_statement(Mark from, bool is_async) {
  const uint32_t keyword = pos_;
  advance();
  if (at(TokenKind::LeftParen) && with_items_are_parenthesized()) {
    const uint32_t open = pos_;
    require({9}, "a parenthesized list of `with` items", tokens_[TokenId(open)].span());
    advance();
    do {
      with_item();
    } while (accept(TokenKind::Comma) && !at(TokenKind::RightParen));
    expect_close(TokenKind::RightParen, open);
  } else {
    do {
      with_item();
    } while (accept(TokenKind::Comma));
  }
  block("with", keyword);
  emit(NodeKind::With, from, {.flags = is_async ? node_flag::kAsync : uint8_t{0}});
}

// with_item: expression ['as' star_target]
void Parser::with_item() {
  Mark from = mark();
  expression();
  const bool has_target = accept(TokenKind::As);
  if (has_target) single_target("assign to");
  emit(NodeKind::WithItem, from, {.optional = static_cast<uint8_t>(has_target)});
}

// try_statement: 'try' block (except_clause+ [else] [finally] | finally)
void Parser::try_statement() {
  Mark from = mark();
  advance();
  block("try", from.token);
  uint32_t handlers = 0;
  bool is_star = false;
  while (at(TokenKind::Except)) {
    const bool star = peek_kind() == TokenKind::Star;
    if (handlers++ > 0 && star != is_star) return fail("cannot have both `except` and `except*` on the same `try`");
    is_star = star;
    except_clause(star);
  }
  uint8_t optional = 0;
  if (handlers > 0 && else_clause()) optional |= 1;
  if (at(TokenKind::Finally)) {
    Mark clause = mark();
    advance();
    block("finally", clause.token);
    emit(NodeKind::Finally, clause);
    optional |= 2;
  } else if (handlers == 0) {
    return fail_expected("`except` or `finally` after the block of `try`");
  }
  emit(NodeKind::Try, from, {.flags = is_star ? node_flag::kStar : uint8_t{0}, .optional = optional});
}

// except_clause: 'except' ['*'] [expression (',' expression)* ['as' NAME]] block
void Parser::except_clause(bool is_star) {
  Mark from = mark();
  advance();
  if (is_star) {
    require({11}, "`except*`", tokens_[TokenId(pos_)].span());
    advance();
  }
  bool has_name = false;
  const bool has_type = is_star || !at(TokenKind::Colon);
  if (has_type) {
    Mark types = mark();
    expression();
    const bool several = at(TokenKind::Comma);
    if (several) {
      while (accept(TokenKind::Comma) && !at(TokenKind::Colon)) expression();
      emit(NodeKind::Tuple, types);
      require({14}, "several exception types without parentheses", span_since(types));
    }
    if (several && at(TokenKind::As)) return fail("several exception types need parentheses before `as`");
    has_name = accept(TokenKind::As);
    if (has_name) expect(TokenKind::Name, "`as`");
  }
  block(is_star ? "except*" : "except", from.token);
  emit(NodeKind::ExceptHandler, from,
       {.flags = has_name ? node_flag::kHasName : uint8_t{0}, .optional = static_cast<uint8_t>(has_type)});
}

// decorated: ('@' named_expression NEWLINE)+ (class_definition | function_definition)
void Parser::decorated() {
  Mark decorators = mark();
  while (at(TokenKind::At)) {
    Mark from = mark();
    advance();
    Mark value = mark();
    named_expression();
    if (target_ < Version{9} && !failed()) check_old_decorator(value);
    emit(NodeKind::Decorator, from);
    expect(TokenKind::Newline, "the decorator");
  }
  if (failed()) return;
  Mark from{pos_, decorators.node};
  if (at(TokenKind::Def)) return function_definition(from, false);
  if (at(TokenKind::Class)) return class_definition(from);
  if (at(TokenKind::Async) && peek_kind() == TokenKind::Def) {
    advance();
    return function_definition(from, true);
  }
  fail_expected("a function or class after its decorators");
}

// Before 3.9: '@' NAME ('.' NAME)* ['(' [arguments] ')'] NEWLINE
void Parser::check_old_decorator(Mark value) {
  uint32_t i = value.token;
  auto kind_at = [&](uint32_t index) { return tokens_[TokenId(index)].kind; };
  bool plain = kind_at(i) == TokenKind::Name;
  i = next_index(i);
  while (plain && kind_at(i) == TokenKind::Dot) i = next_index(next_index(i));
  if (plain && kind_at(i) == TokenKind::LeftParen) {
    uint32_t depth = 0;
    do {
      const TokenKind kind = kind_at(i);
      if (kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket || kind == TokenKind::LeftBrace) ++depth;
      if (kind == TokenKind::RightParen || kind == TokenKind::RightBracket || kind == TokenKind::RightBrace) --depth;
      i = next_index(i);
    } while (depth > 0 && i < pos_);
  }
  if (!plain || i != pos_) require({9}, "a decorator that is more than a dotted name and a call", span_since(value));
}

// function_definition: ['async'] 'def' NAME [type_parameters] '(' [parameters] ')' ['->' expression] block
void Parser::function_definition(Mark from, bool is_async) {
  const uint32_t keyword = pos_;
  advance();
  if (!expect(TokenKind::Name, "`def`")) return;
  uint8_t optional = 0;
  if (at(TokenKind::LeftBracket)) {
    type_parameters();
    optional |= 1;
  }
  const uint32_t open = pos_;
  if (!at(TokenKind::LeftParen)) return fail_expected("`(` with the function's parameters");
  function_parameters(open);
  if (accept(TokenKind::Arrow)) {
    expression();
    optional |= 2;
  }
  block("def", keyword);
  emit(NodeKind::FunctionDef, from, {.flags = is_async ? node_flag::kAsync : uint8_t{0}, .optional = optional});
}

// class_definition: 'class' NAME [type_parameters] ['(' [arguments] ')'] block
void Parser::class_definition(Mark from) {
  const uint32_t keyword = pos_;
  advance();
  if (!expect(TokenKind::Name, "`class`")) return;
  uint8_t optional = 0;
  if (at(TokenKind::LeftBracket)) {
    type_parameters();
    optional |= 1;
  }
  if (at(TokenKind::LeftParen)) {
    Mark arguments = mark();
    advance();
    call_arguments(TokenKind::RightParen, arguments.token, false);
    emit(NodeKind::Arguments, arguments);
    optional |= 2;
  }
  block("class", keyword);
  emit(NodeKind::ClassDef, from, {.optional = optional});
}

// async_statement: 'async' (function_definition | with_statement | for_statement)
void Parser::async_statement() {
  Mark from = mark();
  advance();
  if (at(TokenKind::Def)) return function_definition(from, true);
  if (at(TokenKind::With)) return with_statement(from, true);
  if (at(TokenKind::For)) return for_statement(from, true);
  fail_expected("`def`, `with` or `for` after `async`");
}

// `match` starts a statement when its logical line ends with a colon: no expression does.
bool Parser::at_match_statement() const {
  if (token_text_at(pos_) != "match") return false;
  switch (peek_kind()) {
    case TokenKind::Equal:
    case TokenKind::Dot:
    case TokenKind::Comma:
    case TokenKind::Colon:
    case TokenKind::RightParen:
    case TokenKind::Newline:
    case TokenKind::Semicolon:
      return false;
    default:
      break;
  }
  TokenKind before = TokenKind::EndOfFile;
  for (uint32_t i = next_index(pos_);; i = next_index(i)) {
    const TokenKind kind = tokens_[TokenId(i)].kind;
    if (kind == TokenKind::Newline || kind == TokenKind::EndOfFile) return before == TokenKind::Colon;
    before = kind;
  }
}

// match_statement: "match" (star_named_expression ',' [star_named_expressions] | named_expression) ':' NEWLINE INDENT
// match_case+ DEDENT
void Parser::match_statement() {
  Mark from = mark();
  require({10}, "a `match` statement", tokens_[TokenId(pos_)].span());
  advance();
  Mark subject = mark();
  star_named_expression();
  if (at(TokenKind::Comma)) {
    while (accept(TokenKind::Comma) && !at(TokenKind::Colon)) star_named_expression();
    emit(NodeKind::Tuple, subject);
  } else if (!failed() && last().kind == NodeKind::Starred) {
    return fail_at(span_of(last()), "a starred subject needs a comma behind it");
  }
  expect(TokenKind::Colon, "the subject of `match`");
  expect(TokenKind::Newline, "`:`");
  if (failed()) return;
  if (!at(TokenKind::Indent)) return fail("expected an indented block after `match`" + place_of(from.token));
  Deeper deeper(*this, kBlockDepth);
  if (failed()) return;
  advance();
  while (!at(TokenKind::Dedent) && !at(TokenKind::EndOfFile)) {
    Mark one = mark();
    at_name("case") ? match_case() : fail_expected("`case` in the block of `match`");
    if (failed()) recover(one);
  }
  const uint32_t last_of_block = previous_;
  accept(TokenKind::Dedent);
  previous_ = last_of_block;
  emit(NodeKind::Match, from);
}

// match_case: "case" patterns ['if' named_expression] block
void Parser::match_case() {
  Mark from = mark();
  advance();
  patterns();
  const bool has_guard = accept(TokenKind::If);
  if (has_guard) named_expression();
  block("case", from.token);
  emit(NodeKind::MatchCase, from, {.optional = static_cast<uint8_t>(has_guard)});
}

}  // namespace graphmend

// Simple statements, and the lists that statements form. In: tokens at a statement. Out: its nodes.
#include "parse/parser_state.h"

namespace graphmend {

namespace {

// What `x += 1` does to x, or nothing.
bool augmented_operator(TokenKind kind, Operator& op) {
  switch (kind) {
    case TokenKind::PlusEqual:
      op = Operator::Add;
      return true;
    case TokenKind::MinusEqual:
      op = Operator::Sub;
      return true;
    case TokenKind::StarEqual:
      op = Operator::Mult;
      return true;
    case TokenKind::AtEqual:
      op = Operator::MatMult;
      return true;
    case TokenKind::SlashEqual:
      op = Operator::Div;
      return true;
    case TokenKind::PercentEqual:
      op = Operator::Mod;
      return true;
    case TokenKind::AmpersandEqual:
      op = Operator::BitAnd;
      return true;
    case TokenKind::PipeEqual:
      op = Operator::BitOr;
      return true;
    case TokenKind::CaretEqual:
      op = Operator::BitXor;
      return true;
    case TokenKind::LeftShiftEqual:
      op = Operator::LShift;
      return true;
    case TokenKind::RightShiftEqual:
      op = Operator::RShift;
      return true;
    case TokenKind::DoubleStarEqual:
      op = Operator::Pow;
      return true;
    case TokenKind::DoubleSlashEqual:
      op = Operator::FloorDiv;
      return true;
    default:
      return false;
  }
}

}  // namespace

void Parser::statements_until(TokenKind end) {
  while (!at(end) && !at(TokenKind::EndOfFile)) {
    // What a backslash before an empty line was before 3.10.
    if (target_ < Version{10} && accept(TokenKind::Newline)) continue;
    // Left over from a block whose header failed.
    if (accept(TokenKind::Dedent)) continue;
    statement();
  }
}

// INDENT statement+ DEDENT
void Parser::indented_statements() {
  const bool too_deep = depth_ + kBlockDepth > kMaxDepth;
  if (too_deep) {
    report(current_span(), "blocks are nested too deeply to be read");
    for (uint32_t open = 0;;) {
      if (at(TokenKind::Indent)) ++open;
      if (at(TokenKind::EndOfFile) || (at(TokenKind::Dedent) && --open == 0)) break;
      advance();
    }
    accept(TokenKind::Dedent);
    return;
  }
  Deeper deeper(*this, kBlockDepth);
  accept(TokenKind::Indent);
  statements_until(TokenKind::Dedent);
  // The dedent belongs to no node: the block ends with the last token of its last statement.
  const uint32_t last_of_block = previous_;
  accept(TokenKind::Dedent);
  previous_ = last_of_block;
}

// statement: compound_statement | simple_statement (';' simple_statement)* [';'] NEWLINE
void Parser::statement() {
  Mark from = mark();
  switch (kind_) {
    case TokenKind::If:
      if_statement();
      break;
    case TokenKind::Def:
      function_definition(from, false);
      break;
    case TokenKind::Class:
      class_definition(from);
      break;
    case TokenKind::For:
      for_statement(from, false);
      break;
    case TokenKind::While:
      while_statement();
      break;
    case TokenKind::With:
      with_statement(from, false);
      break;
    case TokenKind::Try:
      try_statement();
      break;
    case TokenKind::At:
      decorated();
      break;
    case TokenKind::Async:
      async_statement();
      break;
    case TokenKind::Indent:
      report(tokens_[TokenId(pos_)].span(), "unexpected indent; no statement above opens a block");
      indented_statements();
      emit(NodeKind::ErrorStatement, from);
      return;
    case TokenKind::Name:
      if (at_match_statement()) {
        match_statement();
        break;
      }
      [[fallthrough]];
    default:
      statement_line();
      return;
  }
  if (failed()) recover(from);
}

void Parser::statement_line() {
  Mark line = mark();
  for (;;) {
    Mark from = mark();
    simple_statement();
    if (failed()) return recover(from);
    if (!accept(TokenKind::Semicolon)) break;
    if (at(TokenKind::Newline)) break;
  }
  if (!at(TokenKind::Newline)) {
    // A word and then an expression is what older or other languages have here.
    std::string_view first = token_text_at(line.token);
    if ((first == "print" || first == "exec") && next_index(line.token) == pos_) {
      fail("`" + std::string(first) + "` is a function; its arguments stand in parentheses");
    } else {
      fail_expected("end of statement");
    }
    return recover(line);
  }
  // The newline ends the statement but is no part of it.
  const uint32_t last = previous_;
  advance();
  previous_ = last;
}

void Parser::simple_statement() {
  Mark from = mark();
  switch (kind_) {
    case TokenKind::Return:
      return return_statement();
    case TokenKind::Import:
    case TokenKind::From:
      return import_statement();
    case TokenKind::Raise:
      return raise_statement();
    case TokenKind::Assert:
      return assert_statement();
    case TokenKind::Del:
      return delete_statement();
    case TokenKind::Global:
      return names_statement(NodeKind::Global);
    case TokenKind::Nonlocal:
      return names_statement(NodeKind::Nonlocal);
    case TokenKind::Pass:
      return emit_leaf(NodeKind::Pass);
    case TokenKind::Break:
      return emit_leaf(NodeKind::Break);
    case TokenKind::Continue:
      return emit_leaf(NodeKind::Continue);
    case TokenKind::Elif:
    case TokenKind::Else:
    case TokenKind::Except:
    case TokenKind::Finally:
      return fail("`" + std::string(token_text(kind_)) + "` without the statement it belongs to");
    case TokenKind::Name: {
      const TokenKind next = peek_kind();
      if (next == TokenKind::Name && at_name("type")) return type_alias();
      if ((next == TokenKind::Import || next == TokenKind::From) && at_name("lazy")) return import_statement();
      break;
    }
    case TokenKind::Yield:
      yield_expression();
      if (at(TokenKind::Equal)) return fail("a yield expression cannot be assigned to");
      return emit(NodeKind::ExprStatement, from);
    default:
      break;
  }
  expression_statement();
}

// expression_statement: star_expressions | assignment | augmented_assignment | annotated_assignment
void Parser::expression_statement() {
  Mark from = mark();
  star_expressions();
  Operator op{};
  if (at(TokenKind::Equal)) return assignment(from);
  if (at(TokenKind::Colon)) return annotated_assignment(from);
  if (augmented_operator(kind_, op)) return augmented_assignment(from, op);
  if (failed()) return;
  emit(NodeKind::ExprStatement, from);
}

// assignment: (targets '=')+ (yield_expression | star_expressions)
void Parser::assignment(Mark from) {
  while (at(TokenKind::Equal)) {
    if (!to_target(static_cast<uint32_t>(nodes_.size()) - 1, Context::Store, "assign to")) return;
    advance();
    const bool is_yield = at(TokenKind::Yield);
    yield_or_star_expressions();
    if (is_yield && at(TokenKind::Equal)) return fail("a yield expression cannot be assigned to");
  }
  emit(NodeKind::Assign, from);
}

// augmented_assignment: single_target ('+=' | …) (yield_expression | star_expressions)
void Parser::augmented_assignment(Mark from, Operator op) {
  if (!is_single_target(last())) {
    return fail_at(span_of(last()), describe(last()) + " cannot be the target of an augmented assignment");
  }
  last().flags |= static_cast<uint8_t>(Context::Store);
  advance();
  Mark value = mark();
  yield_or_star_expressions();
  require_no_bare_star(value, "an augmented assignment");
  emit(NodeKind::AugAssign, from, {.op = static_cast<uint8_t>(op)});
}

// 3.8 took no star in a tuple without parentheses here.
void Parser::require_no_bare_star(Mark value, std::string_view where) {
  if (target_ >= Version{9} || failed() || last().kind != NodeKind::Tuple || last().has(node_flag::kParenthesized))
    return;
  auto node = static_cast<uint32_t>(nodes_.size()) - 1;
  while (node-- > value.node) {
    if (nodes_[node].kind == NodeKind::Starred) {
      return require({9}, "an unparenthesized starred expression in " + std::string(where), span_of(nodes_[node]));
    }
    node -= nodes_[node].size - 1;
  }
}

// annotated_assignment: single_target ':' expression ['=' (yield_expression | star_expressions)]
void Parser::annotated_assignment(Mark from) {
  const Node& target = last();
  if (!is_single_target(target)) {
    return fail_at(span_of(target),
                   describe(target) + " cannot be annotated; only a single name, attribute or item can");
  }
  const bool simple = target.kind == NodeKind::Name && target.first_token.index == from.token;
  last().flags |= static_cast<uint8_t>(Context::Store);
  advance();
  expression();
  const bool has_value = accept(TokenKind::Equal);
  if (has_value) yield_or_star_expressions();
  emit(NodeKind::AnnAssign, from,
       {.flags = simple ? node_flag::kSimple : uint8_t{0}, .optional = static_cast<uint8_t>(has_value)});
}

// return_statement: 'return' [star_expressions]
void Parser::return_statement() {
  Mark from = mark();
  advance();
  const bool has_value = !at(TokenKind::Newline) && !at(TokenKind::Semicolon);
  if (has_value) star_expressions();
  emit(NodeKind::Return, from, {.optional = static_cast<uint8_t>(has_value)});
}

// delete_statement: 'del' single (',' single)* [',']
void Parser::delete_statement() {
  Mark from = mark();
  advance();
  do {
    if (has_node_since(from) && (at(TokenKind::Newline) || at(TokenKind::Semicolon))) break;
    operators(Level::BitOr);
    if (failed() || !to_target(static_cast<uint32_t>(nodes_.size()) - 1, Context::Delete, "delete")) return;
  } while (accept(TokenKind::Comma));
  emit(NodeKind::Delete, from);
}

// raise_statement: 'raise' [expression ['from' expression]]
void Parser::raise_statement() {
  Mark from = mark();
  advance();
  uint8_t optional = 0;
  if (!at(TokenKind::Newline) && !at(TokenKind::Semicolon)) {
    expression();
    optional = 1;
    if (accept(TokenKind::From)) {
      expression();
      optional = 3;
    }
  }
  emit(NodeKind::Raise, from, {.optional = optional});
}

// assert_statement: 'assert' expression [',' expression]
void Parser::assert_statement() {
  Mark from = mark();
  advance();
  expression();
  const bool has_message = accept(TokenKind::Comma);
  if (has_message) expression();
  emit(NodeKind::Assert, from, {.optional = static_cast<uint8_t>(has_message)});
}

// global_statement: ('global' | 'nonlocal') NAME (',' NAME)*
void Parser::names_statement(NodeKind kind) {
  Mark from = mark();
  std::string_view keyword = token_text(kind_);
  advance();
  do {
    if (!at(TokenKind::Name)) return fail_expected("a name after `" + std::string(keyword) + "`");
    emit_leaf(NodeKind::Identifier);
  } while (accept(TokenKind::Comma));
  emit(kind, from);
}

// import_statement: ['lazy'] 'import' alias (',' alias)* | ['lazy'] import_from
void Parser::import_statement() {
  Mark from = mark();
  uint8_t flags = 0;
  if (at(TokenKind::Name)) {
    require({15}, "`lazy` import", tokens_[TokenId(pos_)].span());
    flags = node_flag::kLazy;
    advance();
  }
  if (at(TokenKind::From)) {
    import_from_statement();
    return emit(NodeKind::ImportFrom, from, {.flags = flags});
  }
  advance();
  do {
    import_alias(true);
  } while (accept(TokenKind::Comma));
  emit(NodeKind::Import, from, {.flags = flags});
}

// import_from: 'from' ('.' | '...')* [dotted_name] 'import' ('*' | '(' aliases [','] ')' | aliases)
void Parser::import_from_statement() {
  advance();
  bool relative = false;
  while (at(TokenKind::Dot) || at(TokenKind::Ellipsis)) {
    relative = true;
    advance();
  }
  if (at(TokenKind::Name)) {
    advance();
    while (accept(TokenKind::Dot)) expect(TokenKind::Name, "`.`");
  } else if (!relative) {
    return fail_expected("a module's name after `from`");
  }
  if (!expect(TokenKind::Import)) return;
  if (at(TokenKind::Star)) return emit_leaf(NodeKind::Alias);
  const uint32_t open = pos_;
  if (accept(TokenKind::LeftParen)) {
    do {
      import_alias(false);
    } while (accept(TokenKind::Comma) && !at(TokenKind::RightParen));
    expect_close(TokenKind::RightParen, open);
    return;
  }
  do {
    import_alias(false);
    if (at(TokenKind::Comma) && peek_kind() == TokenKind::Newline) {
      return fail("trailing comma; it is allowed only when the names stand in parentheses");
    }
  } while (accept(TokenKind::Comma));
}

// alias: NAME ('.' NAME)* ['as' NAME]
void Parser::import_alias(bool dotted) {
  Mark from = mark();
  if (!at(TokenKind::Name)) return fail_expected("a name to import");
  advance();
  while (dotted && accept(TokenKind::Dot)) {
    if (!expect(TokenKind::Name, "`.`")) return;
  }
  const bool renamed = accept(TokenKind::As);
  if (renamed && !expect(TokenKind::Name, "`as`")) return;
  emit(NodeKind::Alias, from, {.flags = renamed ? node_flag::kHasName : uint8_t{0}});
}

// type_alias: "type" NAME [type_parameters] '=' expression
void Parser::type_alias() {
  Mark from = mark();
  require({12}, "a `type` statement", tokens_[TokenId(pos_)].span());
  advance();
  emit_leaf(NodeKind::Name, {.flags = static_cast<uint8_t>(Context::Store)});
  const bool has_parameters = at(TokenKind::LeftBracket);
  if (has_parameters) type_parameters();
  expect(TokenKind::Equal, "the type's name");
  expression();
  emit(NodeKind::TypeAlias, from, {.optional = static_cast<uint8_t>(has_parameters)});
}

}  // namespace graphmend

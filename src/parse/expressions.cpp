// Expressions, from lists down to calls and subscripts. In: tokens at an expression. Out: its nodes.
// Operators are read by precedence (`operators`), so a chain of any length takes a loop and not a recursion.
#include <array>

#include "parse/parser_state.h"

namespace graphmend {

namespace {

struct BinaryOperator {
  Level level = Level::None;
  Operator op = Operator::Add;
};

constexpr std::array<BinaryOperator, 256> kBinaryOperators = [] {
  std::array<BinaryOperator, 256> table{};
  auto set = [&](TokenKind kind, Level level, Operator op) { table[static_cast<size_t>(kind)] = {level, op}; };
  set(TokenKind::Or, Level::Or, Operator::Or);
  set(TokenKind::And, Level::And, Operator::And);
  set(TokenKind::Less, Level::Compare, Operator::Lt);
  set(TokenKind::Greater, Level::Compare, Operator::Gt);
  set(TokenKind::LessEqual, Level::Compare, Operator::LtE);
  set(TokenKind::GreaterEqual, Level::Compare, Operator::GtE);
  set(TokenKind::EqualEqual, Level::Compare, Operator::Eq);
  set(TokenKind::NotEqual, Level::Compare, Operator::NotEq);
  set(TokenKind::LessGreater, Level::Compare, Operator::NotEq);
  set(TokenKind::In, Level::Compare, Operator::In);
  set(TokenKind::Is, Level::Compare, Operator::Is);
  set(TokenKind::Pipe, Level::BitOr, Operator::BitOr);
  set(TokenKind::Caret, Level::BitXor, Operator::BitXor);
  set(TokenKind::Ampersand, Level::BitAnd, Operator::BitAnd);
  set(TokenKind::LeftShift, Level::Shift, Operator::LShift);
  set(TokenKind::RightShift, Level::Shift, Operator::RShift);
  set(TokenKind::Plus, Level::Sum, Operator::Add);
  set(TokenKind::Minus, Level::Sum, Operator::Sub);
  set(TokenKind::Star, Level::Product, Operator::Mult);
  set(TokenKind::Slash, Level::Product, Operator::Div);
  set(TokenKind::DoubleSlash, Level::Product, Operator::FloorDiv);
  set(TokenKind::Percent, Level::Product, Operator::Mod);
  set(TokenKind::At, Level::Product, Operator::MatMult);
  return table;
}();

constexpr Level tighter(Level level) { return static_cast<Level>(static_cast<uint8_t>(level) + 1); }

constexpr bool starts_expression(TokenKind kind) {
  switch (kind) {
    case TokenKind::Name:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Imaginary:
    case TokenKind::String:
    case TokenKind::FStringStart:
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
    case TokenKind::Ellipsis:
    case TokenKind::Plus:
    case TokenKind::Minus:
    case TokenKind::Tilde:
    case TokenKind::Star:
    case TokenKind::None:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Not:
    case TokenKind::Lambda:
    case TokenKind::Await:
      return true;
    default:
      return false;
  }
}

}  // namespace

// star_expressions: star_expression (',' star_expression)* [',']
void Parser::star_expressions() {
  Mark from = mark();
  star_expression();
  if (at(TokenKind::Comma)) expression_list(from);
}

// The rest of a tuple without parentheses.
void Parser::expression_list(Mark from) {
  while (accept(TokenKind::Comma)) {
    if (!starts_expression(kind_)) break;
    star_expression();
  }
  emit(NodeKind::Tuple, from);
}

// star_expression: '*' bitwise_or | expression
void Parser::star_expression() {
  if (!at(TokenKind::Star)) return expression();
  Mark from = mark();
  advance();
  operators(Level::BitOr);
  emit(NodeKind::Starred, from);
}

void Parser::yield_or_star_expressions() { at(TokenKind::Yield) ? yield_expression() : star_expressions(); }

// yield_expression: 'yield' 'from' expression | 'yield' [star_expressions]
void Parser::yield_expression() {
  Mark from = mark();
  advance();
  if (accept(TokenKind::From)) {
    expression();
    return emit(NodeKind::YieldFrom, from);
  }
  const bool has_value = starts_expression(kind_);
  if (has_value) star_expressions();
  emit(NodeKind::Yield, from, {.optional = static_cast<uint8_t>(has_value)});
}

// named_expression: NAME ':=' expression | expression
void Parser::named_expression() {
  if (at(TokenKind::Name) && peek_kind() == TokenKind::ColonEqual) {
    Mark from = mark();
    emit_leaf(NodeKind::Name, {.flags = static_cast<uint8_t>(Context::Store)});
    advance();
    expression();
    return emit(NodeKind::NamedExpr, from);
  }
  Mark from = mark();
  expression();
  if (!at(TokenKind::ColonEqual)) return;
  // 3.8 let the name stand in parentheses.
  if (last().kind != NodeKind::Name || target_ >= Version{9}) {
    return fail("`:=` assigns to a name, not to " + describe(last()));
  }
  last().flags |= static_cast<uint8_t>(Context::Store);
  advance();
  expression();
  emit(NodeKind::NamedExpr, from);
}

// star_named_expression: '*' bitwise_or | named_expression
void Parser::star_named_expression() { at(TokenKind::Star) ? star_expression() : named_expression(); }

// expression: disjunction ['if' disjunction 'else' expression] | lambda
void Parser::expression() {
  if (at(TokenKind::Lambda)) return lambda();
  Mark from = mark();
  operators(Level::Or);
  if (!at(TokenKind::If)) return;
  advance();
  operators(Level::Or);
  expect(TokenKind::Else, "the condition of a conditional expression");
  Deeper deeper(*this, kOperatorDepth);
  expression();
  emit(NodeKind::IfExp, from);
}

// lambda: 'lambda' [parameters] ':' expression
void Parser::lambda() {
  if (bare_field_) return fail("a lambda needs parentheses in an f-string field; its colon would start the format");
  Deeper deeper(*this, kLambdaDepth);
  Mark from = mark();
  advance();
  Mark parameters = mark();
  parameter_list(false, TokenKind::Colon);
  emit(NodeKind::Parameters, parameters);
  expect(TokenKind::Colon, "the parameters of `lambda`");
  expression();
  emit(NodeKind::Lambda, from);
}

bool Parser::at_compare_operator() const {
  if (kBinaryOperators[static_cast<size_t>(kind_)].level == Level::Compare) return true;
  return kind_ == TokenKind::Not && peek_kind() == TokenKind::In;
}

// compare_operator: '<' | '>' | '==' | '>=' | '<=' | '!=' | 'in' | 'not' 'in' | 'is' ['not']
void Parser::compare_operator() {
  Mark from = mark();
  Operator op = kBinaryOperators[static_cast<size_t>(kind_)].op;
  if (at(TokenKind::Not)) {
    advance();
    op = Operator::NotIn;
  } else if (at(TokenKind::Is) && peek_kind() == TokenKind::Not) {
    advance();
    op = Operator::IsNot;
  }
  advance();
  emit(NodeKind::CompareOp, from, {.op = static_cast<uint8_t>(op)});
}

// Everything from `or` (loosest) to `*` (tightest) that binds at least as tightly as `level`:
// disjunction: conjunction ('or' conjunction)*      conjunction: inversion ('and' inversion)*
// inversion: 'not' inversion | comparison           comparison: bitwise_or (compare_operator bitwise_or)*
// bitwise_or, bitwise_xor, bitwise_and, shift, sum, product: left associative
void Parser::operators(Level level) {
  Mark from = mark();
  if (at(TokenKind::Not) && level <= Level::Not) {
    advance();
    Deeper deeper(*this, kOperatorDepth);
    operators(Level::Not);
    emit(NodeKind::UnaryOp, from, {.op = static_cast<uint8_t>(Operator::Not)});
  } else {
    unary();
  }
  for (;;) {
    const BinaryOperator found = kBinaryOperators[static_cast<size_t>(kind_)];
    if (found.level == Level::None || found.level == Level::Compare) {
      if (level > Level::Compare || !at_compare_operator()) return;
      do {
        compare_operator();
        operators(Level::BitOr);
      } while (at_compare_operator());
      emit(NodeKind::Compare, from);
      continue;
    }
    if (found.level < level) return;
    if (found.level <= Level::And) {
      const TokenKind keyword = kind_;
      while (accept(keyword)) operators(tighter(found.level));
      emit(NodeKind::BoolOp, from, {.op = static_cast<uint8_t>(found.op)});
      continue;
    }
    advance();
    operators(tighter(found.level));
    emit(NodeKind::BinOp, from, {.op = static_cast<uint8_t>(found.op)});
  }
}

// unary: ('+' | '-' | '~') unary | power
void Parser::unary() {
  Operator op;
  switch (kind_) {
    case TokenKind::Minus:
      op = Operator::USub;
      break;
    case TokenKind::Plus:
      op = Operator::UAdd;
      break;
    case TokenKind::Tilde:
      op = Operator::Invert;
      break;
    default:
      return power();
  }
  Mark from = mark();
  advance();
  Deeper deeper(*this, kOperatorDepth);
  unary();
  emit(NodeKind::UnaryOp, from, {.op = static_cast<uint8_t>(op)});
}

// power: ['await'] primary ['**' unary]
void Parser::power() {
  Mark from = mark();
  if (accept(TokenKind::Await)) {
    primary();
    emit(NodeKind::Await, from);
  } else {
    primary();
  }
  if (!at(TokenKind::DoubleStar)) return;
  advance();
  Deeper deeper(*this, kOperatorDepth);
  unary();
  emit(NodeKind::BinOp, from, {.op = static_cast<uint8_t>(Operator::Pow)});
}

// primary: atom ('.' NAME | '(' [arguments] ')' | '[' slices ']')*
void Parser::primary() {
  Mark from = mark();
  atom();
  for (;;) {
    switch (kind_) {
      case TokenKind::Dot:
        advance();
        if (!expect(TokenKind::Name, "`.`")) return;
        emit(NodeKind::Attribute, from);
        break;
      case TokenKind::LeftParen:
        call(from);
        break;
      case TokenKind::LeftBracket:
        subscript(from);
        break;
      default:
        return;
    }
  }
}

void Parser::call(Mark from) {
  Deeper deeper(*this, kBracketDepth);
  const uint32_t open = pos_;
  if (failed()) return;
  advance();
  call_arguments(TokenKind::RightParen, open, true);
  emit(NodeKind::Call, from);
}

// arguments: argument (',' argument)* [',']    argument: '*' expression | '**' expression | NAME '=' expression
//   | named_expression                         or a single generator expression without parentheses of its own
void Parser::call_arguments(TokenKind close, uint32_t open_token, bool allow_generator) {
  bool first = true;
  bool seen_keyword = false;
  bool seen_double_star = false;
  while (!at(close) && !failed()) {
    Mark from = mark();
    const bool is_star = at(TokenKind::Star);
    if (accept(TokenKind::DoubleStar)) {
      expression();
      emit(NodeKind::Keyword, from, {.flags = node_flag::kDoubleStar});
      seen_double_star = true;
    } else if (at(TokenKind::Name) && peek_kind() == TokenKind::Equal) {
      advance();
      advance();
      expression();
      emit(NodeKind::Keyword, from);
      seen_keyword = true;
    } else {
      if (is_star) {
        advance();
        expression();
        emit(NodeKind::Starred, from);
        if (seen_double_star) return fail_at(span_since(from), "`*` cannot follow `**` in the arguments of a call");
      } else {
        named_expression();
        if (at(TokenKind::Equal)) return fail("`=` in a call names a parameter; " + describe(last()) + " is no name");
      }
      if (at_comprehension()) {
        if (is_star) require({15}, "unpacking in a comprehension", span_since(from));
        if (last().kind == NodeKind::NamedExpr && last().first_token.index == from.token) {
          require({9}, "an unparenthesized `:=` in a generator", span_since(from));
        }
        comprehension_clauses();
        if (failed()) return;
        if (!first || !at(close) || !allow_generator) {
          return fail_at(span_since(from), "a generator expression needs parentheses unless it is the only argument");
        }
        advance();
        // CPython gives it the parentheses of the call.
        return emit(NodeKind::GeneratorExp, {open_token, from.node});
      }
      if (!is_star && (seen_keyword || seen_double_star)) {
        return fail_at(span_since(from), "a positional argument cannot follow keyword arguments");
      }
    }
    first = false;
    if (!accept(TokenKind::Comma)) break;
  }
  expect_close(close, open_token);
}

// slices: slice (',' slice)* [',']
void Parser::subscript(Mark from) {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  const uint32_t open = pos_;
  advance();
  Mark inner = mark();
  const bool starred = at(TokenKind::Star);
  slice();
  if (at(TokenKind::Comma)) {
    while (accept(TokenKind::Comma) && !at(TokenKind::RightBracket)) slice();
    emit(NodeKind::Tuple, inner);
  } else if (starred) {
    emit(NodeKind::Tuple, inner);
  }
  expect_close(TokenKind::RightBracket, open);
  emit(NodeKind::Subscript, from);
}

// slice: [expression] ':' [expression] [':' [expression]] | '*' expression | named_expression
void Parser::slice() {
  Mark from = mark();
  if (accept(TokenKind::Star)) {
    expression();
    emit(NodeKind::Starred, from);
    return require({11}, "a starred expression in a subscript", span_since(from));
  }
  uint8_t optional = 0;
  if (!at(TokenKind::Colon)) {
    named_expression();
    if (failed()) return;
    optional |= 1;
    const bool bare_walrus = last().kind == NodeKind::NamedExpr && last().first_token.index == from.token;
    if (bare_walrus) require({10}, "an unparenthesized `:=` in a subscript", span_since(from));
    if (!at(TokenKind::Colon)) return;
    if (bare_walrus) return fail_at(span_of(last()), "`:=` needs parentheses in a slice");
  }
  advance();
  auto part = [&](uint8_t bit) {
    if (at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RightBracket)) return;
    expression();
    optional |= bit;
  };
  part(2);
  if (accept(TokenKind::Colon)) part(4);
  emit(NodeKind::Slice, from, {.optional = optional});
}

}  // namespace graphmend

// Patterns of `match` (PEP 634). In: tokens behind `case`. Out: their nodes.
#include "parse/parser_state.h"

namespace graphmend {

// patterns: star_or_pattern ',' [star_or_pattern (',' star_or_pattern)* [',']] | pattern
void Parser::patterns() {
  Mark from = mark();
  const bool starred = at(TokenKind::Star);
  starred ? star_pattern() : pattern();
  if (at(TokenKind::Comma)) {
    while (accept(TokenKind::Comma)) {
      if (at(TokenKind::Colon) || at(TokenKind::If)) break;
      at(TokenKind::Star) ? star_pattern() : pattern();
    }
    return emit(NodeKind::MatchSequence, from);
  }
  if (starred && !failed()) fail_at(span_of(last()), "a starred pattern needs a sequence around it");
}

// pattern: or_pattern ['as' NAME]
void Parser::pattern() {
  Mark from = mark();
  or_pattern();
  if (!accept(TokenKind::As)) return;
  if (at_name("_")) return fail("`_` cannot be a name after `as` in a pattern");
  if (!expect(TokenKind::Name, "`as`")) return;
  emit(NodeKind::MatchAs, from, {.optional = 1});
}

// or_pattern: closed_pattern ('|' closed_pattern)*
void Parser::or_pattern() {
  Mark from = mark();
  closed_pattern();
  if (!at(TokenKind::Pipe)) return;
  while (accept(TokenKind::Pipe)) closed_pattern();
  emit(NodeKind::MatchOr, from);
}

// star_pattern: '*' NAME
void Parser::star_pattern() {
  Mark from = mark();
  advance();
  if (!expect(TokenKind::Name, "`*` in a pattern")) return;
  emit(NodeKind::MatchStar, from);
}

// closed_pattern: literal | NAME | name_or_attribute ['(' … ')'] | '(' … ')' | '[' … ']' | '{' … '}'
void Parser::closed_pattern() {
  switch (kind_) {
    case TokenKind::Name:
      return name_pattern();
    case TokenKind::None:
    case TokenKind::True:
    case TokenKind::False:
      return emit_leaf(NodeKind::MatchSingleton);
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
      return group_or_sequence_pattern();
    case TokenKind::LeftBrace:
      return mapping_pattern();
    default:
      break;
  }
  Mark from = mark();
  if (!literal_expression()) return fail_expected("a pattern");
  emit(NodeKind::MatchValue, from);
}

// literal: ['-' | '+'] NUMBER [('+' | '-') ['+'] IMAGINARY] | strings
bool Parser::literal_expression() {
  Mark from = mark();
  if (at(TokenKind::String) || at(TokenKind::FStringStart)) {
    strings();
    for (size_t i = from.node; i < nodes_.size() && !failed(); ++i) {
      if (nodes_[i].kind == NodeKind::FString) fail_at(span_of(nodes_[i]), "an f-string cannot be a pattern");
    }
    return true;
  }
  auto at_number = [&] { return at(TokenKind::Int) || at(TokenKind::Float) || at(TokenKind::Imaginary); };
  if (!at_number() && !at(TokenKind::Minus) && !at(TokenKind::Plus)) return false;
  // A plus sign leaves no node.
  auto accept_plus = [&] {
    if (at(TokenKind::Plus)) require({15}, "`+` before a number in a pattern", tokens_[TokenId(pos_)].span());
    return accept(TokenKind::Plus);
  };
  const bool negative = !accept_plus() && accept(TokenKind::Minus);
  if (!at_number()) {
    fail_expected("a number after its sign in a pattern");
    return true;
  }
  const bool is_real = !at(TokenKind::Imaginary);
  atom();
  if (negative) emit(NodeKind::UnaryOp, from, {.op = static_cast<uint8_t>(Operator::USub)});
  if (!at(TokenKind::Plus) && !at(TokenKind::Minus)) return true;
  const Operator op = at(TokenKind::Plus) ? Operator::Add : Operator::Sub;
  if (!is_real) {
    fail("a complex number in a pattern has its real part first");
    return true;
  }
  advance();
  accept_plus();
  if (!at(TokenKind::Imaginary)) {
    fail_expected("the imaginary part of a complex number");
    return true;
  }
  emit_leaf(NodeKind::Number);
  emit(NodeKind::BinOp, from, {.op = static_cast<uint8_t>(op)});
  return true;
}

// name_or_attribute: NAME ('.' NAME)*
void Parser::dotted_name_expression() {
  Mark from = mark();
  emit_leaf(NodeKind::Name);
  while (accept(TokenKind::Dot)) {
    if (!expect(TokenKind::Name, "`.`")) return;
    emit(NodeKind::Attribute, from);
  }
}

// NAME captures, `_` matches anything, a dotted name is a value, and any of them before '(' is a class.
void Parser::name_pattern() {
  Mark from = mark();
  const TokenKind next = peek_kind();
  // `_` is a pattern of its own, whatever follows.
  if ((next != TokenKind::Dot && next != TokenKind::LeftParen) || at_name("_")) return emit_leaf(NodeKind::MatchAs);
  dotted_name_expression();
  if (at(TokenKind::LeftParen)) return class_pattern(from);
  emit(NodeKind::MatchValue, from);
}

// The patterns of a sequence up to its closing bracket.
void Parser::sequence_patterns(TokenKind close) {
  while (!at(close) && !failed()) {
    at(TokenKind::Star) ? star_pattern() : pattern();
    if (!accept(TokenKind::Comma)) return;
  }
}

// '(' pattern ')' | '(' [sequence] ')' | '[' [sequence] ']'
void Parser::group_or_sequence_pattern() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  Mark from = mark();
  const TokenKind close = at(TokenKind::LeftParen) ? TokenKind::RightParen : TokenKind::RightBracket;
  advance();
  Mark inner = mark();
  const bool starred = at(TokenKind::Star);
  sequence_patterns(close);
  if (failed()) return;
  // One pattern without a comma behind it, in parentheses: a group.
  const bool single = has_node_since(inner) && last().size == nodes_.size() - inner.node &&
                      tokens_[TokenId(previous_)].kind != TokenKind::Comma;
  if (!expect_close(close, from.token)) return;
  if (close == TokenKind::RightParen && single) {
    if (starred) fail_at(span_of(last()), "a starred pattern in parentheses needs a comma behind it");
    return;
  }
  emit(NodeKind::MatchSequence, from);
}

// mapping: '{' [(literal | attribute) ':' pattern (',' …)* [',' '**' NAME] [',']] '}'
void Parser::mapping_pattern() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  Mark from = mark();
  advance();
  bool has_rest = false;
  while (!at(TokenKind::RightBrace) && !failed()) {
    if (has_rest) return fail("`**` must be the last part of a mapping pattern");
    Mark item = mark();
    if (accept(TokenKind::DoubleStar)) {
      if (at_name("_")) return fail("`**_` is not allowed; a mapping pattern ignores other keys anyway");
      if (!expect(TokenKind::Name, "`**`")) return;
      emit(NodeKind::MatchRest, item);
      has_rest = true;
    } else {
      if (at(TokenKind::Name) && peek_kind() == TokenKind::Dot) {
        dotted_name_expression();
      } else if (at(TokenKind::None) || at(TokenKind::True) || at(TokenKind::False)) {
        emit_leaf(NodeKind::Constant);
      } else if (!literal_expression()) {
        return fail_expected("a literal or a dotted name as the key of a mapping pattern");
      }
      if (!expect(TokenKind::Colon, "the key of a mapping pattern")) return;
      pattern();
    }
    if (!accept(TokenKind::Comma)) break;
  }
  expect_close(TokenKind::RightBrace, from.token);
  emit(NodeKind::MatchMapping, from, {.optional = static_cast<uint8_t>(has_rest)});
}

// class: name_or_attribute '(' [pattern (',' pattern)*] [NAME '=' pattern (',' NAME '=' pattern)*] [','] ')'
void Parser::class_pattern(Mark from) {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  const uint32_t open = pos_;
  advance();
  bool seen_keyword = false;
  while (!at(TokenKind::RightParen) && !failed()) {
    Mark one = mark();
    if (at(TokenKind::Name) && !at_name("_") && peek_kind() == TokenKind::Equal) {
      advance();
      advance();
      pattern();
      emit(NodeKind::KeywordPattern, one);
      seen_keyword = true;
    } else {
      pattern();
      if (seen_keyword) return fail_at(span_since(one), "positional patterns cannot follow keyword patterns");
    }
    if (!accept(TokenKind::Comma)) break;
  }
  expect_close(TokenKind::RightParen, open);
  emit(NodeKind::MatchClass, from);
}

}  // namespace graphmend

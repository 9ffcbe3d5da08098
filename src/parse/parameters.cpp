// Parameters of functions and lambdas, and type parameters. In: tokens behind `(`, `lambda` or `[`. Out: their nodes.
#include "parse/parser_state.h"

namespace graphmend {

void Parser::function_parameters(uint32_t open_token) {
  Deeper deeper(*this, kBracketDepth);
  Mark from = mark();
  if (failed()) return;
  advance();
  parameter_list(true, TokenKind::RightParen);
  expect_close(TokenKind::RightParen, open_token);
  emit(NodeKind::Parameters, from);
}

// parameters: parameter ['=' expression] (',' …)* with one '/' and one '*' [parameter] or '*' ',' between them, and
// '**' parameter last; of a lambda without annotations
void Parser::parameter_list(bool annotated, TokenKind close) {
  Mark from = mark();
  bool seen_slash = false;
  bool seen_star = false;
  bool seen_default = false;
  while (!at(close) && !failed()) {
    if (at(TokenKind::Slash)) {
      if (seen_slash) return fail("`/` may appear only once among the parameters");
      if (seen_star) return fail("`/` must stand before `*` among the parameters");
      if (!has_node_since(from)) return fail("at least one parameter must stand before `/`");
      seen_slash = true;
      advance();
      auto node = static_cast<uint32_t>(nodes_.size());
      while (node > from.node) {
        Node& sibling = nodes_[node - 1];
        if (sibling.kind == NodeKind::Parameter) sibling.op = static_cast<uint8_t>(ParameterSection::PositionalOnly);
        node -= sibling.size;
      }
    } else if (at(TokenKind::Star)) {
      if (seen_star) return fail("`*` may appear only once among the parameters");
      seen_star = true;
      advance();
      if (at(TokenKind::Comma)) {
        if (peek_kind() == close || peek_kind() == TokenKind::DoubleStar) {
          return fail("named parameters must follow a bare `*`");
        }
      } else if (at(close)) {
        return fail("named parameters must follow a bare `*`");
      } else {
        parameter(annotated, ParameterSection::VarArgs, annotated);
        if (at(TokenKind::Equal)) return fail("`*` parameters cannot have a default");
      }
    } else if (accept(TokenKind::DoubleStar)) {
      parameter(annotated, ParameterSection::KwArgs, false);
      if (at(TokenKind::Equal)) return fail("`**` parameters cannot have a default");
      if (accept(TokenKind::Comma) && !at(close)) return fail("no parameter can follow the `**` parameter");
      return;
    } else {
      Mark one = mark();
      parameter(annotated, seen_star ? ParameterSection::KeywordOnly : ParameterSection::Regular, false);
      if (failed()) return;
      const size_t node = nodes_.size() - 1;
      if (accept(TokenKind::Equal)) {
        expression();
        nodes_[node].optional |= 2;
        seen_default |= !seen_star;
      } else if (seen_default && !seen_star) {
        return fail_at(span_since(one), "a parameter without a default cannot follow one with a default");
      }
    }
    if (!accept(TokenKind::Comma)) return;
  }
}

// parameter: NAME [':' expression]        of a `*` parameter: NAME [':' star_expression]
void Parser::parameter(bool annotated, ParameterSection section, bool allow_star_annotation) {
  Mark from = mark();
  if (!at(TokenKind::Name)) return fail_expected("a parameter's name");
  advance();
  const bool has_annotation = annotated && accept(TokenKind::Colon);
  if (has_annotation) {
    Mark annotation = mark();
    if (allow_star_annotation && at(TokenKind::Star)) {
      star_expression();
      require({11}, "a starred annotation", span_since(annotation));
    } else {
      expression();
    }
  }
  emit(NodeKind::Parameter, from,
       {.op = static_cast<uint8_t>(section), .optional = static_cast<uint8_t>(has_annotation)});
}

// type_parameters: '[' type_parameter (',' type_parameter)* [','] ']'
void Parser::type_parameters() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  Mark from = mark();
  require({12}, "a list of type parameters", tokens_[TokenId(pos_)].span());
  advance();
  if (at(TokenKind::RightBracket)) return fail("the list of type parameters is empty");
  bool seen_default = false;
  do {
    type_parameter(seen_default);
  } while (accept(TokenKind::Comma) && !at(TokenKind::RightBracket));
  expect_close(TokenKind::RightBracket, from.token);
  emit(NodeKind::TypeParams, from);
}

// type_parameter: NAME [':' expression] ['=' expression] | '*' NAME ['=' star_expression] | '**' NAME ['=' expression]
void Parser::type_parameter(bool& seen_default) {
  Mark from = mark();
  NodeKind kind = NodeKind::TypeVar;
  if (accept(TokenKind::Star))
    kind = NodeKind::TypeVarTuple;
  else if (accept(TokenKind::DoubleStar))
    kind = NodeKind::ParamSpec;
  if (!expect(TokenKind::Name, "`[` or `,` in type parameters")) return;
  uint8_t optional = 0;
  uint8_t default_bit = 1;
  if (kind == NodeKind::TypeVar) {
    default_bit = 2;
    if (accept(TokenKind::Colon)) {
      expression();
      optional |= 1;
    }
  } else if (at(TokenKind::Colon)) {
    return fail("only a plain type parameter can have a bound");
  }
  Mark value = mark();
  if (accept(TokenKind::Equal)) {
    kind == NodeKind::TypeVarTuple ? star_expression() : expression();
    optional |= default_bit;
    require({13}, "a default of a type parameter", span_since(value));
    seen_default = true;
  } else if (seen_default) {
    return fail_at(span_since(from), "a type parameter without a default cannot follow one with a default");
  }
  emit(kind, from, {.optional = optional});
}

}  // namespace graphmend

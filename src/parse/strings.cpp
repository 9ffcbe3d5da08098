// Strings and f-strings. In: tokens at a string. Out: String, FString, or Strings for several in a row.
#include <algorithm>

#include "lex/literal.h"
#include "parse/parser_state.h"

namespace graphmend {

namespace {

// The kind of thing a string literal makes; different ones cannot be concatenated.
enum class Flavour { Text, Bytes, Template };

Flavour flavour_of(const Token& token) {
  if (token.flags & string_flag::kBytes) return Flavour::Bytes;
  return token.flags & string_flag::kTemplate ? Flavour::Template : Flavour::Text;
}

std::string_view body_of(const Token& token, std::string_view text) {
  const uint32_t quotes = token.flags & string_flag::kTriple ? 3 : 1;
  const uint32_t start = token.start + token.prefix_length + quotes;
  // An unterminated string has no quotes at its end.
  const uint32_t end = std::max(start, token.end - std::min(quotes, token.end));
  return text.substr(start, end - start);
}

Span moved(Span span, uint32_t by) { return {span.start + by, span.end + by}; }

}  // namespace

// strings: (STRING | f_string)+
void Parser::strings() {
  Mark from = mark();
  const Flavour flavour = flavour_of(tokens_[TokenId(pos_)]);
  uint32_t parts = 0;
  while (at(TokenKind::String) || at(TokenKind::FStringStart)) {
    const Token& token = tokens_[TokenId(pos_)];
    if (flavour_of(token) != flavour) {
      const bool bytes = flavour == Flavour::Bytes || flavour_of(token) == Flavour::Bytes;
      report(token.span(), bytes ? "bytes and other strings cannot be concatenated"
                                 : "t-strings and other strings cannot be concatenated");
    }
    string_part();
    ++parts;
  }
  if (parts > 1) emit(NodeKind::Strings, from);
}

void Parser::string_part() {
  if (at(TokenKind::FStringStart)) return f_string();
  const Token& token = tokens_[TokenId(pos_)];
  std::string_view body = body_of(token, text_);
  if (auto error = check_string(body, token.flags)) {
    report(moved(error->span, static_cast<uint32_t>(body.data() - text_.data())), error->message);
  }
  emit_leaf(NodeKind::String);
}

// f_string: FSTRING_START (FSTRING_MIDDLE | field)* FSTRING_END
void Parser::f_string() {
  Mark from = mark();
  const bool is_template = (tokens_[TokenId(pos_)].flags & string_flag::kTemplate) != 0;
  if (is_template) require({14}, "a t-string", tokens_[TokenId(pos_)].span());
  advance();
  f_string_parts(0);
  expect(TokenKind::FStringEnd);
  emit(NodeKind::FString, from, {.flags = is_template ? node_flag::kTemplate : uint8_t{0}});
  if (target_ < Version{12} && !is_template && !failed()) check_old_f_string(from);
}

void Parser::f_string_parts(uint8_t clear_flags) {
  for (;;) {
    if (at(TokenKind::FStringMiddle)) {
      const Token& token = tokens_[TokenId(pos_)];
      auto flags = static_cast<uint8_t>(token.flags & ~clear_flags);
      if (auto error = check_string(token.span().in(text_), flags))
        report(moved(error->span, token.start), error->message);
      emit_leaf(NodeKind::FStringText);
    } else if (at(TokenKind::LeftBrace)) {
      f_string_field();
    } else {
      return;
    }
  }
}

// field: '{' (yield_expression | star_expressions) ['='] ['!' NAME] [format_spec] '}'
void Parser::f_string_field() {
  Deeper deeper(*this, kBracketDepth);
  if (failed()) return;
  bare_field_ = true;
  Mark from = mark();
  advance();
  switch (kind_) {
    case TokenKind::RightBrace:
    case TokenKind::Exclamation:
    case TokenKind::Colon:
    case TokenKind::Equal:
      return fail("expected an expression in the field of an f-string");
    default:
      break;
  }
  Mark value = mark();
  yield_or_star_expressions();
  // Up to 3.11 a field was parsed as if it stood in parentheses.
  if (target_ < Version{12} && at_comprehension()) {
    comprehension_clauses();
    emit(NodeKind::GeneratorExp, value);
  }
  // 3.9 to 3.11 rejected this in the grammar; elsewhere it is judged with the other stars (facts/later_errors.h).
  const bool star_is_syntax = target_ >= Version{9} && target_ < Version{12};
  if (star_is_syntax && !failed() && last().kind == NodeKind::Starred && last().first_token.index == value.token) {
    return fail_at(span_of(last()), "a starred expression in an f-string field needs a comma behind it");
  }
  const bool debug = accept(TokenKind::Equal);
  uint8_t conversion = 0;
  if (at(TokenKind::Exclamation)) {
    const uint32_t after_mark = tokens_[TokenId(pos_)].end;
    advance();
    std::string_view name = at(TokenKind::Name) ? token_text_at(pos_) : std::string_view();
    if (tokens_[TokenId(pos_)].start != after_mark || (name != "r" && name != "s" && name != "a")) {
      return fail("expected `r`, `s` or `a` right after `!`");
    }
    conversion = static_cast<uint8_t>(name[0]);
    advance();
  }
  const bool has_spec = at(TokenKind::Colon);
  if (has_spec) format_spec();
  expect_close(TokenKind::RightBrace, from.token);
  emit(NodeKind::Interpolation, from,
       {.op = conversion, .flags = debug ? node_flag::kDebug : uint8_t{0}, .optional = static_cast<uint8_t>(has_spec)});
}

// format_spec: ':' (FSTRING_MIDDLE | field)*
void Parser::format_spec() {
  Mark from = mark();
  advance();
  // Up to 3.13 CPython reads escapes in the format of a raw f-string too.
  f_string_parts(target_ < Version{14} ? string_flag::kRaw : uint8_t{0});
  emit(NodeKind::FormatSpec, from);
  const uint32_t end = tokens_[TokenId(previous_)].end;
  const Token& next = tokens_[TokenId(pos_)];
  const bool broken = Span{end, next.start}.in(text_).find_first_of("\r\n") != std::string_view::npos;
  if (broken && rejects_since(target_, {14})) report({end, end}, "the format of an f-string field ends with its line");
}

// Before 3.12 an f-string was first read as a plain string, and its fields parsed from that: no quote of its own kind,
// no backslash, no comment and (on one line) no line end inside a field, and formats nested once.
void Parser::check_old_f_string(Mark from) {
  const Token& start = tokens_[TokenId(from.token)];
  const Token& end = tokens_[TokenId(previous_)];
  std::string_view quotes =
      text_.substr(start.start + start.prefix_length, start.end - start.start - start.prefix_length);
  uint32_t i = start.end;
  while (i < end.start && text_.substr(i, quotes.size()) != quotes &&
         (quotes.size() == 3 || (text_[i] != '\n' && text_[i] != '\r'))) {
    const bool continues = text_[i] == '\\' && text_.substr(i + 1, 2) == "\r\n";
    i += text_[i] == '\\' ? (continues ? 3 : 2) : 1;
  }
  if (i < end.start) return require({12}, "an f-string field with the string's own quotes or a line end", {i, i + 1});
  for (size_t n = from.node; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (node.kind != NodeKind::Interpolation) continue;
    if (node.op != 0) {
      const uint32_t conversion =
          node.has_optional(0) ? nodes_[n - 1].first_token.index - 1 : node.last_token.index - 1;
      if (tokens_[TokenId(conversion)].end != tokens_[TokenId(conversion + 1)].start) {
        return require({12}, "white space after the conversion of an f-string field",
                       tokens_[TokenId(conversion)].span());
      }
    }
    // A format with a field whose format has a field.
    uint32_t formats = 0;
    for (size_t outer = n; outer < nodes_.size(); ++outer) {
      formats += nodes_[outer].kind == NodeKind::FormatSpec && nodes_[outer].first_token < node.first_token;
    }
    if (formats > 1) return require({12}, "f-string fields nested this deep", span_of(node));
    // The expression's text ends where the format begins.
    uint32_t expression_end = tokens_[node.last_token].start;
    if (node.has_optional(0)) expression_end = tokens_[nodes_[n - 1].first_token].start;
    Span field{tokens_[node.first_token].end, expression_end};
    size_t backslash = field.in(text_).find('\\');
    if (backslash != std::string_view::npos) {
      const auto place = static_cast<uint32_t>(field.start + backslash);
      return require({12}, "a backslash in an f-string field", {place, place + 1});
    }
    for (TokenId t = node.first_token; t < node.last_token; ++t) {
      if (tokens_[t].kind == TokenKind::Comment)
        return require({12}, "a comment in an f-string field", tokens_[t].span());
    }
  }
}

}  // namespace graphmend

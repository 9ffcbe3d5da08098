// Errors and how to go on after them. In: the token that nobody expected. Out: a diagnostic, an ErrorStatement.
// A statement that fails takes its line, and the block under it if there is one; the statements in that block are
// parsed as usual, and clauses such as `else:` that have lost their head are passed over in silence.
#include <algorithm>

#include "parse/parser_state.h"

namespace graphmend {

namespace {

bool is_layout(TokenKind kind) {
  return kind == TokenKind::Newline || kind == TokenKind::Indent || kind == TokenKind::Dedent ||
         kind == TokenKind::EndOfFile;
}

// Enough of a token to recognise it, cut between characters and at the end of a line.
std::string shortened(std::string_view text) {
  constexpr size_t kMost = 40;
  size_t length = std::min(text.find_first_of("\r\n"), std::min(text.size(), kMost));
  while (length > 0 && length < text.size() && (static_cast<uint8_t>(text[length]) & 0xC0) == 0x80) --length;
  return std::string(text.substr(0, length)) + (length < text.size() ? "…" : "");
}

}  // namespace

Span Parser::current_span() const {
  const Token& token = tokens_[TokenId(pos_)];
  // The end of a line is where its last token ends, not where the next line begins.
  if (is_layout(token.kind) && pos_ > 0) {
    uint32_t end = tokens_[TokenId(previous_)].end;
    return {end, end};
  }
  return token.span();
}

Span Parser::span_since(Mark from) const {
  return {tokens_[TokenId(from.token)].start, tokens_[TokenId(previous_)].end};
}

// " at line 12" for a token on another line than the current one.
std::string Parser::place_of(uint32_t token) const {
  // Made once, when first needed: a file with a million errors must not be counted through a million times.
  if (!lines_) lines_.emplace(text_);
  const uint32_t line = lines_->position(tokens_[TokenId(token)].start).line;
  if (line == lines_->position(current_span().start).line) return "";
  return " at line " + std::to_string(line);
}

// "`)` to close `(` at line 12"
std::string Parser::closing_of(uint32_t open_token) const {
  const TokenKind open = tokens_[TokenId(open_token)].kind;
  const char close = open == TokenKind::LeftParen ? ')' : open == TokenKind::LeftBracket ? ']' : '}';
  return std::string("`") + close + "` to close `" + std::string(token_text_at(open_token)) + "`" +
         place_of(open_token);
}

void Parser::report(Span span, std::string message) { errors_.push_back({span, std::move(message)}); }

void Parser::fail_at(Span span, std::string message) {
  if (failed_) return;
  failed_ = true;
  kind_ = TokenKind::EndOfFile;
  report(span, std::move(message));
}

void Parser::fail(std::string message) { fail_at(current_span(), std::move(message)); }

void Parser::fail_expected(std::string_view what) {
  if (failed_) return;
  const TokenKind found = tokens_[TokenId(pos_)].kind;
  if (found == TokenKind::Error) {
    // The lexer has said what is wrong with it.
    failed_ = true;
    kind_ = TokenKind::EndOfFile;
    return;
  }
  std::string message = "expected " + std::string(what);
  // Inside brackets lines do not end: that one does means that a bracket is missing, whatever else could stand here.
  if (is_layout(found) && open_bracket_ != TokenId::kNone) message = "expected " + closing_of(open_bracket_);
  if (!is_layout(found)) {
    message += ", found `" + shortened(token_text_at(pos_)) + "`";
  }
  fail(std::move(message));
}

void Parser::require(Version version, std::string_view what, Span span) {
  if (target_ >= version) return;
  report(span, std::string(what) + " needs Python " + version.text() + "; the target is " + target_.text());
}

// To behind the end of the current logical line.
void Parser::skip_line() {
  while (kind_ != TokenKind::Newline && kind_ != TokenKind::EndOfFile) advance();
  accept(TokenKind::Newline);
}

void Parser::recover(Mark from) {
  failed_ = false;
  bare_field_ = false;
  kind_ = tokens_[TokenId(pos_)].kind;
  // An error at the end of a line has often passed that end already.
  const bool line_is_over = pos_ > from.token && tokens_[TokenId(previous_)].kind == TokenKind::Newline;
  if (!line_is_over) skip_line();
  if (at(TokenKind::Indent)) indented_statements();
  while (at(TokenKind::Elif) || at(TokenKind::Else) || at(TokenKind::Except) || at(TokenKind::Finally)) {
    skip_line();
    if (at(TokenKind::Indent)) indented_statements();
  }
  emit(NodeKind::ErrorStatement, from);
}

}  // namespace graphmend

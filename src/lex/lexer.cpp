// The lexer's frame: lines, indentation, names, operators, brackets. In: text. Out: tokens and errors.
// The judgements on tabs, form feeds and continuation lines are those of CPython's tokenizer.
#include "lex/lexer.h"

#include <string>

#include "lex/keywords.h"
#include "lex/lexer_state.h"
#include "source/unicode.h"

namespace graphmend {

namespace {

constexpr uint32_t kTabSize = 8;

// Keywords that begin a statement and never stand inside brackets: on a line of their own they prove that a bracket
// above was never closed.
constexpr bool begins_statement_only(TokenKind kind) {
  switch (kind) {
    case TokenKind::Assert:
    case TokenKind::Break:
    case TokenKind::Class:
    case TokenKind::Continue:
    case TokenKind::Def:
    case TokenKind::Del:
    case TokenKind::Except:
    case TokenKind::Finally:
    case TokenKind::Global:
    case TokenKind::Import:
    case TokenKind::Nonlocal:
    case TokenKind::Pass:
    case TokenKind::Raise:
    case TokenKind::Return:
    case TokenKind::Try:
    case TokenKind::While:
    case TokenKind::With:
      return true;
    default:
      return false;
  }
}

const char* after_line_end(const char* p) { return p[0] == '\r' && p[1] == '\n' ? p + 2 : p + 1; }

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

}  // namespace

LexResult lex(const std::string& text, Version target) { return Lexer(text, target).run(); }

Lexer::Lexer(const std::string& text, Version target)
    : target_(target), begin_(text.data()), end_(begin_ + text.size()), p_(begin_) {
  // About a token for every five bytes; pages that stay unused are never touched.
  tokens_.reserve(text.size() / 4 + 16);
  indentations_.push_back({});
}

LexResult Lexer::run() {
  while (!at_end()) {
    lex_line_start();
    lex_tokens_of_line();
  }
  lex_end();
  return {{std::move(tokens_)}, std::move(errors_)};
}

// Skips blank and comment lines up to the first token of a logical line, and settles that line's indentation.
void Lexer::lex_line_start() {
  for (;;) {
    Indentation at;
    // Indentation split by a backslash counts up to the first one; before 3.10 a backslash was a token like others.
    uint32_t continued_column = 0;
    for (;; ++p_) {
      if (*p_ == ' ') {
        ++at.column;
        ++at.alternative;
      } else if (*p_ == '\t') {
        at.column = (at.column / kTabSize + 1) * kTabSize;
        ++at.alternative;
      } else if (*p_ == '\f') {
        at = {};
      } else if (*p_ == '\\' && target_ >= Version{10}) {
        if (continued_column == 0) continued_column = at.column;
        if (!skip_continuation()) return;
        --p_;
      } else {
        break;
      }
    }
    if (at_end()) return;
    // 3.9 took such a line for blank: what follows the backslash has no indentation of its own.
    const bool unindented = *p_ == '\\' && target_ == Version{9};
    while (unindented && *p_ == '\\') {
      if (!skip_continuation()) return;
      while (is_class(*p_, char_class::kBlank)) ++p_;
    }
    if (*p_ == '#') lex_comment();
    if (is_line_end(*p_)) {
      p_ = after_line_end(p_);
      continue;
    }
    if (at_end() || unindented) return;
    if (continued_column != 0) at = {continued_column, continued_column};
    set_indentation(at);
    return;
  }
}

void Lexer::set_indentation(Indentation at) {
  auto inconsistent = [&] { error(p_, p_, "inconsistent use of tabs and spaces in indentation"); };
  Indentation top = indentations_.back();
  if (at.column == top.column) {
    if (at.alternative != top.alternative) inconsistent();
    return;
  }
  if (at.column > top.column) {
    if (indentations_.size() == kMaxIndentLevels) error(p_, p_, "more than 100 levels of indentation");
    if (at.alternative <= top.alternative) inconsistent();
    indentations_.push_back(at);
    add(TokenKind::Indent, p_, p_);
    return;
  }
  while (at.column < indentations_.back().column) {
    indentations_.pop_back();
    add(TokenKind::Dedent, p_, p_);
  }
  if (at.column != indentations_.back().column) {
    error(p_, p_, "unindent does not match any outer indentation level");
    // The line belongs to the block it comes nearest to; later lines are compared with its own column.
    if (indentations_.size() > 1) indentations_.back() = at;
  } else if (at.alternative != indentations_.back().alternative) {
    inconsistent();
  }
}

// Lexes up to the end of the logical line, or of the text.
void Lexer::lex_tokens_of_line() {
  for (;;) {
    if (in_f_string_text_) {
      lex_f_string_text();
      continue;
    }
    while (is_class(*p_, char_class::kBlank)) ++p_;
    const char c = *p_;
    if (is_class(c, char_class::kNameStart)) {
      lex_name();
      continue;
    }
    if (is_class(c, char_class::kDigit)) {
      lex_number();
      continue;
    }
    switch (c) {
      case '\n':
      case '\r':
        if (brackets_.empty()) {
          lex_newline();
          return;
        }
        p_ = after_line_end(p_);
        break;
      case '#':
        lex_comment();
        break;
      case '\\':
        skip_continuation();
        break;
      case '"':
      case '\'':
        lex_string(p_, 0, 0, false);
        break;
      case 0:
        if (at_end()) return;
        [[fallthrough]];
      default:
        lex_operator();
    }
  }
}

void Lexer::lex_newline() {
  const char* start = p_;
  p_ = after_line_end(p_);
  add(TokenKind::Newline, start, p_);
}

void Lexer::lex_comment() {
  const char* start = p_;
  while (!is_class(*p_, char_class::kLineEnd) || (*p_ == 0 && !at_end())) ++p_;
  add(TokenKind::Comment, start, p_);
}

void Lexer::lex_end() {
  bool in_line = false;
  for (size_t i = tokens_.size(); i-- > 0;) {
    TokenKind kind = tokens_[i].kind;
    if (kind == TokenKind::Comment) continue;
    in_line = kind != TokenKind::Newline && kind != TokenKind::Dedent && kind != TokenKind::Indent;
    break;
  }
  if (in_line) add(TokenKind::Newline, end_, end_);
  for (size_t i = indentations_.size(); i > 1; --i) add(TokenKind::Dedent, end_, end_);
  add(TokenKind::EndOfFile, end_, end_);
}

// Past a backslash and the line end behind it. False when no line follows, which is reported.
bool Lexer::skip_continuation() {
  const char* start = p_++;
  if (!is_line_end(*p_) && !at_end()) {
    error(start, p_, "a backslash continues the line only when it is its last character");
    add(TokenKind::Error, start, p_);
    return false;
  }
  if (!at_end()) p_ = after_line_end(p_);
  if (at_end() && target_ >= Version{12}) {
    error(start, start + 1, "a backslash continues the line, but the file ends here");
    add(TokenKind::Error, start, start + 1);
    return false;
  }
  return true;
}

void Lexer::lex_name() {
  const char* start = p_;
  uint8_t all_bits = 0;
  do {
    all_bits |= static_cast<uint8_t>(*p_);
    ++p_;
  } while (is_class(*p_, char_class::kNamePart));
  std::string_view name(start, static_cast<size_t>(p_ - start));
  if ((*p_ == '"' || *p_ == '\'') && name.size() <= 2) {
    uint8_t flags = 0;
    bool is_f_string = false;
    if (at_string_prefix(name, flags, is_f_string)) {
      lex_string(start, static_cast<uint8_t>(name.size()), flags, is_f_string);
      return;
    }
  }
  if (all_bits >= 0x80) {
    add(TokenKind::Name, start, p_, name_flag::kNotAscii);
    verify_name(offset(start));
    return;
  }
  TokenKind kind = keyword_kind(name);
  if (kind != TokenKind::Name && !brackets_.empty() && begins_statement_only(kind) &&
      recover_from_open_brackets(kind, start)) {
    return;
  }
  add(kind, start, p_);
}

// A name with bytes above ASCII: every code point must be one that PEP 3131 allows.
void Lexer::verify_name(uint32_t start) {
  std::string_view name(begin_ + start, static_cast<size_t>(p_ - begin_) - start);
  for (size_t at = 0; at < name.size();) {
    const Utf8Char decoded = decode_utf8(name, at);
    const bool fits = decoded.length > 0 && (at == 0 ? is_xid_start(decoded.code) : is_xid_continue(decoded.code));
    if (!fits) {
      const size_t length = decoded.length > 0 ? decoded.length : 1;
      const std::string shown =
          decoded.length > 0 ? "`" + std::string(name.substr(at, length)) + "`" : "a byte that is not UTF-8";
      error(name.data() + at, name.data() + at + length, shown + " cannot stand in a name");
      return;
    }
    at += decoded.length;
  }
}

void Lexer::open_bracket(char open, bool is_field) {
  if (brackets_.size() == kMaxBracketDepth) error(p_, p_ + 1, "more than 200 nested brackets");
  brackets_.push_back({open, is_field});
}

// Pops the matching bracket, and those above it that were never closed. A stray closer pops nothing.
void Lexer::close_bracket(char close) {
  const char open = close == ')' ? '(' : close == ']' ? '[' : '{';
  // No deeper than brackets may be nested: else a file of `(` and then `]` would take quadratic time.
  const size_t lowest = brackets_.size() > kMaxBracketDepth ? brackets_.size() - kMaxBracketDepth : 0;
  for (size_t i = brackets_.size(); i-- > lowest;) {
    // Nothing but `}` ends a replacement field.
    if (brackets_[i].is_field && open != '{') return;
    if (brackets_[i].open != open) continue;
    bool was_field = brackets_[i].is_field;
    brackets_.resize(i);
    if (was_field) {
      --f_strings_.back().open_fields;
      f_strings_.back().in_format_spec = false;
      in_f_string_text_ = true;
    }
    return;
  }
}

// `def` at the start of a line inside brackets: the bracket was forgotten, the line is a new statement.
bool Lexer::recover_from_open_brackets(TokenKind keyword, const char* start) {
  const char* line = start;
  while (line > begin_ && is_class(line[-1], char_class::kBlank)) --line;
  if (line == begin_ || !is_line_end(line[-1])) return false;
  brackets_.clear();
  f_strings_.clear();
  add(TokenKind::Newline, line, line);
  const char* resume = p_;
  p_ = line;
  lex_line_start();
  add(keyword, start, resume);
  p_ = resume;
  return true;
}

void Lexer::unexpected_character() {
  const char* start = p_;
  if (*p_ == 0) {
    ++p_;
    error(start, p_, "a NUL byte cannot stand in source code");
  } else if (static_cast<uint8_t>(*p_) < 0x20 || *p_ == 0x7F) {
    ++p_;
    error(start, p_, "a control character cannot stand outside of strings and comments");
  } else {
    ++p_;
    error(start, p_, "`" + std::string(1, *start) + "` is no token of Python");
  }
  add(TokenKind::Error, start, p_);
}

void Lexer::lex_operator() {
  using enum TokenKind;
  const char* start = p_;
  // One, two or three characters, with the longest that fits; `plain` stands alone, `doubled` is `**`, `equal` is `*=`.
  auto take = [&](TokenKind kind, int length) {
    p_ += length;
    add(kind, start, p_);
  };
  auto with_equal = [&](TokenKind plain, TokenKind equal) { p_[1] == '=' ? take(equal, 2) : take(plain, 1); };
  auto with_doubled = [&](TokenKind plain, TokenKind equal, TokenKind doubled, TokenKind doubled_equal) {
    if (p_[1] != *p_) return with_equal(plain, equal);
    p_[2] == '=' ? take(doubled_equal, 3) : take(doubled, 2);
  };
  switch (*p_) {
    case '(':
      open_bracket('(', false);
      return take(LeftParen, 1);
    case '[':
      open_bracket('[', false);
      return take(LeftBracket, 1);
    case '{':
      open_bracket('{', false);
      return take(LeftBrace, 1);
    case ')':
      close_bracket(')');
      return take(RightParen, 1);
    case ']':
      close_bracket(']');
      return take(RightBracket, 1);
    case '}':
      close_bracket('}');
      return take(RightBrace, 1);
    case ',':
      return take(Comma, 1);
    case ';':
      return take(Semicolon, 1);
    case '~':
      return take(Tilde, 1);
    case ':':
      if (in_field()) {
        // A replacement field's colon starts its format, so that `f"{x:=10}"` is no walrus.
        f_strings_.back().in_format_spec = true;
        in_f_string_text_ = true;
        return take(Colon, 1);
      }
      return with_equal(Colon, ColonEqual);
    case '.':
      if (is_class(p_[1], char_class::kDigit)) return lex_number();
      return p_[1] == '.' && p_[2] == '.' ? take(Ellipsis, 3) : take(Dot, 1);
    case '=':
      return with_equal(Equal, EqualEqual);
    case '!':
      return with_equal(Exclamation, NotEqual);
    case '+':
      return with_equal(Plus, PlusEqual);
    case '-':
      return p_[1] == '>' ? take(Arrow, 2) : with_equal(Minus, MinusEqual);
    case '%':
      return with_equal(Percent, PercentEqual);
    case '&':
      return with_equal(Ampersand, AmpersandEqual);
    case '|':
      return with_equal(Pipe, PipeEqual);
    case '^':
      return with_equal(Caret, CaretEqual);
    case '@':
      return with_equal(At, AtEqual);
    case '*':
      return with_doubled(Star, StarEqual, DoubleStar, DoubleStarEqual);
    case '/':
      return with_doubled(Slash, SlashEqual, DoubleSlash, DoubleSlashEqual);
    case '<':
      return p_[1] == '>' ? take(LessGreater, 2) : with_doubled(Less, LessEqual, LeftShift, LeftShiftEqual);
    case '>':
      return with_doubled(Greater, GreaterEqual, RightShift, RightShiftEqual);
    default:
      unexpected_character();
  }
}

}  // namespace graphmend

// Numbers. In: text at a digit or at a dot before one. Out: an Int, Float or Imaginary token.
// A malformed number becomes an Error token that reaches to where the number would have ended.
#include <cstring>
#include <string>

#include "lex/lexer_state.h"

namespace graphmend {

namespace {

bool is_digit(char c) { return is_class(c, char_class::kDigit); }

bool is_digit_of(char c, unsigned base) {
  return base == 16 ? is_class(c, char_class::kHexDigit) : c >= '0' && c < static_cast<char>('0' + base);
}

// `1if x else y` is old but valid: a keyword that may follow a number ends it. The last three may up to Python 3.9; the
// parser knows the version.
bool keyword_may_follow(const char* p) {
  for (std::string_view word : {"and", "else", "for", "or", "not", "as", "from", "async"}) {
    if (std::strncmp(p, word.data(), word.size()) == 0 && !is_class(p[word.size()], char_class::kNamePart)) return true;
  }
  return p[0] == 'i' && (p[1] == 'f' || p[1] == 'n' || p[1] == 's');
}

}  // namespace

void Lexer::bad_number(const char* start, std::string message) {
  while (is_class(*p_, char_class::kNamePart)) ++p_;
  error(start, p_, std::move(message));
  add(TokenKind::Error, start, p_);
}

void Lexer::finish_number(TokenKind kind, const char* start, std::string_view what) {
  // A non-ASCII letter makes a name of its own, which the parser will not expect.
  bool glued = static_cast<uint8_t>(*p_) < 0x80 && is_class(*p_, char_class::kNamePart);
  if (glued && !keyword_may_follow(p_)) return bad_number(start, "invalid " + std::string(what) + " literal");
  add(kind, start, p_);
}

// digit* ('_' digit+)*; false at an underscore without a digit behind it.
bool Lexer::skip_decimal_tail() {
  for (;;) {
    while (is_digit(*p_)) ++p_;
    if (*p_ != '_') return true;
    if (!is_digit(p_[1])) return false;
    ++p_;
  }
}

void Lexer::lex_prefixed_number(const char* start, unsigned base) {
  const std::string what = base == 16 ? "hexadecimal" : base == 8 ? "octal" : "binary";
  p_ += 2;
  do {
    if (*p_ == '_') ++p_;
    if (!is_digit_of(*p_, base)) {
      if (is_digit(*p_)) break;
      return bad_number(start, "invalid " + what + " literal");
    }
    while (is_digit_of(*p_, base)) ++p_;
  } while (*p_ == '_');
  if (is_digit(*p_)) return bad_number(start, "digit `" + std::string(1, *p_) + "` in " + what + " literal");
  finish_number(TokenKind::Int, start, what);
}

// number: prefixed | digits ['.' [digits]] [exponent] ['j'] | '.' digits [exponent] ['j']
void Lexer::lex_number() {
  const char* start = p_;
  auto invalid = [&] { bad_number(start, "invalid decimal literal"); };
  bool leading_zero = false;
  if (*p_ == '0') {
    char letter = static_cast<char>(p_[1] | 0x20);
    if (letter == 'x') return lex_prefixed_number(start, 16);
    if (letter == 'o') return lex_prefixed_number(start, 8);
    if (letter == 'b') return lex_prefixed_number(start, 2);
    const char* first = p_;
    while (*first == '0' || (*first == '_' && is_digit(first[1]))) ++first;
    leading_zero = is_digit(*first);
  }
  TokenKind kind = TokenKind::Int;
  if (*p_ != '.' && !skip_decimal_tail()) return invalid();
  if (*p_ == '.') {
    kind = TokenKind::Float;
    ++p_;
    if (is_digit(*p_) && !skip_decimal_tail()) return invalid();
  }
  if (*p_ == 'e' || *p_ == 'E') {
    bool is_signed = p_[1] == '+' || p_[1] == '-';
    if (is_digit(p_[is_signed ? 2 : 1])) {
      kind = TokenKind::Float;
      p_ += is_signed ? 2 : 1;
      if (!skip_decimal_tail()) return invalid();
    } else if (is_signed) {
      return invalid();
    }
  }
  if (*p_ == 'j' || *p_ == 'J') {
    ++p_;
    return finish_number(TokenKind::Imaginary, start, "imaginary");
  }
  if (leading_zero && kind == TokenKind::Int) {
    return bad_number(start, "leading zeros in a decimal number; octal numbers are written `0o17`");
  }
  finish_number(kind, start, "decimal");
}

}  // namespace graphmend

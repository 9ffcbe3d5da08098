// The values of literal tokens. In: a literal's text. Out: its value as CPython 3.13 reads it, or what is wrong.
// Prefixes, quotes and replacement fields are the lexer's. What is only warned about (`"\d"`, `b"\777"`) is accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "lex/token.h"

namespace graphmend {

// Strings. `body` is what stands between the quotes, or the text of an FStringMiddle, and `flags` are the token's
// (`string_flag`); spans of errors count from the start of the body.
//
// In an FStringMiddle with kHasDoubledBrace, `{{` and `}}` stand for one brace. CPython 3.13.0 reads the escapes in the
// format specification of a raw f-string (`rf"{x:\n}"`) as if it were not raw: for its values, clear kRaw there.

struct StringValue {
  // Of a str: UTF-8 in which surrogates are encoded like other code points, each by itself, because
  // `"\ud83d\ude00"` has two characters in Python. Of bytes: the bytes.
  std::string value;
  // The first one. The value then holds the wrong escapes as they are spelled.
  std::optional<Diagnostic> error;
};

StringValue decode_string(std::string_view body, uint8_t flags);

// The error that `decode_string` would find; without the inline test below.
std::optional<Diagnostic> find_string_error(std::string_view body, uint8_t flags);

// Says whether the literal is valid without building its value. Relies on kHasBackslash, which is unset for most
// strings; then there is nothing to read.
inline std::optional<Diagnostic> check_string(std::string_view body, uint8_t flags) {
  const bool has_escapes = (flags & (string_flag::kHasBackslash | string_flag::kRaw)) == string_flag::kHasBackslash;
  if (!has_escapes && !(flags & string_flag::kBytes)) return std::nullopt;
  return find_string_error(body, flags);
}

// Numbers. `text` is that of an Int, Float or Imaginary token without errors.

// CPython converts no decimal integers beyond this unless told to (`sys.set_int_max_str_digits`).
inline constexpr size_t kMaxDecimalDigits = 4300;

std::optional<Diagnostic> find_int_error(std::string_view text);

inline std::optional<Diagnostic> check_int(std::string_view text) {
  if (text.size() <= kMaxDecimalDigits) return std::nullopt;
  return find_int_error(text);
}

// The value of a Float, or of the digits before the `j` of an Imaginary: correctly rounded, `inf` when too large.
double float_value(std::string_view text);

// Python's `repr` of the number. Integers above kMaxReprBits come out in hexadecimal: decimal takes time quadratic in
// their length, and Python itself refuses to print a quarter of that.
inline constexpr size_t kMaxReprBits = 65536;

std::string number_repr(TokenKind kind, std::string_view text);

}  // namespace graphmend

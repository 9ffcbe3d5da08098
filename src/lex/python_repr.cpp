// Values as Python's `repr` prints them. In: a str, bytes, float or complex value. Out: the text CPython 3.13 prints.
// Which characters are printable is a property of the Unicode version, which is source/unicode.h's.
#include "lex/python_repr.h"

#include <charconv>
#include <cmath>

#include "source/unicode.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

// Single quotes, unless the value has some and has no double ones.
char choose_quote(std::string_view value) {
  const bool has_single = value.find('\'') != std::string_view::npos;
  return has_single && value.find('"') == std::string_view::npos ? '"' : '\'';
}

void append_hex(std::string& out, char letter, int digits, char32_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.push_back('\\');
  out.push_back(letter);
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out.push_back(kDigits[value >> shift & 0xF]);
}

void append_escape(std::string& out, char32_t c) {
  if (c <= 0xFF) {
    append_hex(out, 'x', 2, c);
  } else if (c <= 0xFFFF) {
    append_hex(out, 'u', 4, c);
  } else {
    append_hex(out, 'U', 8, c);
  }
}

void append_ascii(std::string& out, char c, char quote) {
  if (c == quote || c == '\\') {
    out.push_back('\\');
    out.push_back(c);
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c < ' ' || c == 0x7F) {
    append_escape(out, static_cast<unsigned char>(c));
  } else {
    out.push_back(c);
  }
}

// Shortest digits that read back as `value`, laid out as C's `%.17g` would with that many digits.
std::string shortest(double value) {
  if (std::isinf(value)) return "inf";
  char buffer[32];
  const std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(result.ptr - buffer));

  // d.ddde±dd
  const size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 1) digits += text.substr(2, e - 2);
  int exponent = 0;
  for (const char c : text.substr(e + 2)) exponent = exponent * 10 + (c - '0');
  if (text[e + 1] == '-') exponent = -exponent;

  // to_chars writes the exponent as Python does: a sign and at least two digits.
  if (exponent < -4 || exponent >= 16) return std::string(text);
  if (exponent < 0) return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0');
  return digits.insert(whole, ".");
}

}  // namespace

std::string str_repr(std::string_view value) {
  const char quote = choose_quote(value);
  std::string out;
  out.reserve(value.size() + 2);
  out.push_back(quote);
  for (size_t at = 0; at < value.size();) {
    const Utf8Char c = decode_utf8_or_surrogate(value, at);
    if (c.length == 1) {
      append_ascii(out, value[at], quote);
    } else if (c.length == 0) {
      append_escape(out, static_cast<unsigned char>(value[at]));
    } else if (is_printable(c.code)) {
      out += value.substr(at, c.length);
    } else {
      append_escape(out, c.code);
    }
    at += c.length == 0 ? 1 : c.length;
  }
  out.push_back(quote);
  return out;
}

std::string bytes_repr(std::string_view value) {
  const char quote = choose_quote(value);
  std::string out = "b";
  out.reserve(value.size() + 3);
  out.push_back(quote);
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x80) {
      append_ascii(out, c, quote);
    } else {
      append_escape(out, static_cast<unsigned char>(c));
    }
  }
  out.push_back(quote);
  return out;
}

std::string float_repr(double value) {
  std::string text = shortest(value);
  // "inf" has no digit to put a fraction behind.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string imaginary_repr(double value) { return shortest(value) + "j"; }

}  // namespace graphmend

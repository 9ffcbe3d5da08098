// The values of string literals. In: a literal's body and its token's flags. Out: `StringValue`, or the first error.
// Both questions, the value and its validity, are answered from the same reading of a single escape.
#include <algorithm>
#include <array>

#include "lex/literal.h"
#include "source/unicode.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

enum class EscapeKind : uint8_t {
  // Stands for `Escape::value`: a code point, or a byte in a bytes literal.
  Value,
  // A backslash before the end of a line.
  Nothing,
  // No escape: the backslash stands for itself and what follows is ordinary text.
  Backslash,
  TooFewDigits,
  TooLarge,
  MalformedName,
  UnknownName,
};

struct Escape {
  EscapeKind kind = EscapeKind::Backslash;
  char32_t value = 0;
  // Offset of the first byte behind the escape, or behind the part of it that is there.
  size_t end = 0;
};

constexpr bool is_error(EscapeKind kind) { return kind >= EscapeKind::TooFewDigits; }

constexpr bool is_octal_digit(char c) { return c >= '0' && c <= '7'; }

constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr size_t hex_digit_count(char letter) {
  if (letter == 'x') return 2;
  return letter == 'u' ? 4 : 8;
}

// escape: '\' ('x' | 'u' | 'U') hex_digit{2 | 4 | 8}
Escape read_hex_escape(std::string_view body, size_t start) {
  size_t at = start + 2;
  const size_t end = at + hex_digit_count(body[start + 1]);
  char32_t value = 0;
  for (; at < end; ++at) {
    const int digit = at < body.size() ? hex_digit(body[at]) : -1;
    if (digit < 0) return {EscapeKind::TooFewDigits, 0, at};
    value = value << 4 | static_cast<char32_t>(digit);
  }
  return {value > 0x10FFFF ? EscapeKind::TooLarge : EscapeKind::Value, value, end};
}

// escape: '\' octal_digit{1,3}
Escape read_octal_escape(std::string_view body, size_t start, bool is_bytes) {
  size_t at = start + 1;
  const size_t limit = std::min(at + 3, body.size());
  char32_t value = 0;
  for (; at < limit && is_octal_digit(body[at]); ++at) value = value << 3 | static_cast<char32_t>(body[at] - '0');
  return {EscapeKind::Value, is_bytes ? value & 0xFF : value, at};
}

// escape: '\N{' name '}'
Escape read_named_escape(std::string_view body, size_t start) {
  const size_t name_start = start + 3;
  if (name_start > body.size() || body[start + 2] != '{') return {EscapeKind::MalformedName, 0, start + 2};
  // No name has braces or quotes in it, so the search for `}` stops where a name must have ended; without this, a
  // text of many `\N{` and no `}` would take quadratic time.
  const size_t name_end = body.find_first_of("{}\"'\\", name_start);
  if (name_end == std::string_view::npos) return {EscapeKind::MalformedName, 0, body.size()};
  if (body[name_end] != '}' || name_end == name_start) return {EscapeKind::MalformedName, 0, name_end};
  const std::optional<char32_t> value = find_character(body.substr(name_start, name_end - name_start));
  if (!value) return {EscapeKind::UnknownName, 0, name_end + 1};
  return {EscapeKind::Value, *value, name_end + 1};
}

// The backslash is at `start`.
Escape read_escape(std::string_view body, size_t start, bool is_bytes) {
  const size_t next = start + 1;
  if (next >= body.size()) return {EscapeKind::Backslash, 0, next};
  const auto simple = [&](char32_t value) { return Escape{EscapeKind::Value, value, next + 1}; };
  const Escape none{EscapeKind::Backslash, 0, next};
  switch (body[next]) {
    case '\n':
      return {EscapeKind::Nothing, 0, next + 1};
    case '\r':
      return {EscapeKind::Nothing, 0, next + (body.substr(next, 2) == "\r\n" ? 2 : 1)};
    case '\\':
    case '\'':
    case '"':
      return simple(static_cast<char32_t>(body[next]));
    case 'a':
      return simple('\a');
    case 'b':
      return simple('\b');
    case 'f':
      return simple('\f');
    case 'n':
      return simple('\n');
    case 'r':
      return simple('\r');
    case 't':
      return simple('\t');
    case 'v':
      return simple('\v');
    case 'x':
      return read_hex_escape(body, start);
    case 'u':
    case 'U':
      return is_bytes ? none : read_hex_escape(body, start);
    case 'N':
      return is_bytes ? none : read_named_escape(body, start);
    default:
      return is_octal_digit(body[next]) ? read_octal_escape(body, start, is_bytes) : none;
  }
}

Diagnostic escape_error(std::string_view body, size_t start, const Escape& escape) {
  const Span span{static_cast<uint32_t>(start), static_cast<uint32_t>(escape.end)};
  // Only a wrong name can be this long, and then it is no name but text that ran on to some later brace.
  constexpr size_t kMaxSpelling = 120;
  const bool is_long = span.size() > kMaxSpelling;
  const std::string spelling = is_long ? "`\\N{…}`" : "`" + std::string(span.in(body)) + "`";
  switch (escape.kind) {
    case EscapeKind::TooFewDigits: {
      const char letter = body[start + 1];
      return {span, "escape " + spelling + " is too short; `\\" + letter + "` takes " +
                        std::to_string(hex_digit_count(letter)) + " hexadecimal digits"};
    }
    case EscapeKind::TooLarge:
      return {span, "escape " + spelling + " is beyond the last character, `\\U0010ffff`"};
    case EscapeKind::UnknownName:
      return {span, "escape " + spelling + " names no Unicode character"};
    default:
      return {span, "escape `\\N` without a name in braces; write `\\N{NAME}`, or `\\\\N` for a backslash"};
  }
}

std::optional<Diagnostic> find_character_in_bytes(std::string_view body) {
  const size_t start = find_not_ascii(body);
  if (start == body.size()) return std::nullopt;
  const uint32_t length = std::max<uint32_t>(decode_utf8(body, start).length, 1);
  const Span span{static_cast<uint32_t>(start), static_cast<uint32_t>(start) + length};
  return Diagnostic{span, "bytes literal with `" + std::string(span.in(body)) +
                              "`, which is not ASCII; write its bytes as `\\x` escapes"};
}

// Bytes of the body that may not stand for themselves.
std::string_view special_bytes(uint8_t flags) {
  const bool braces = flags & string_flag::kHasDoubledBrace;
  if (flags & string_flag::kRaw) return braces ? "\r{}" : "\r";
  return braces ? "\\\r{}" : "\\\r";
}

}  // namespace

std::optional<Diagnostic> find_string_error(std::string_view body, uint8_t flags) {
  const bool is_bytes = flags & string_flag::kBytes;
  if (is_bytes) {
    if (std::optional<Diagnostic> error = find_character_in_bytes(body)) return error;
  }
  if (flags & string_flag::kRaw) return std::nullopt;
  for (size_t at = body.find('\\'); at != std::string_view::npos;) {
    const Escape escape = read_escape(body, at, is_bytes);
    if (is_error(escape.kind)) return escape_error(body, at, escape);
    at = body.find('\\', escape.end);
  }
  return std::nullopt;
}

StringValue decode_string(std::string_view body, uint8_t flags) {
  const bool is_bytes = flags & string_flag::kBytes;
  std::array<bool, 256> is_special{};
  for (const char c : special_bytes(flags)) is_special[static_cast<unsigned char>(c)] = true;

  StringValue result;
  std::string& out = result.value;
  out.reserve(body.size());
  if (is_bytes) result.error = find_character_in_bytes(body);
  for (size_t at = 0; at < body.size();) {
    size_t next = at;
    while (next < body.size() && !is_special[static_cast<unsigned char>(body[next])]) ++next;
    out.append(body, at, next - at);
    at = next;
    if (at == body.size()) break;

    const char c = body[at];
    if (c == '\r') {
      out.push_back('\n');
      at += body.substr(at, 2) == "\r\n" ? 2 : 1;
    } else if (c != '\\') {
      out.push_back(c);
      at += at + 1 < body.size() && body[at + 1] == c ? 2 : 1;
    } else {
      const Escape escape = read_escape(body, at, is_bytes);
      if (is_error(escape.kind)) {
        if (!result.error) result.error = escape_error(body, at, escape);
        out.append(body, at, escape.end - at);
      } else if (escape.kind == EscapeKind::Backslash) {
        out.push_back('\\');
      } else if (escape.kind == EscapeKind::Value) {
        if (is_bytes) {
          out.push_back(static_cast<char>(escape.value));
        } else {
          append_utf8(out, escape.value);
        }
      }
      at = escape.end;
    }
  }
  return result;
}

}  // namespace graphmend

// UTF-8. In: bytes. Out: code points and back, and the first place where the bytes are not UTF-8.
// The values of Python strings may hold surrogates: they are kept as three bytes each and never joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace graphmend {

struct Utf8Char {
  char32_t code = 0;
  // 0: there is no character here (the end, or bytes that are not UTF-8).
  uint32_t length = 0;
};

namespace internal {
Utf8Char decode_multibyte(std::string_view text, size_t at, bool allow_surrogates);
}  // namespace internal

// The character at `at`. Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
inline Utf8Char decode_utf8(std::string_view text, size_t at) {
  if (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) return {static_cast<uint8_t>(text[at]), 1};
  return internal::decode_multibyte(text, at, false);
}

// The same, but a surrogate is a character.
inline Utf8Char decode_utf8_or_surrogate(std::string_view text, size_t at) {
  if (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) return {static_cast<uint8_t>(text[at]), 1};
  return internal::decode_multibyte(text, at, true);
}

// Appends any code point, surrogates included; above U+10FFFF there are none, and U+FFFD stands for them.
void append_utf8(std::string& text, char32_t code);

// The offset of the first byte that is not ASCII, or the size of the text.
size_t find_not_ascii(std::string_view text, size_t from = 0);

// The offset of the first character that is not UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

}  // namespace graphmend

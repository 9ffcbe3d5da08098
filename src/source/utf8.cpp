// UTF-8. In: bytes. Out: code points and back, and the first place where the bytes are not UTF-8.
// Source text is nearly all ASCII, so that path goes 32 bytes at a time; the others go character by character.
#include "source/utf8.h"

#include <bit>
#include <cstring>

namespace graphmend {
namespace {

constexpr uint64_t kHighBits = 0x8080'8080'8080'8080;

uint64_t load_word(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

constexpr bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

Utf8Char internal::decode_multibyte(std::string_view text, size_t at, bool allow_surrogates) {
  if (at >= text.size()) return {};
  const size_t available = text.size() - at;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const uint8_t lead = byte(0);
  // Below C2 are continuation bytes and the overlong forms of ASCII.
  if (lead < 0xC2 || available < 2 || !is_continuation(byte(1))) return {};
  if (lead < 0xE0) {
    return {static_cast<char32_t>((lead & 0x1Fu) << 6 | (byte(1) & 0x3Fu)), 2};
  }
  if (available < 3 || !is_continuation(byte(2))) return {};
  if (lead < 0xF0) {
    const auto code = static_cast<char32_t>((lead & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu));
    if (code < 0x800) return {};
    if (code >= 0xD800 && code < 0xE000 && !allow_surrogates) return {};
    return {code, 3};
  }
  if (lead > 0xF4 || available < 4 || !is_continuation(byte(3))) return {};
  const auto code = static_cast<char32_t>((lead & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 |
                                          (byte(3) & 0x3Fu));
  if (code < 0x10000 || code > 0x10FFFF) return {};
  return {code, 4};
}

void append_utf8(std::string& text, char32_t code) {
  const auto push = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code > 0x10FFFF) code = 0xFFFD;
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0 | code >> 6);
    push(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    push(0xE0 | code >> 12);
    push(0x80 | (code >> 6 & 0x3F));
    push(0x80 | (code & 0x3F));
  } else {
    push(0xF0 | code >> 18);
    push(0x80 | (code >> 12 & 0x3F));
    push(0x80 | (code >> 6 & 0x3F));
    push(0x80 | (code & 0x3F));
  }
}

size_t find_not_ascii(std::string_view text, size_t from) {
  const char* const data = text.data();
  size_t at = from;
  while (at + 32 <= text.size()) {
    const uint64_t any =
        load_word(data + at) | load_word(data + at + 8) | load_word(data + at + 16) | load_word(data + at + 24);
    if (any & kHighBits) break;
    at += 32;
  }
  if constexpr (std::endian::native == std::endian::little) {
    while (at + 8 <= text.size()) {
      const uint64_t high = load_word(data + at) & kHighBits;
      if (high) return at + static_cast<size_t>(std::countr_zero(high)) / 8;
      at += 8;
    }
  }
  while (at < text.size() && static_cast<uint8_t>(data[at]) < 0x80) ++at;
  return at;
}

size_t find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while ((at = find_not_ascii(text, at)) < text.size()) {
    // Text in another script comes in runs: stay here until the next ASCII character.
    do {
      const Utf8Char next = internal::decode_multibyte(text, at, false);
      if (next.length == 0) return at;
      at += next.length;
    } while (at < text.size() && static_cast<uint8_t>(text[at]) >= 0x80);
  }
  return std::string_view::npos;
}

}  // namespace graphmend

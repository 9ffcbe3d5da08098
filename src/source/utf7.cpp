// UTF-7 (RFC 2152). In: bytes or text. Out: the other, as CPython's codec reads it: every ASCII character but `+` may
// stand for itself. A lone surrogate is an error: no source text can hold one.
#include "source/encoding.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr bool is_high_surrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low_surrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Base 64 of UTF-16 units, between `+` and the first byte that is no digit.
struct Shifted {
  uint32_t bits = 0;
  uint32_t bit_count = 0;
  char32_t high_surrogate = 0;

  // False when surrogates do not pair up.
  bool push(std::string& text, size_t digit) {
    bits = bits << 6 | static_cast<uint32_t>(digit);
    bit_count += 6;
    if (bit_count < 16) return true;
    bit_count -= 16;
    const char32_t unit = bits >> bit_count;
    bits &= (1u << bit_count) - 1;
    if (is_low_surrogate(unit) != (high_surrogate != 0)) return false;
    if (is_high_surrogate(unit)) {
      high_surrogate = unit;
    } else if (high_surrogate != 0) {
      append_utf8(text, 0x10000 + ((high_surrogate - 0xD800) << 10) + (unit - 0xDC00));
      high_surrogate = 0;
    } else {
      append_utf8(text, unit);
    }
    return true;
  }

  // Nothing but zero bits of padding may be left.
  bool is_complete() const { return high_surrogate == 0 && bit_count < 6 && bits == 0; }
};

}  // namespace

Decoded internal::decode_utf7(std::string_view bytes) {
  Decoded result;
  for (size_t at = 0; at < bytes.size();) {
    const char byte = bytes[at];
    if (static_cast<uint8_t>(byte) >= 0x80) {
      result.invalid_at = at;
      return result;
    }
    if (byte != '+') {
      result.text += byte;
      ++at;
      continue;
    }
    const size_t start = at++;
    if (at < bytes.size() && bytes[at] == '-') {
      result.text += '+';
      ++at;
      continue;
    }
    Shifted shifted;
    bool is_valid = at == bytes.size() || kDigits.find(bytes[at]) != std::string_view::npos;
    for (; is_valid && at < bytes.size(); ++at) {
      const size_t digit = kDigits.find(bytes[at]);
      if (digit == std::string_view::npos) break;
      is_valid = shifted.push(result.text, digit);
    }
    if (!is_valid || !shifted.is_complete()) {
      result.invalid_at = start;
      return result;
    }
    if (at < bytes.size() && bytes[at] == '-') ++at;
  }
  return result;
}

std::string internal::encode_utf7(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      bytes += text[at];
      if (text[at] == '+') bytes += '-';
      ++at;
      continue;
    }
    bytes += '+';
    uint32_t bits = 0;
    uint32_t bit_count = 0;
    const auto push_unit = [&](char32_t unit) {
      // At most 5 bits are left over from before, so 21 bits are enough.
      bits = (bits << 16 | unit) & 0x1F'FFFF;
      for (bit_count += 16; bit_count >= 6; bit_count -= 6) bytes += kDigits[bits >> (bit_count - 6) & 63];
    };
    while (at < text.size() && static_cast<uint8_t>(text[at]) >= 0x80) {
      const Utf8Char next = decode_utf8(text, at);
      if (next.code >= 0x10000) {
        push_unit(0xD800 + ((next.code - 0x10000) >> 10));
        push_unit(0xDC00 + ((next.code - 0x10000) & 0x3FF));
      } else {
        push_unit(next.code);
      }
      // Bytes that are no UTF-8 cannot be read back; they must only not hold the loop up.
      at += next.length == 0 ? 1 : next.length;
    }
    if (bit_count > 0) bytes += kDigits[bits << (6 - bit_count) & 63];
    bytes += '-';
  }
  return bytes;
}

}  // namespace graphmend

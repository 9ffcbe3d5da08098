// What a byte can be. In: nothing. Out: a table of character classes for the lexer's inner loops.
// Bytes from 0x80 up count as identifier characters; whether they are is decided on the decoded code points.
#pragma once

#include <array>
#include <cstdint>

namespace graphmend {

namespace char_class {
inline constexpr uint8_t kNameStart = 1;
inline constexpr uint8_t kNamePart = 2;
inline constexpr uint8_t kDigit = 4;
inline constexpr uint8_t kHexDigit = 8;
// Where scanning the inside of a string must look closer: quotes, backslash, line ends, NUL.
inline constexpr uint8_t kStringStop = 16;
// The same for the text of an f-string: also braces.
inline constexpr uint8_t kFStringStop = 32;
inline constexpr uint8_t kLineEnd = 64;  // LF, CR and NUL (which may be the end of the text)
inline constexpr uint8_t kBlank = 128;   // space, tab, form feed
}  // namespace char_class

inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  using namespace char_class;
  std::array<uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 128;
    bool digit = c >= '0' && c <= '9';
    uint8_t bits = 0;
    if (letter) bits |= kNameStart | kNamePart;
    if (digit) bits |= kNamePart | kDigit | kHexDigit;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= kHexDigit;
    if (c == '"' || c == '\'' || c == '\\' || c == '\n' || c == '\r' || c == 0) bits |= kStringStop | kFStringStop;
    if (c == '{' || c == '}') bits |= kFStringStop;
    if (c == '\n' || c == '\r' || c == 0) bits |= kLineEnd;
    if (c == ' ' || c == '\t' || c == '\f') bits |= kBlank;
    table[c] = bits;
  }
  return table;
}();

inline bool is_class(char c, uint8_t bits) { return (kCharClasses[static_cast<uint8_t>(c)] & bits) != 0; }

}  // namespace graphmend

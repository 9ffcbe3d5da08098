// Hard keywords. In: a name's text. Out: its TokenKind, `Name` if it is no keyword.
// The table is a perfect hash that the compiler searches for, so adding a keyword needs no more than its line in the
// list of kinds. Soft keywords (`match`, `case`, `type`, `lazy`, `_`) are names; the parser decides by place.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lex/token.h"

namespace graphmend {

namespace keyword_table {

struct Entry {
  std::string_view text;
  TokenKind kind = TokenKind::Name;
};

inline constexpr Entry kKeywords[] = {
#define KEYWORD(name, text) {text, TokenKind::name},
#include "lex/token_kinds.def"
};

inline constexpr uint32_t kSlots = 128;
inline constexpr uint32_t kLongest = 8;

constexpr uint32_t slot(std::string_view text, uint32_t seed) {
  auto byte = [](char c) { return static_cast<uint32_t>(static_cast<uint8_t>(c)); };
  uint32_t mixed =
      byte(text[0]) | byte(text[1]) << 8 | byte(text.back()) << 16 | static_cast<uint32_t>(text.size()) << 24;
  return mixed * seed >> 25;
}

inline constexpr uint32_t kSeed = [] {
  for (uint32_t seed = 0x9E3779B1;; seed += 2) {
    std::array<bool, kSlots> used{};
    bool collides = false;
    for (const Entry& keyword : kKeywords) {
      bool& taken = used[slot(keyword.text, seed)];
      collides |= taken;
      taken = true;
    }
    if (!collides) return seed;
  }
}();

inline constexpr std::array<Entry, kSlots> kTable = [] {
  std::array<Entry, kSlots> table{};
  for (const Entry& keyword : kKeywords) table[slot(keyword.text, kSeed)] = keyword;
  return table;
}();

}  // namespace keyword_table

inline TokenKind keyword_kind(std::string_view text) {
  using namespace keyword_table;
  if (text.size() < 2 || text.size() > kLongest) return TokenKind::Name;
  const Entry& entry = kTable[slot(text, kSeed)];
  return entry.text == text ? entry.kind : TokenKind::Name;
}

}  // namespace graphmend

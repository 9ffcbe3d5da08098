// Names of characters. In: what stands between the braces of `\N{...}`. Out: the character, as CPython 3.13 finds it.
// Named sequences are left out: CPython does not take them in literals.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "source/unicode.h"

namespace graphmend {
namespace {

#include "source/unicode_names.inc"

// A record is a hash (48 bits) and a code point (18 bits), both in digits of 6 bits that sort like the numbers.
// No two of the 35,000 names have the same hash (the generator would refuse), so every name is found. A text that is
// no name is taken for one with a probability of 35,000 / 2^48, about 1 in 8,000,000,000.
constexpr size_t kHashDigits = 8;
constexpr size_t kRecordSize = kHashDigits + 3;
static_assert(sizeof kNameRecords == kNameCount * kRecordSize + 1);
constexpr char kDigits[] = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
static_assert(sizeof kDigits == 64 + 1);

constexpr std::string_view kSyllablePrefix = "HANGUL SYLLABLE ";
constexpr std::string_view kIdeographPrefix = "CJK UNIFIED IDEOGRAPH-";

constexpr std::array<std::string_view, 19> kLeads = {"G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                                     "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
constexpr std::array<std::string_view, 21> kVowels = {"A",   "AE", "YA", "YAE", "EO", "E",  "YEO",
                                                      "YE",  "O",  "WA", "WAE", "OE", "YO", "U",
                                                      "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
constexpr std::array<std::string_view, 28> kTrails = {"",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
                                                      "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
                                                      "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H"};

constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// FNV-1a, stirred once so that the upper 48 bits depend on everything.
uint64_t name_hash(std::string_view name) {
  uint64_t value = 0xCBF29CE484222325;
  for (const char c : name) {
    value = (value ^ static_cast<uint8_t>(upper(c))) * 0x100000001B3;
  }
  value ^= value >> 32;
  value *= 0x9E3779B97F4A7C15;
  return value >> 16;
}

uint32_t digit_value(char digit) { return static_cast<uint32_t>(std::find(kDigits, kDigits + 64, digit) - kDigits); }

// Takes the longest of the parts that `rest` begins with off it; its place among the parts, or nothing.
template <size_t N>
std::optional<char32_t> take_longest(const std::array<std::string_view, N>& parts, std::string_view& rest) {
  std::optional<size_t> best;
  for (size_t i = 0; i < N; ++i) {
    if (rest.starts_with(parts[i]) && (!best || parts[i].size() > parts[*best].size())) best = i;
  }
  if (!best) return std::nullopt;
  rest.remove_prefix(parts[*best].size());
  return static_cast<char32_t>(*best);
}

std::optional<char32_t> find_syllable(std::string_view rest) {
  const auto lead = take_longest(kLeads, rest);
  const auto vowel = take_longest(kVowels, rest);
  const auto trail = take_longest(kTrails, rest);
  if (!lead || !vowel || !trail || !rest.empty()) return std::nullopt;
  return char32_t{0xAC00} + (*lead * 21 + *vowel) * 28 + *trail;
}

std::optional<char32_t> find_ideograph(std::string_view digits) {
  if (digits.size() != 4 && digits.size() != 5) return std::nullopt;
  char32_t code = 0;
  for (const char c : digits) {
    if (c >= '0' && c <= '9') {
      code = code * 16 + static_cast<char32_t>(c - '0');
    } else if (c >= 'A' && c <= 'F') {
      code = code * 16 + static_cast<char32_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  const auto* edge = std::upper_bound(std::begin(kUnifiedIdeographEdges), std::end(kUnifiedIdeographEdges), code);
  if ((edge - std::begin(kUnifiedIdeographEdges)) % 2 == 0) return std::nullopt;
  return code;
}

}  // namespace

std::optional<char32_t> find_character(std::string_view name) {
  // CPython compares these two prefixes, and what follows them, in upper case only; all other names in any case.
  if (name.starts_with(kSyllablePrefix)) return find_syllable(name.substr(kSyllablePrefix.size()));
  if (name.starts_with(kIdeographPrefix)) return find_ideograph(name.substr(kIdeographPrefix.size()));

  std::array<char, kHashDigits> key;
  uint64_t hash = name_hash(name);
  for (size_t i = kHashDigits; i-- > 0; hash >>= 6) key[i] = kDigits[hash & 63];
  const std::string_view wanted(key.data(), key.size());

  size_t low = 0;
  size_t high = kNameCount;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const char* const record = kNameRecords + middle * kRecordSize;
    const int order = std::string_view(record, kHashDigits).compare(wanted);
    if (order == 0) {
      uint32_t code = 0;
      for (size_t i = kHashDigits; i < kRecordSize; ++i) code = code << 6 | digit_value(record[i]);
      // Plane 14 is stored as plane 3, which has no names of this kind.
      return code >= 0x30000 ? 0xE0000 | (code & 0xFFFF) : code;
    }
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return std::nullopt;
}

}  // namespace graphmend

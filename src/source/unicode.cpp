// What Unicode says about characters. In: code points, UTF-8. Out: identifiers, printability, NFKC.
// Names are in unicode_names.cpp.
#include "source/unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace graphmend {
namespace {

struct CombiningClassRange {
  uint32_t first;
  uint32_t last;
  uint8_t combining_class;
};

struct Composition {
  uint32_t first;
  uint32_t second;
  uint32_t composed;
};

#include "source/unicode_tables.inc"

// A property is the sorted list of the code points where it begins or ceases to hold.
template <size_t N>
bool holds(const uint32_t (&edges)[N], char32_t code) {
  return (std::upper_bound(std::begin(edges), std::end(edges), code) - std::begin(edges)) % 2 == 1;
}

// Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
constexpr char32_t kLeadBase = 0x1100;
constexpr char32_t kVowelBase = 0x1161;
constexpr char32_t kTrailBase = 0x11A7;
constexpr char32_t kSyllableBase = 0xAC00;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTrailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

struct Character {
  char32_t code;
  uint8_t combining_class;
  // The place it had before marks were put in order: keeps the sort stable.
  uint32_t place = 0;
};

uint8_t combining_class(char32_t code) {
  const auto* range = std::upper_bound(std::begin(kCombiningClasses), std::end(kCombiningClasses), code,
                                       [](char32_t c, const CombiningClassRange& r) { return c < r.first; });
  if (range == std::begin(kCombiningClasses)) return 0;
  --range;
  return code <= range->last ? range->combining_class : uint8_t{0};
}

void push_decomposed(std::vector<Character>& out, char32_t code) {
  if (code < 0x80) {
    out.push_back({code, 0});
    return;
  }
  if (code >= kSyllableBase && code < kSyllableBase + kSyllableCount) {
    const char32_t index = code - kSyllableBase;
    out.push_back({kLeadBase + index / (kVowelCount * kTrailCount), 0});
    out.push_back({kVowelBase + index / kTrailCount % kVowelCount, 0});
    if (index % kTrailCount != 0) out.push_back({kTrailBase + index % kTrailCount, 0});
    return;
  }
  const auto* found = std::lower_bound(std::begin(kDecomposedCodes), std::end(kDecomposedCodes), code);
  if (found == std::end(kDecomposedCodes) || *found != code) {
    out.push_back({code, combining_class(code)});
    return;
  }
  // The table holds full decompositions: nothing in them decomposes further.
  const auto entry = found - std::begin(kDecomposedCodes);
  for (uint16_t i = kDecompositionStarts[entry]; i < kDecompositionStarts[entry + 1]; ++i) {
    out.push_back({kDecompositions[i], combining_class(kDecompositions[i])});
  }
}

// Marks that follow one base stand in the order of their classes; equal classes keep their order.
void order_marks(std::vector<Character>& text) {
  auto at = text.begin();
  while (at != text.end()) {
    at = std::find_if(at, text.end(), [](const Character& c) { return c.combining_class != 0; });
    const auto end = std::find_if(at, text.end(), [](const Character& c) { return c.combining_class == 0; });
    uint32_t place = 0;
    std::for_each(at, end, [&](Character& c) { c.place = place++; });
    std::sort(at, end, [](const Character& a, const Character& b) {
      return a.combining_class != b.combining_class ? a.combining_class < b.combining_class : a.place < b.place;
    });
    at = end;
  }
}

// 0 when the pair does not compose.
char32_t composed(char32_t first, char32_t second) {
  if (first >= kLeadBase && first < kLeadBase + kLeadCount) {
    if (second < kVowelBase || second >= kVowelBase + kVowelCount) return 0;
    return kSyllableBase + ((first - kLeadBase) * kVowelCount + (second - kVowelBase)) * kTrailCount;
  }
  if (first >= kSyllableBase && first < kSyllableBase + kSyllableCount) {
    const bool has_trail = (first - kSyllableBase) % kTrailCount != 0;
    if (has_trail || second <= kTrailBase || second >= kTrailBase + kTrailCount) return 0;
    return first + (second - kTrailBase);
  }
  const auto* found = std::lower_bound(
      std::begin(kCompositions), std::end(kCompositions), first,
      [&](const Composition& c, char32_t code) { return c.first != code ? c.first < code : c.second < second; });
  if (found == std::end(kCompositions) || found->first != first || found->second != second) return 0;
  return found->composed;
}

// Each character joins the last base before it, unless one in between has its class or a higher one.
void compose(std::vector<Character>& text) {
  size_t base = text.size();
  size_t size = 0;
  for (const Character& next : text) {
    const bool has_base = base < size;
    const bool adjacent = has_base && base + 1 == size;
    const bool blocked = !adjacent && has_base && text[size - 1].combining_class >= next.combining_class;
    if (has_base && !blocked) {
      if (const char32_t code = composed(text[base].code, next.code)) {
        text[base].code = code;
        continue;
      }
    }
    if (next.combining_class == 0) base = size;
    text[size++] = next;
  }
  text.resize(size);
}

}  // namespace

bool internal::is_xid_start_beyond_ascii(char32_t code) { return holds(kXidStartEdges, code); }
bool internal::is_xid_continue_beyond_ascii(char32_t code) { return holds(kXidContinueEdges, code); }
bool internal::is_printable_beyond_ascii(char32_t code) { return holds(kPrintableEdges, code); }

std::string nfkc(std::string_view text) {
  if (find_not_ascii(text) == text.size()) return std::string(text);
  std::vector<Character> characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text, at);
    if (next.length == 0) return std::string(text);
    push_decomposed(characters, next.code);
    at += next.length;
  }
  order_marks(characters);
  compose(characters);
  std::string result;
  result.reserve(text.size());
  for (const Character& c : characters) append_utf8(result, c.code);
  return result;
}

}  // namespace graphmend

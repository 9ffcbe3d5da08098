// Characters as a terminal shows them. In: UTF-8, valid or not. Out: code points, widths, safe text.
// Widths are coarse on purpose: blocks, not single code points, which is what carets need.
#include "diag/characters.h"

#include <algorithm>
#include <iterator>

#include "source/unicode.h"
#include "source/utf8.h"

namespace graphmend {
namespace {

constexpr unsigned kTabWidth = 4;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Block {
  char32_t first;
  char32_t last;
};

// Blocks of characters that take two columns (East Asian wide and full width, emoji).
constexpr Block kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
    {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

// Blocks of characters that take none: combining marks, joiners, variation selectors.
constexpr Block kNarrowToNothing[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},   {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xE0100, 0xE01EF},
};

template <size_t N>
bool lies_in(const Block (&blocks)[N], char32_t code) {
  const Block* block = std::lower_bound(std::begin(blocks), std::end(blocks), code,
                                        [](const Block& b, char32_t c) { return b.last < c; });
  return block != std::end(blocks) && block->first <= code;
}

constexpr bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

Character character_at(std::string_view text, size_t offset) {
  const Utf8Char character = decode_utf8(text, offset);
  if (character.length == 0) return {static_cast<uint8_t>(text[offset]), 1, false};
  return {character.code, static_cast<uint8_t>(character.length), true};
}

size_t character_before(std::string_view text, size_t offset) {
  for (size_t size = 1; size <= 4 && size <= offset; ++size) {
    if (is_continuation(text[offset - size])) continue;
    return character_at(text, offset - size).size == size ? offset - size : offset - 1;
  }
  return offset - 1;
}

uint32_t count_characters(std::string_view text) {
  uint32_t count = 0;
  for (size_t offset = 0; offset < text.size();) {
    if (static_cast<uint8_t>(text[offset]) < 0x80) {
      ++offset;
    } else {
      offset += character_at(text, offset).size;
    }
    ++count;
  }
  return count;
}

unsigned visible_width(const Character& character) {
  if (character.code == '\t') return kTabWidth;
  if (!character.valid || character.code < 0x300 || !is_printable(character.code)) return 1;
  if (lies_in(kNarrowToNothing, character.code)) return 0;
  return lies_in(kWide, character.code) ? 2 : 1;
}

void append_visible(std::string& out, std::string_view text, size_t offset, const Character& character) {
  if (character.code == '\t') {
    out.append(kTabWidth, ' ');
  } else if (!character.valid) {
    out += kReplacement;
  } else if (character.code < 0x20 || character.code == 0x7F) {
    // U+2400 … U+2421 are the pictures of the ASCII controls.
    out += "\xE2\x90";
    out += static_cast<char>(character.code == 0x7F ? 0xA1 : 0x80 + character.code);
  } else if (!is_printable(character.code)) {
    // Marks that reorder text, blanks that are none: they would show something else than what stands in the file.
    out += kReplacement;
  } else {
    out.append(text.substr(offset, character.size));
  }
}

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    append_visible(out, text, offset, character);
    offset += character.size;
  }
  return out;
}

}  // namespace graphmend

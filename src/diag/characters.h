// Characters as a terminal shows them. In: UTF-8, valid or not. Out: one `Character` at a time, with its width.
// Nothing here depends on the locale, so the same file gives the same report everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace graphmend {

struct Character {
  char32_t code = 0;
  // Bytes it takes in the text; an undecodable byte is a character of its own.
  uint8_t size = 1;
  bool valid = true;
};

// The character that starts at `offset`, which must lie inside the text.
Character character_at(std::string_view text, size_t offset);

// Where the character that ends before `offset` starts; `offset` must not be 0.
size_t character_before(std::string_view text, size_t offset);

// Code points in the text, an undecodable byte counting as one.
uint32_t count_characters(std::string_view text);

// Columns that `append_visible` takes for this character.
unsigned visible_width(const Character& character);

// Appends the character so that it is safe to show: a tab as four blanks, controls as their pictures (a source file
// must not be able to steer the terminal), undecodable bytes and what else is not printable as U+FFFD.
void append_visible(std::string& out, std::string_view text, size_t offset, const Character& character);

// The whole text, made safe to show.
std::string visible(std::string_view text);

}  // namespace graphmend

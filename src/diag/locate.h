// Places as people read them. In: a text and spans. Out: lines and columns that count from 1.
// Columns count characters (code points), as CPython's SyntaxError and editors do; a tab is one character.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/span.h"
#include "source/line_index.h"

namespace graphmend {

struct Place {
  uint32_t line = 1;
  uint32_t column = 1;
};

struct PlaceRange {
  Place start;
  // Just after the last character of the range.
  Place end;
};

// Remembers where it counted last: going through spans in order costs one walk over a line, however long it is.
class Locator {
 public:
  explicit Locator(std::string_view text) : text_(text), lines_(text) {}

  PlaceRange locate(Span span);
  std::string_view text() const { return text_; }
  // The line without its line ending; lines count from 1.
  std::string_view line(uint32_t number) const;
  uint32_t line_start(uint32_t number) const { return lines_.line_start(number); }

 private:
  struct Mark {
    uint32_t line = 0;
    uint32_t offset = 0;
    uint32_t column = 1;
  };

  Mark count_to(uint32_t offset, const Mark& known) const;

  std::string_view text_;
  LineIndex lines_;
  Mark last_start_;
};

}  // namespace graphmend

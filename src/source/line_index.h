// Lines and columns. In: a text. Out: `LineIndex`, which turns offsets into lines and columns and back.
// A line ends at LF, CR LF or CR, as CPython's tokenizer counts; columns are bytes of UTF-8 from 0, lines count from 1.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace graphmend {

struct Position {
  uint32_t line = 1;
  uint32_t column = 0;
};

class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  Position position(uint32_t offset) const;
  uint32_t line_count() const { return static_cast<uint32_t>(starts_.size()); }
  uint32_t line_start(uint32_t line) const { return starts_[line - 1]; }

 private:
  std::vector<uint32_t> starts_;
};

}  // namespace graphmend

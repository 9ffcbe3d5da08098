// Lines and columns. In: a text. Out: where its lines start, and the line and column of any offset.
#include "source/line_index.h"

#include <algorithm>
#include <cstring>

namespace graphmend {
namespace {

// The next `byte` at or after `from`, or the end of the text. memchr is the fastest scan every platform has.
size_t find_byte(std::string_view text, char byte, size_t from) {
  if (from >= text.size()) return text.size();
  const void* found = std::memchr(text.data() + from, byte, text.size() - from);
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : text.size();
}

}  // namespace

LineIndex::LineIndex(std::string_view text) {
  // Lines of Python are about 36 bytes long; too small a guess only costs a copy.
  starts_.reserve(text.size() / 32 + 1);
  starts_.push_back(0);
  size_t line_feed = find_byte(text, '\n', 0);
  size_t carriage_return = find_byte(text, '\r', 0);
  // Each search goes on where its last one ended, so both bytes are looked for once in the whole text.
  while (true) {
    const size_t end = std::min(line_feed, carriage_return);
    if (end == text.size()) break;
    if (carriage_return < line_feed) {
      const bool is_pair = carriage_return + 1 == line_feed;
      carriage_return = find_byte(text, '\r', carriage_return + 1);
      // The line ends after the line feed, which is next.
      if (is_pair && line_feed < text.size()) continue;
    } else {
      line_feed = find_byte(text, '\n', line_feed + 1);
    }
    starts_.push_back(static_cast<uint32_t>(end + 1));
  }
}

Position LineIndex::position(uint32_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<uint32_t>(after - starts_.begin());
  return {line, offset - starts_[line - 1]};
}

}  // namespace graphmend

// Places as people read them. In: a text and spans. Out: lines and columns that count from 1.
// Spans beyond the text are moved to its end: a report about a place must never fail.
#include "diag/locate.h"

#include <algorithm>

#include "diag/characters.h"

namespace graphmend {

Locator::Mark Locator::count_to(uint32_t offset, const Mark& known) const {
  const uint32_t line = lines_.position(offset).line;
  Mark mark{line, lines_.line_start(line), 1};
  if (known.line == line && known.offset <= offset) mark = known;
  mark.column += count_characters(text_.substr(mark.offset, offset - mark.offset));
  mark.offset = offset;
  return mark;
}

PlaceRange Locator::locate(Span span) {
  const uint32_t start = std::min(span.start, static_cast<uint32_t>(text_.size()));
  const uint32_t end = std::clamp(span.end, start, static_cast<uint32_t>(text_.size()));
  last_start_ = count_to(start, last_start_);
  const Mark last = count_to(end, last_start_);
  return {{last_start_.line, last_start_.column}, {last.line, last.column}};
}

std::string_view Locator::line(uint32_t number) const {
  const size_t start = lines_.line_start(number);
  const size_t end = number < lines_.line_count() ? lines_.line_start(number + 1) : text_.size();
  std::string_view line = text_.substr(start, end - start);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

}  // namespace graphmend

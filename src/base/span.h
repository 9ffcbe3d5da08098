// A range of bytes in one text. In: nothing. Out: `Span`.
// Lines and columns are computed from it when somebody asks (source/line_index.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace graphmend {

struct Span {
  uint32_t start = 0;
  uint32_t end = 0;

  constexpr uint32_t size() const { return end - start; }
  constexpr bool operator==(const Span&) const = default;
  constexpr std::string_view in(std::string_view text) const { return text.substr(start, end - start); }
};

}  // namespace graphmend

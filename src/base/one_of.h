// Whether a word is in a list of words that is known when the program is compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace graphmend {

template <size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace graphmend

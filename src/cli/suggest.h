// Did you mean …? In: a word and the words that exist. Out: the nearest of them, if one is near.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace graphmend {

// Insertions, removals, replacements and swaps of neighbours that turn `a` into `b`.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> older(b.size() + 1);
  std::vector<size_t> old(b.size() + 1);
  std::vector<size_t> now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], older[j - 2] + 1);
    }
    older.swap(old);
    old.swap(now);
  }
  return old[b.size()];
}

// Empty when nothing is near: a wrong suggestion is worse than none.
inline std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  // A typing error or two; longer words may have one for every three letters.
  size_t limit = std::max<size_t>(2, word.size() / 3) + 1;
  if (word.size() > 64) return best;
  for (const std::string_view candidate : words) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < limit && distance < std::max(word.size(), candidate.size())) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace graphmend

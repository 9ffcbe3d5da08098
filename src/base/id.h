// Typed 32-bit indices. In: nothing. Out: `Id<Tag>`, an index that cannot be mixed up with another kind's.
// What an id points into is said where its alias is made (`NodeId` in parse/tree.h, `TokenId` in lex/token.h).
#pragma once

#include <compare>
#include <cstdint>

namespace graphmend {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr explicit operator bool() const { return index != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
  // Ids are dense and ordered, so neighbours are meaningful.
  constexpr Id operator+(uint32_t n) const { return Id(index + n); }
  constexpr Id operator-(uint32_t n) const { return Id(index - n); }
  constexpr Id& operator++() {
    ++index;
    return *this;
  }
};

}  // namespace graphmend

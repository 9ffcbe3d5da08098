// Python language versions. In: nothing. Out: `Version`, compared by its minor number (the major is 3).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmend {

struct Version {
  uint8_t minor = 0;

  constexpr auto operator<=>(const Version&) const = default;
  std::string text() const { return "3." + std::to_string(minor); }
};

inline constexpr Version kOldestVersion{8};
inline constexpr Version kNewestVersion{15};
// The default target: newer than any, so nothing is too new; and nothing that only later versions reject is rejected.
inline constexpr Version kAnyVersion{255};

// Whether `target` is a version from `since` on, and so rejects what older ones accept.
constexpr bool rejects_since(Version target, Version since) { return target != kAnyVersion && target >= since; }

// "3.8" … "3.15"; nothing for any other text.
inline std::optional<Version> parse_version(std::string_view text) {
  for (uint8_t minor = kOldestVersion.minor; minor <= kNewestVersion.minor; ++minor) {
    if (text == Version{minor}.text()) return Version{minor};
  }
  return std::nullopt;
}

}  // namespace graphmend

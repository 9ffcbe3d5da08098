// Lines and columns, against the definition read byte by byte.
#include "source/line_index.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace graphmend {
namespace {

std::vector<uint32_t> starts_of(const std::string& text) {
  const LineIndex index(text);
  std::vector<uint32_t> starts;
  for (uint32_t line = 1; line <= index.line_count(); ++line) starts.push_back(index.line_start(line));
  return starts;
}

using Starts = std::vector<uint32_t>;

TEST(LineIndex, AllKindsOfLineEnds) {
  EXPECT_EQ(starts_of(""), Starts({0}));
  EXPECT_EQ(starts_of("a"), Starts({0}));
  EXPECT_EQ(starts_of("a\nb"), Starts({0, 2}));
  EXPECT_EQ(starts_of("a\n"), Starts({0, 2}));
  EXPECT_EQ(starts_of("a\r\nb\rc\nd"), Starts({0, 3, 5, 7}));
  EXPECT_EQ(starts_of("\r"), Starts({0, 1}));
  EXPECT_EQ(starts_of("\r\n"), Starts({0, 2}));
  EXPECT_EQ(starts_of("\n\r"), Starts({0, 1, 2}));
  EXPECT_EQ(starts_of("\r\r\n\n"), Starts({0, 1, 3, 4}));
  // Form feeds and the line ends of Unicode end no line.
  EXPECT_EQ(starts_of("a\fb\vc\u2028d\u0085"), Starts({0}));
}

TEST(LineIndex, Positions) {
  const LineIndex index("ab\r\nc\n\nd");
  const auto at = [&](uint32_t offset) {
    const Position position = index.position(offset);
    return std::pair(position.line, position.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 0u));
  EXPECT_EQ(at(2), std::pair(1u, 2u));
  // Between CR and LF is still the first line.
  EXPECT_EQ(at(3), std::pair(1u, 3u));
  EXPECT_EQ(at(4), std::pair(2u, 0u));
  EXPECT_EQ(at(6), std::pair(3u, 0u));
  EXPECT_EQ(at(7), std::pair(4u, 0u));
  EXPECT_EQ(at(8), std::pair(4u, 1u));
}

TEST(LineIndex, SameAsByteByByte) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const uint32_t size = random() % 24;
    for (uint32_t i = 0; i < size; ++i) text += "ab\n\r"[random() % 4];
    Starts expected = {0};
    for (uint32_t i = 0; i < size; ++i) {
      const bool is_first_of_pair = text[i] == '\r' && i + 1 < size && text[i + 1] == '\n';
      if (text[i] == '\n' || (text[i] == '\r' && !is_first_of_pair)) expected.push_back(i + 1);
    }
    ASSERT_EQ(starts_of(text), expected) << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace graphmend

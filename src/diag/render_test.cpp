// Tests of rendering: places, carets, cuts, and text that would harm a terminal.
#include "diag/render.h"

#include <gtest/gtest.h>

#include <string>

#include "diag/characters.h"

namespace graphmend {
namespace {

std::string render(std::string_view text, Span span, RenderStyle style = {}) {
  std::string out;
  Locator locator(text);
  render_diagnostic(out, {span, "wrong"}, "a.py", locator, style);
  return out;
}

TEST(Render, underlines_the_range) {
  EXPECT_EQ(render("x = foo\n", {4, 7}),
            "a.py:1:5: error: wrong\n"
            "    1 | x = foo\n"
            "      |     ^^^\n");
}

TEST(Render, one_line_without_a_snippet) {
  EXPECT_EQ(render("x\n", {0, 1}, {false, false}), "a.py:1:1: error: wrong\n");
}

TEST(Render, an_empty_range_has_one_caret) {
  EXPECT_EQ(render("ab\ncd", {3, 3}), "a.py:2:1: error: wrong\n    2 | cd\n      | ^\n");
  EXPECT_EQ(render("ab\ncd", {5, 5}), "a.py:2:3: error: wrong\n    2 | cd\n      |   ^\n");
  EXPECT_EQ(render("", {0, 0}), "a.py:1:1: error: wrong\n    1 |\n      | ^\n");
  EXPECT_EQ(render("ab\n", {3, 3}), "a.py:2:1: error: wrong\n    2 |\n      | ^\n");
}

TEST(Render, a_range_over_several_lines_ends_with_its_first) {
  EXPECT_EQ(render("a(\nb\n", {1, 4}), "a.py:1:2: error: wrong\n    1 | a(\n      |  ^\n");
}

TEST(Render, a_range_beyond_the_text_is_moved_to_its_end) {
  EXPECT_EQ(render("ab", {90, 95}), "a.py:1:3: error: wrong\n    1 | ab\n      |   ^\n");
}

TEST(Render, undecodable_bytes_and_controls_are_shown_as_signs) {
  EXPECT_EQ(render("\xFF\x1b\x7F)", {3, 4}),
            "a.py:1:4: error: wrong\n    1 | \xEF\xBF\xBD\xE2\x90\x9B\xE2\x90\xA1)\n      |    ^\n");
}

TEST(Render, every_range_of_odd_text_is_survived) {
  const std::string text = std::string("\0\xE6\x97\xA5\t\xF0\x9F\xE6\r\n\xCC\x81x\xE6\x97", 15) + std::string(500, 'x');
  for (uint32_t start = 0; start <= text.size() + 2; ++start) {
    for (uint32_t end = start; end <= start + 4; ++end) EXPECT_FALSE(render(text, {start, end}).empty());
  }
}

TEST(Locator, counts_characters_and_goes_back) {
  Locator locator("é日x\nab\n");
  EXPECT_EQ(locator.locate({5, 6}).start.column, 3u);
  EXPECT_EQ(locator.locate({2, 5}).start.column, 2u);
  const PlaceRange range = locator.locate({8, 9});
  EXPECT_EQ(range.start.line, 2u);
  EXPECT_EQ(range.start.column, 2u);
  EXPECT_EQ(range.end.column, 3u);
}

TEST(Characters, steps_back_over_what_it_steps_over) {
  const std::string text = "a\xE6\x97\xA5\xFF\xE6\x97\x80\x80\xF0\x9F\x98\x80z";
  std::vector<size_t> forward;
  for (size_t offset = 0; offset < text.size(); offset += character_at(text, offset).size) forward.push_back(offset);
  EXPECT_EQ(count_characters(text), forward.size());
  size_t offset = text.size();
  while (offset > 0) {
    offset = character_before(text, offset);
    ASSERT_EQ(offset, forward.back());
    forward.pop_back();
  }
}

}  // namespace
}  // namespace graphmend

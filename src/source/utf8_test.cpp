// UTF-8: what is accepted, where the first error is, and the way back.
#include "source/utf8.h"

#include <gtest/gtest.h>

namespace graphmend {
namespace {

using namespace std::string_literals;

constexpr size_t kNone = std::string_view::npos;

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    std::string text;
    append_utf8(text, code);
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    const Utf8Char strict = decode_utf8(text, 0);
    ASSERT_EQ(strict.length, is_surrogate ? 0 : text.size()) << static_cast<uint32_t>(code);
    ASSERT_EQ(strict.code, is_surrogate ? 0 : code);
    const Utf8Char tolerant = decode_utf8_or_surrogate(text, 0);
    ASSERT_EQ(tolerant.length, text.size()) << static_cast<uint32_t>(code);
    ASSERT_EQ(tolerant.code, code);
    ASSERT_EQ(find_invalid_utf8(text), is_surrogate ? 0 : kNone) << static_cast<uint32_t>(code);
  }
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  const std::string bad[] = {
      "\x80",
      "\xBF",
      "\xC0\x80",
      "\xC1\xBF",
      "\xC2",
      "\xC2\x41",
      "\xE0\x9F\xBF",
      "\xE1\x80",
      "\xED\xA0\x80",
      "\xED\xBF\xBF",
      "\xF0\x8F\xBF\xBF",
      "\xF0\x90",
      "\xF4\x90\x80\x80",
      "\xF5\x80\x80\x80",
      "\xFF",
      "\xE2\x82\x41",
      "\xF0\x9F\x98\x41",
  };
  for (const std::string& bytes : bad) {
    EXPECT_EQ(decode_utf8(bytes, 0).length, 0u) << testing::PrintToString(bytes);
    // At every place relative to the blocks that the fast path reads.
    for (size_t before = 0; before < 70; ++before) {
      EXPECT_EQ(find_invalid_utf8(std::string(before, 'x') + bytes + std::string(40, 'y')), before);
    }
  }
}

TEST(Utf8, EndOfText) {
  EXPECT_EQ(decode_utf8("", 0).length, 0u);
  EXPECT_EQ(decode_utf8("a", 1).length, 0u);
  EXPECT_EQ(decode_utf8("a", 7).length, 0u);
  EXPECT_EQ(find_invalid_utf8(""), kNone);
  EXPECT_EQ(find_invalid_utf8("\0"s), kNone);
}

TEST(Utf8, AboveUnicodeIsTheReplacementCharacter) {
  std::string text;
  append_utf8(text, 0x110000);
  EXPECT_EQ(text, "\xEF\xBF\xBD");
}

TEST(Utf8, FindsTheFirstByteThatIsNotAscii) {
  for (size_t size = 0; size < 80; ++size) {
    std::string text(size, 'a');
    EXPECT_EQ(find_not_ascii(text), size);
    for (size_t at = 0; at < size; ++at) {
      text[at] = '\x80';
      EXPECT_EQ(find_not_ascii(text), at);
      EXPECT_EQ(find_not_ascii(text, at), at);
      EXPECT_EQ(find_not_ascii(text, at + 1), size);
      text[at] = 'a';
    }
  }
}

}  // namespace
}  // namespace graphmend

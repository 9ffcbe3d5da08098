// Tests of string literals' values. Expected values are what CPython 3.13 gives for the same literal.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lex/literal.h"

namespace graphmend {
namespace {

using namespace std::string_literals;
using namespace string_flag;

// Also holds the quick check to what the decoder says.
StringValue decode(std::string_view body, uint8_t flags = 0) {
  if (body.find('\\') != std::string_view::npos) flags |= kHasBackslash;
  StringValue result = decode_string(body, flags);
  const std::optional<Diagnostic> checked = check_string(body, flags);
  EXPECT_EQ(checked.has_value(), result.error.has_value()) << body;
  if (checked && result.error) {
    EXPECT_EQ(checked->span, result.error->span) << body;
    EXPECT_EQ(checked->message, result.error->message);
  }
  return result;
}

std::string value(std::string_view body, uint8_t flags = 0) {
  const StringValue result = decode(body, flags);
  EXPECT_FALSE(result.error.has_value()) << body << ": " << result.error.value_or(Diagnostic{}).message;
  return result.value;
}

Diagnostic error(std::string_view body, uint8_t flags = 0) {
  const StringValue result = decode(body, flags);
  EXPECT_TRUE(result.error.has_value()) << body;
  return result.error.value_or(Diagnostic{});
}

TEST(StringLiteral, TextStandsForItself) {
  EXPECT_EQ(value(""), "");
  EXPECT_EQ(value("plain é 😀 {{ }}"), "plain é 😀 {{ }}");
}

TEST(StringLiteral, SimpleEscapes) { EXPECT_EQ(value(R"(\\\'\"\a\b\f\n\r\t\v)"), "\\'\"\a\b\f\n\r\t\v"); }

TEST(StringLiteral, UnknownEscapesKeepTheBackslash) {
  EXPECT_EQ(value(R"(\d\8\é\ )"), R"(\d\8\é\ )");
  EXPECT_EQ(value("\\{x"), "\\{x");
}

TEST(StringLiteral, LineEndings) {
  EXPECT_EQ(value("a\r\nb\rc\nd\r\r\n"), "a\nb\nc\nd\n\n");
  EXPECT_EQ(value("a\\\r\nb\\\rc\\\nd"), "abcd");
  EXPECT_EQ(value("\\\r\n\\\r", kRaw), "\\\n\\\n");
  EXPECT_EQ(value("a\r\n", kBytes | kRaw), "a\n");
}

TEST(StringLiteral, OctalEscapes) {
  EXPECT_EQ(value(R"(\0\1018\18)"), "\0A8\1"s + "8");
  EXPECT_EQ(value(R"(\400\777)"), "Āǿ");
  EXPECT_EQ(value(R"(\400\777)", kBytes), "\x00\xff"s);
}

TEST(StringLiteral, HexEscapes) {
  EXPECT_EQ(value(R"(\x41\xe9\u00E9\U0001F600)"), "Aéé😀");
  EXPECT_EQ(value(R"(\x41\xe9)", kBytes), "A\xe9");
  EXPECT_EQ(value(R"(\u0041\U00000041\N{SPACE})", kBytes), R"(\u0041\U00000041\N{SPACE})");
}

TEST(StringLiteral, SurrogatesStayApart) {
  EXPECT_EQ(value(R"(\ud83d\ude00)"), "\xED\xA0\xBD\xED\xB8\x80");
  EXPECT_EQ(value(R"(\U0000dfff)"), "\xED\xBF\xBF");
}

TEST(StringLiteral, NamedEscapes) {
  EXPECT_EQ(value(R"(\N{BULLET}\N{latin small letter a}\N{NULL}.)"), "•a\0."s);
  EXPECT_EQ(value(R"(\N{x)", kRaw), R"(\N{x)");
}

TEST(StringLiteral, RawStringsHaveNoEscapes) { EXPECT_EQ(value(R"(\n\x\'\\)", kRaw), R"(\n\x\'\\)"); }

TEST(StringLiteral, DoubledBraces) {
  EXPECT_EQ(value("{{a}}", kHasDoubledBrace), "{a}");
  EXPECT_EQ(value("}}{{{{", kHasDoubledBrace), "}{{");
  EXPECT_EQ(value(R"(\N{BULLET}{{)", kHasDoubledBrace), "•{");
  EXPECT_EQ(value(R"(\N{BULLET}}}a)", kHasDoubledBrace), "•}a");
  EXPECT_EQ(value(R"(\{{x\}})", kHasDoubledBrace), R"(\{x\})");
  EXPECT_EQ(value(R"(\\{{)", kHasDoubledBrace), R"(\{)");
  EXPECT_EQ(value(R"(\N{{x}}\{{)", kHasDoubledBrace | kRaw), R"(\N{x}\{)");
}

TEST(StringLiteral, ShortEscapes) {
  EXPECT_EQ(error(R"(ab\x4g)").span, (Span{2, 5}));
  EXPECT_EQ(error(R"(ab\x4g)").message, R"(escape `\x4` is too short; `\x` takes 2 hexadecimal digits)");
  EXPECT_EQ(error(R"(\x)", kBytes).span, (Span{0, 2}));
  EXPECT_EQ(error(R"(\\\u123)").span, (Span{2, 7}));
  EXPECT_EQ(error(R"(\U0001f60)").span, (Span{0, 9}));
  EXPECT_EQ(error(R"(\x4{{)", kHasDoubledBrace).span, (Span{0, 3}));
}

TEST(StringLiteral, BeyondUnicode) {
  EXPECT_EQ(value(R"(\U0010ffff)"), "\U0010FFFF");
  EXPECT_EQ(error(R"(\U00110000)").span, (Span{0, 10}));
  EXPECT_EQ(error(R"(\Uffffffff)").message, R"(escape `\Uffffffff` is beyond the last character, `\U0010ffff`)");
}

TEST(StringLiteral, WrongNames) {
  EXPECT_EQ(error(R"(a\N)").span, (Span{1, 3}));
  EXPECT_EQ(error(R"(\N{})").span, (Span{0, 3}));
  EXPECT_EQ(error(R"(\N{SPACE)").span, (Span{0, 8}));
  EXPECT_EQ(error(R"(\N{NO SUCH}.)").message, R"(escape `\N{NO SUCH}` names no Unicode character)");
  EXPECT_EQ(error("\\N{" + std::string(5000, 'A') + "}").message, "escape `\\N{…}` names no Unicode character");
}

TEST(StringLiteral, BytesAreAscii) {
  EXPECT_EQ(error("ab é", kBytes).span, (Span{3, 5}));
  EXPECT_EQ(error("é", kBytes | kRaw).message,
            "bytes literal with `é`, which is not ASCII; write its bytes as `\\x` escapes");
}

TEST(StringLiteral, FirstErrorAndTheRestOfTheValue) {
  const StringValue result = decode(R"(a\x!\t\u12)");
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.error->span, (Span{1, 3}));
  EXPECT_EQ(result.value, "a\\x!\t\\u12");
}

TEST(StringLiteral, AnyBytesAreTaken) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(decode(all, kRaw | kHasDoubledBrace).value.size(), all.size());
  EXPECT_EQ(value("\\"), "\\");
  EXPECT_EQ(value("{", kHasDoubledBrace), "{");
}

}  // namespace
}  // namespace graphmend

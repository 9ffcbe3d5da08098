// Tests of `repr`. Expected texts are what CPython 3.13 prints for the same value.
#include "lex/python_repr.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace graphmend {
namespace {

using namespace std::string_literals;

TEST(PythonRepr, QuotesOfStrings) {
  EXPECT_EQ(str_repr(""), "''");
  EXPECT_EQ(str_repr("a"), "'a'");
  EXPECT_EQ(str_repr("it's"), "\"it's\"");
  EXPECT_EQ(str_repr("\"a\""), "'\"a\"'");
  EXPECT_EQ(str_repr("it's \"a\""), "'it\\'s \"a\"'");
}

TEST(PythonRepr, ControlCharacters) {
  EXPECT_EQ(str_repr("\t\n\r\\"), R"('\t\n\r\\')");
  EXPECT_EQ(str_repr("\0\a\b\v\f\x1f\x7f"s), R"('\x00\x07\x08\x0b\x0c\x1f\x7f')");
}

TEST(PythonRepr, PrintableCharactersStay) { EXPECT_EQ(str_repr("é•e\u0301😀中"), "'é•e\u0301😀中'"); }

TEST(PythonRepr, OthersAreEscaped) {
  EXPECT_EQ(str_repr("\u00a0\u00ad\u0085"), R"('\xa0\xad\x85')");
  EXPECT_EQ(str_repr("\u200d\u2028\u3000\ufeff\uffff"), R"('\u200d\u2028\u3000\ufeff\uffff')");
  EXPECT_EQ(str_repr("\U000e0001\U0010ffff"), R"('\U000e0001\U0010ffff')");
}

TEST(PythonRepr, Surrogates) {
  EXPECT_EQ(str_repr("\xED\xA0\xBD\xED\xB8\x80"), R"('\ud83d\ude00')");
  EXPECT_EQ(str_repr("\xED\xBF\xBF"), R"('\udfff')");
}

TEST(PythonRepr, BytesThatAreNotUtf8) {
  EXPECT_EQ(str_repr("\xC3"), R"('\xc3')");
  EXPECT_EQ(str_repr("\x80\xFF"), R"('\x80\xff')");
  // Overlong, beyond the last code point, cut short.
  EXPECT_EQ(str_repr("\xC0\xAF"), R"('\xc0\xaf')");
  EXPECT_EQ(str_repr("\xE0\x80\xAF"), R"('\xe0\x80\xaf')");
  EXPECT_EQ(str_repr("\xF4\x90\x80\x80"), R"('\xf4\x90\x80\x80')");
  EXPECT_EQ(str_repr("\xF0\x9F\x98."), R"('\xf0\x9f\x98.')");
}

TEST(PythonRepr, Bytes) {
  EXPECT_EQ(bytes_repr(""), "b''");
  EXPECT_EQ(bytes_repr("it's"), "b\"it's\"");
  EXPECT_EQ(bytes_repr("'\""), R"(b'\'"')");
  EXPECT_EQ(bytes_repr("\0\t\n\r\\\x7f\x80\xff~"s), R"(b'\x00\t\n\r\\\x7f\x80\xff~')");
  EXPECT_EQ(bytes_repr("é"), R"(b'\xc3\xa9')");
}

TEST(PythonRepr, Numbers) {
  EXPECT_EQ(float_repr(0.0), "0.0");
  EXPECT_EQ(float_repr(1e22), "1e+22");
  EXPECT_EQ(float_repr(123.456), "123.456");
  EXPECT_EQ(float_repr(0.00012), "0.00012");
  EXPECT_EQ(float_repr(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(imaginary_repr(1.0), "1j");
  EXPECT_EQ(imaginary_repr(std::numeric_limits<double>::infinity()), "infj");
}

}  // namespace
}  // namespace graphmend

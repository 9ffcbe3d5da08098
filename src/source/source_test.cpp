// Cookies, byte-order marks and encodings: a sample of what tests/oracle/source_check.py compares with CPython.
#include "source/source.h"

#include <gtest/gtest.h>

namespace graphmend {
namespace {

using namespace std::string_literals;

std::string encoding_of(const std::string& bytes) {
  const Source source = decode_source(bytes);
  return source.errors.empty() ? source.encoding : "error";
}

std::string text_of(const std::string& bytes) {
  const Source source = decode_source(bytes);
  return source.errors.empty() ? source.text : "error: " + source.errors[0].message;
}

void expect_round_trip(const std::string& bytes) {
  const Source source = decode_source(bytes);
  EXPECT_TRUE(source.errors.empty()) << source.errors[0].message;
  EXPECT_EQ(encode_source(source, source.text), bytes);
}

TEST(Source, PlainTextIsNotCopied) {
  std::string bytes = "print('a long enough text that the small string optimisation does not apply')\n";
  // As a number: the analyzer takes the pointer for a dangling one, which is the question here.
  const auto data = reinterpret_cast<uintptr_t>(bytes.data());
  const Source source = decode_source(std::move(bytes));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(source.text.data()), data);
  EXPECT_EQ(source.encoding, "utf-8");
  EXPECT_TRUE(source.errors.empty());
}

TEST(Source, ByteOrderMark) {
  const Source source = decode_source("\xEF\xBB\xBFx = 1\r\n");
  EXPECT_TRUE(source.has_bom);
  EXPECT_EQ(source.text, "x = 1\r\n");
  EXPECT_EQ(encode_source(source, "y = 2"), "\xEF\xBB\xBFy = 2");
  EXPECT_EQ(encoding_of(""), "utf-8");
  EXPECT_EQ(text_of("\xEF\xBB\xBF"), "");
  // Only one mark is taken off.
  EXPECT_EQ(text_of("\xEF\xBB\xBF\xEF\xBB\xBFx"), "\uFEFFx");
}

TEST(Source, ByteOrderMarkAndCookie) {
  EXPECT_EQ(encoding_of("\xEF\xBB\xBF# coding: utf-8\n"), "utf-8");
  EXPECT_EQ(encoding_of("\xEF\xBB\xBF# coding: UTF_8-anything\n"), "utf-8");
  // CPython compares the spelling, so `utf8` does not do.
  EXPECT_EQ(encoding_of("\xEF\xBB\xBF# coding: utf8\n"), "error");
  EXPECT_EQ(encoding_of("\xEF\xBB\xBF# coding: latin-1\n"), "error");
}

TEST(Source, WhereACookieMayStand) {
  EXPECT_EQ(encoding_of("# coding: latin-1"), "iso-8859-1");
  EXPECT_EQ(encoding_of("# -*- coding: latin-1 -*-\n"), "iso-8859-1");
  EXPECT_EQ(encoding_of("# vim: set fileencoding=cp1252 :\n"), "cp1252");
  EXPECT_EQ(encoding_of("#!/usr/bin/python\n \t\f# coding: cp1252\n"), "cp1252");
  EXPECT_EQ(encoding_of("\r\n# coding: cp1252\r\n"), "cp1252");
  EXPECT_EQ(encoding_of("\r# coding: cp1252\r"), "cp1252");
  EXPECT_EQ(encoding_of("# coding : x coding=cp1252\n"), "cp1252");
  // Not on the third line, not after code, not without a name, not across lines.
  EXPECT_EQ(encoding_of("\n\n# coding: no\n"), "utf-8");
  EXPECT_EQ(encoding_of("x\n# coding: no\n"), "utf-8");
  EXPECT_EQ(encoding_of("x # coding: no\n"), "utf-8");
  EXPECT_EQ(encoding_of("\\\n# coding: no\n"), "utf-8");
  EXPECT_EQ(encoding_of("# coding:\n# no\n"), "utf-8");
  EXPECT_EQ(encoding_of("# Coding: no\n"), "utf-8");
}

TEST(Source, Names) {
  EXPECT_EQ(encoding_of("# coding: utf8\n"), "utf-8");
  EXPECT_EQ(encoding_of("# coding: utf-8-sig\n"), "utf-8");
  EXPECT_EQ(encoding_of("# coding: latin-1-unix\n"), "iso-8859-1");
  EXPECT_EQ(encoding_of("# coding: L1\n"), "iso-8859-1");
  EXPECT_EQ(encoding_of("# coding: Windows-1252\n"), "cp1252");
  EXPECT_EQ(encoding_of("# coding: iso-8859-15\n"), "iso8859-15");
  EXPECT_EQ(encoding_of("# coding: mac-roman\n"), "mac-roman");
  EXPECT_EQ(encoding_of("# coding: sjis\n"), "shift_jis");
  EXPECT_EQ(encoding_of("# coding: hz\n"), "hz");
  for (const char* name : {"utf8-sig", "utf.8", "uft-8", "rot13", "hex", "utf-16", "utf-32", "cp037", "latin-1x"}) {
    EXPECT_EQ(encoding_of("# coding: "s + name + "\n"), "error") << name;
  }
}

TEST(Source, UnknownEncodingKeepsTheBytes) {
  const Source source = decode_source("# coding: klingon\n'\xFF'");
  ASSERT_EQ(source.errors.size(), 1u);
  EXPECT_EQ(source.errors[0].message, "unknown encoding `klingon` in the coding cookie");
  EXPECT_EQ(source.errors[0].span, (Span{10, 17}));
  EXPECT_EQ(source.text, "# coding: klingon\n'\xFF'");
  EXPECT_EQ(encode_source(source, source.text), source.text);
}

TEST(Source, SingleBytes) {
  EXPECT_EQ(text_of("# coding: latin-1\n'\xE9\x80'"), "# coding: latin-1\n'é\u0080'");
  EXPECT_EQ(text_of("# coding: cp1252\n'\x80'"), "# coding: cp1252\n'€'");
  EXPECT_EQ(text_of("# coding: koi8-r\n'\xC1'"), "# coding: koi8-r\n'а'");
  // There is no 81 in CPython's cp1252.
  EXPECT_TRUE(text_of("# coding: cp1252\n'\x81'").starts_with("error: byte 0x81 is no character of"));
  EXPECT_TRUE(text_of("# coding: ascii\n'\xE9'").starts_with("error: byte 0xe9 is no character of"));
  // In cp864 the byte of the percent sign is another one.
  EXPECT_EQ(text_of("# coding: cp864\n'%'"), "# coding: cp864\n'٪'");
  expect_round_trip("# coding: latin-1\n'\xE9\x80'");
  expect_round_trip("# coding: cp1252\n'\x80\xE9'");
  expect_round_trip("# coding: cp864\n'%\xC1'");
}

TEST(Source, SeveralBytes) {
  EXPECT_EQ(text_of("# coding: euc_jp\n'\xA4\xA2'"), "# coding: euc_jp\n'あ'");
  // The second byte of this one is a backslash, and a backslash stays one.
  EXPECT_EQ(text_of("# coding: shift_jis\n'\x83\x5C\\~'"), "# coding: shift_jis\n'ソ\\~'");
  EXPECT_EQ(text_of("# coding: gbk\n'\xC4\xE3'"), "# coding: gbk\n'你'");
  EXPECT_EQ(text_of("# coding: gb18030\n'\x94\x39\xDA\x33'"), "# coding: gb18030\n'💩'");
  EXPECT_EQ(text_of("# coding: big5\n'\xC6\xA5'"), "# coding: big5\n'ぁ'");
  EXPECT_EQ(text_of("# coding: iso2022_jp\n'\x1B$B$\"\x1B(B'"), "# coding: iso2022_jp\n'あ'");
  EXPECT_TRUE(text_of("# coding: euc_jp\n'\xA4").starts_with("error: byte 0xa4 is no character of"));
  EXPECT_TRUE(text_of("# coding: euc_kr\n'\x80\x41'").starts_with("error: byte 0x80 is no character of"));
  EXPECT_TRUE(text_of("# coding: cp949\n'\xA2\xE8'").starts_with("error: byte 0xa2 is no character of"));
  expect_round_trip("# coding: euc_jp\n'\xA4\xA2'");
  expect_round_trip("# coding: shift_jis\n'\x83\x5C\\~'");
  expect_round_trip("# coding: big5\n'\xC6\xA5'");
  expect_round_trip("# coding: gb18030\n'\x94\x39\xDA\x33'");
  expect_round_trip("# coding: iso2022_jp\n'\x1B$B$\"\x1B(B'");
}

TEST(Source, Utf7) {
  EXPECT_EQ(text_of("# coding: utf-7\n'+AOk-\\~ 1 +- 2 +2D3cqQ-'"), "# coding: utf-7\n'é\\~ 1 + 2 💩'");
  for (const char* bad : {"'+AOl'", "'+2D0-'", "'+3Kk-'", "'+A-'", "+ 1", "\xC3"}) {
    EXPECT_TRUE(text_of("# coding: utf-7\n"s + bad).starts_with("error")) << bad;
  }
  expect_round_trip("# coding: utf-7\n'+AOkA6Q- 1 +- 2 +2D3cqQ-'");
}

TEST(Source, InvalidUtf8) {
  const Source source = decode_source("x = '\xE9'\n");
  ASSERT_EQ(source.errors.size(), 1u);
  EXPECT_EQ(source.errors[0].span, (Span{5, 6}));
  EXPECT_EQ(
      source.errors[0].message,
      "byte 0xe9 is not UTF-8; save the file as UTF-8 or name its encoding in the first line: `# coding: latin-1`");
  EXPECT_EQ(source.text, "x = '\xE9'\n");
  EXPECT_EQ(encode_source(source, source.text), source.text);
  EXPECT_EQ(encoding_of("# \xED\xA0\x80"), "error");
  EXPECT_EQ(encoding_of("# coding: utf-8\n# \xFF"), "error");
}

TEST(Source, NulBytes) {
  for (const std::string& bytes : {"\0"s, "x = 1\n\0"s, "# coding: latin-1\n'\0\xE9'"s, "# coding: utf-7\n'+AAA-'"s}) {
    const Source source = decode_source(bytes);
    ASSERT_EQ(source.errors.size(), 1u);
    EXPECT_EQ(source.errors[0].message, "NUL byte in source text; Python refuses the file");
    EXPECT_EQ(source.text[source.errors[0].span.start], '\0');
  }
}

TEST(Source, EditsThatCannotBeWritten) {
  const Source latin = decode_source("# coding: latin-1\n'\xE9'");
  EXPECT_EQ(encode_source(latin, "# coding: latin-1\n'è'"), "# coding: latin-1\n'\xE8'");
  EXPECT_EQ(encode_source(latin, "# coding: latin-1\n'€'"), std::nullopt);
  // Without its cookie the file would be read as UTF-8.
  EXPECT_EQ(encode_source(latin, "'é'"), std::nullopt);
  EXPECT_EQ(encode_source(latin, "'e'"), "'e'");
  const Source utf8 = decode_source("'é'");
  EXPECT_EQ(encode_source(utf8, "# coding: latin-1\n'é'"), std::nullopt);
}

}  // namespace
}  // namespace graphmend

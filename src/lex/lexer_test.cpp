// The lexer on small texts. In: text. Out: the kinds of its tokens, and that tokens plus gaps are the text.
#include "lex/lexer.h"

#include <gtest/gtest.h>

#include <random>

namespace graphmend {
namespace {

std::string kinds(const std::string& text) {
  std::string result;
  for (const Token& token : lex(text).tokens.all) {
    if (!result.empty()) result += ' ';
    result += token_name(token.kind);
  }
  return result;
}

std::string first_error(const std::string& text) {
  LexResult result = lex(text);
  return result.errors.empty() ? "" : result.errors[0].message;
}

// Tokens in order, and between them nothing but white space, continuations and line ends.
void expect_lossless(const std::string& text) {
  LexResult result = lex(text);
  uint32_t at = 0;
  for (const Token& token : result.tokens.all) {
    ASSERT_LE(at, token.start) << text;
    ASSERT_LE(token.start, token.end) << text;
    for (char c : Span{at, token.start}.in(text))
      ASSERT_NE(std::string_view(" \t\f\r\n\\").find(c), std::string_view::npos) << text;
    at = token.end;
  }
  EXPECT_EQ(at, text.size());
}

TEST(Lexer, EmptyAndBlank) {
  EXPECT_EQ(kinds(""), "EndOfFile");
  EXPECT_EQ(kinds("\n\n  \n"), "EndOfFile");
  EXPECT_EQ(kinds("# c"), "Comment EndOfFile");
  EXPECT_EQ(kinds("  # c\n"), "Comment EndOfFile");
}

TEST(Lexer, NewlineAtTheEndIsImplied) {
  EXPECT_EQ(kinds("x"), "Name Newline EndOfFile");
  EXPECT_EQ(kinds("x # c"), "Name Comment Newline EndOfFile");
}

TEST(Lexer, IndentationFollowsBlocks) {
  EXPECT_EQ(kinds("if x:\n  y\n# c\n\n  z\nw\n"),
            "If Name Colon Newline Indent Name Newline Comment Name Newline Dedent Name Newline EndOfFile");
  EXPECT_EQ(kinds("if x:\n\ty"), "If Name Colon Newline Indent Name Newline Dedent EndOfFile");
}

TEST(Lexer, IndentationErrors) {
  EXPECT_NE(first_error("if x:\n\ty\n        z\n").find("tabs"), std::string::npos);
  EXPECT_NE(first_error("if x:\n    y\n  z\n").find("unindent"), std::string::npos);
}

TEST(Lexer, FormFeedResetsTheColumn) { EXPECT_EQ(kinds("x\n  \fy\n"), "Name Newline Name Newline EndOfFile"); }

TEST(Lexer, LineEndsOfAllKinds) {
  EXPECT_EQ(kinds("x\ry\r\nz"), "Name Newline Name Newline Name Newline EndOfFile");
  EXPECT_EQ(kinds("(\r\n)"), "LeftParen RightParen Newline EndOfFile");
}

TEST(Lexer, Numbers) {
  for (const char* good : {"0", "00", "0_0", "1_000", "0xfF", "0x_f", "0o17", "0b1", "1.", ".5", "1e5", "1E-5", "1j",
                           "01.5", "01e1", "01j", "1_0.0_1e1_0j"}) {
    EXPECT_EQ(first_error(good), "") << good;
  }
  for (const char* bad : {"01", "0_7", "1__0", "1_", "0x", "0xg", "0o8", "0b2", "1e+", "1abc", "1.2e", "0b1_", "1_a"}) {
    EXPECT_NE(first_error(bad), "") << bad;
  }
  EXPECT_EQ(kinds("1if x else 2"), "Int If Name Else Int Newline EndOfFile");
  EXPECT_EQ(kinds("0xfor"), "Int Or Newline EndOfFile");
  EXPECT_EQ(kinds("1..real"), "Float Dot Name Newline EndOfFile");
}

TEST(Lexer, StringPrefixes) {
  for (const char* text : {"''", "r''", "Rb''", "bR''", "u''", "\"\"\"a\n\"\"\""}) {
    EXPECT_EQ(kinds(text), "String Newline EndOfFile") << text;
  }
  EXPECT_EQ(kinds("ur''"), "Name String Newline EndOfFile");
  EXPECT_EQ(kinds("fr''"), "FStringStart FStringEnd Newline EndOfFile");
  EXPECT_EQ(kinds("T''"), "FStringStart FStringEnd Newline EndOfFile");
}

TEST(Lexer, FStringFields) {
  EXPECT_EQ(kinds("f'a{b!r:>{w}}c'"),
            "FStringStart FStringMiddle LeftBrace Name Exclamation Name Colon FStringMiddle LeftBrace Name RightBrace "
            "RightBrace FStringMiddle FStringEnd Newline EndOfFile");
  EXPECT_EQ(kinds("f'{x:=10}'"),
            "FStringStart LeftBrace Name Colon FStringMiddle RightBrace FStringEnd Newline EndOfFile");
  EXPECT_EQ(kinds("f'{{}}'"), "FStringStart FStringMiddle FStringEnd Newline EndOfFile");
  EXPECT_EQ(kinds("f'{f'{1}'}'"),
            "FStringStart LeftBrace FStringStart LeftBrace Int RightBrace FStringEnd RightBrace FStringEnd Newline "
            "EndOfFile");
  EXPECT_EQ(kinds("f'\\N{BULLET}'"), "FStringStart FStringMiddle FStringEnd Newline EndOfFile");
}

TEST(Lexer, UnterminatedStrings) {
  EXPECT_NE(first_error("'abc\nx"), "");
  EXPECT_NE(first_error("'''abc\nx"), "");
  EXPECT_NE(first_error("f'abc"), "");
  EXPECT_NE(first_error("'\\"), "");
}

TEST(Lexer, ForgottenBracketEndsAtTheNextStatement) {
  EXPECT_EQ(kinds("f(a,\ndef g(): pass\n"),
            "Name LeftParen Name Comma Newline Def Name LeftParen RightParen Colon Pass Newline EndOfFile");
}

TEST(Lexer, Names) {
  EXPECT_EQ(first_error("naïve = ℘ = 1"), "");
  EXPECT_NE(first_error("a€b"), "");
  EXPECT_NE(first_error("\xff"), "");
  EXPECT_EQ(kinds("match async lambdas"), "Name Async Name Newline EndOfFile");
}

TEST(Lexer, LosslessOnRandomBytes) {
  std::mt19937 random(7);
  const std::string_view pieces = " \t\n\r\f\\\"'{}()[]fFrbtu#:!=.0x1e_jand if def\xc3\xa9\0\xff@$?";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (uint32_t i = random() % 40; i > 0; --i) text += pieces[random() % pieces.size()];
    expect_lossless(text);
  }
}

}  // namespace
}  // namespace graphmend

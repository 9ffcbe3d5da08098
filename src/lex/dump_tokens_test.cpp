// Tests of dump_tokens.
#include "lex/dump_tokens.h"

#include <gtest/gtest.h>

#include <string>

#include "lex/lexer.h"

namespace graphmend {
namespace {

std::string dump(const std::string& source) { return dump_tokens(source, lex(source).tokens); }

TEST(DumpTokens, OneLineForEach) {
  EXPECT_EQ(dump("é = rb'\\x'  # c\n"),
            "0..2 1:0 Name not-ascii 'é'\n"
            "3..4 1:3 Equal '='\n"
            "5..11 1:5 String raw bytes backslash prefix=2 \"rb'\\\\x'\"\n"
            "13..16 1:13 Comment '# c'\n"
            "16..17 1:16 Newline '\\n'\n"
            "17..17 2:0 EndOfFile\n");
}

TEST(DumpTokens, FStrings) {
  EXPECT_EQ(dump("f'{{{x}'"),
            "0..2 1:0 FStringStart prefix=1 \"f'\"\n"
            "2..4 1:2 FStringMiddle doubled-brace '{{'\n"
            "4..5 1:4 LeftBrace '{'\n"
            "5..6 1:5 Name 'x'\n"
            "6..7 1:6 RightBrace '}'\n"
            "7..8 1:7 FStringEnd \"'\"\n"
            "8..8 1:8 Newline\n"
            "8..8 1:8 EndOfFile\n");
}

TEST(DumpTokens, Empty) { EXPECT_EQ(dump(""), "0..0 1:0 EndOfFile\n"); }

}  // namespace
}  // namespace graphmend

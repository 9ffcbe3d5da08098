// Tests of dump_tree.
#include "parse/dump_tree.h"

#include <gtest/gtest.h>

#include <string>

#include "lex/lexer.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

std::string dump(const std::string& source) {
  const LexResult lexed = lex(source);
  return dump_tree(source, lexed.tokens, parse(source, lexed.tokens).tree);
}

TEST(DumpTree, KindsFlagsAndRanges) {
  EXPECT_EQ(dump("async def f(a: int = 1, *, b): x = (y, z.w)\n"),
            "Module 1:0-2:0\n"
            "  FunctionDef async 1:0-1:43\n"
            "    Parameters 1:11-1:29\n"
            "      Parameter regular optional=0,1 1:12-1:18\n"
            "        Name load 1:15-1:18 'int'\n"
            "      Number 1:21-1:22 '1'\n"
            "      Parameter keyword-only 1:27-1:28 'b'\n"
            "    Body 1:29-1:43\n"
            "      Assign 1:31-1:43\n"
            "        Name store 1:31-1:32 'x'\n"
            "        Tuple load parenthesized 1:35-1:43\n"
            "          Name load 1:36-1:37 'y'\n"
            "          Attribute load 1:39-1:42\n"
            "            Name load 1:39-1:40 'z'\n");
}

TEST(DumpTree, OperatorsAndConversions) {
  const std::string text = dump("f'{a + b!r}' < c");
  EXPECT_NE(text.find("Interpolation !r 1:2-1:11\n"), std::string::npos) << text;
  EXPECT_NE(text.find("BinOp Add 1:3-1:8\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CompareOp Lt 1:13-1:14 '<'\n"), std::string::npos) << text;
}

// The text grows with the tree and not with the square of its depth.
TEST(DumpTree, DeepTrees) {
  std::string source = "a";
  for (int i = 0; i < 20'000; ++i) source += "+a";
  const std::string text = dump(source);
  EXPECT_LT(text.size(), 200 * source.size());
  EXPECT_NE(text.find("(20002) Name load 1:0-1:1 'a'\n"), std::string::npos);
}

}  // namespace
}  // namespace graphmend

// Substitute: which calls become which text, and which are left alone.
#include "mend/substitute.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lex/lexer.h"
#include "mend/mend.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

// The mended text of one line, with the sites' names, which are hashes, made readable.
std::string substituted(const std::string& text, uint32_t line, std::vector<std::string> names) {
  const LexResult lexed = lex(text);
  const ParseResult parsed = parse(text, lexed.tokens);
  MendRequest request;
  request.file_name = "f.py";
  request.lines = {line};
  request.substitutes = std::move(names);
  const Mended mended = mend(text, lexed.tokens, parsed.tree, request);
  std::string result = mended.text;
  for (const Mend& one : mended.mends) {
    EXPECT_EQ(one.kind, MendKind::Substitute);
    for (size_t at = result.find(one.site); at != std::string::npos; at = result.find(one.site)) {
      result.replace(at, one.site.size(), "S");
    }
  }
  return result;
}

void expect_as_it_was(const std::string& text, uint32_t line, std::vector<std::string> names) {
  EXPECT_EQ(substituted(text, line, std::move(names)), text);
}

TEST(Substitute, MethodsAndFunctions) {
  EXPECT_EQ(substituted("y = x.go(1, *a, k=2)\n", 1, {"go"}),
            "y = (x.go(1, *a, k=2) if not __graphmend__.tracing() else __graphmend__.method('S', 'go', (x), 1, *a, "
            "k=2))\n");
  EXPECT_EQ(substituted("go()\n", 1, {"go"}),
            "(go() if not __graphmend__.tracing() else __graphmend__.function('S', 'go', (go), ))\n");
  expect_as_it_was("y = x.stay(1)\n", 1, {"go"});
  expect_as_it_was("y = x.go\n", 1, {"go"});
}

TEST(Substitute, CallsInsideOfEachOther) {
  EXPECT_EQ(substituted("go(x.go())\n", 1, {"go"}).find("__graphmend__.method('S', 'go', (x), )") == std::string::npos,
            false);
}

TEST(Substitute, WhatRunsAtAnotherTimeIsLeft) {
  expect_as_it_was("y = lambda: go(1)\n", 1, {"go"});
  expect_as_it_was("y = [go(1) for _ in x]\n", 1, {"go"});
  expect_as_it_was("y = f'{go(1)}'\n", 1, {"go"});
  expect_as_it_was("y = go(a for a in x)\n", 1, {"go"});
  expect_as_it_was("y = go(a := 3)\n", 1, {"go"});
  expect_as_it_was("y = (x.go)(3)\n", 1, {"go"});
}

TEST(Substitute, OnlyWhatIsEntered) {
  const std::string text = "with closing(x) as y:\n    pass\n";
  EXPECT_NE(substituted(text, 1, {"with closing"}), text);
  expect_as_it_was("y = closing(x)\n", 1, {"with closing"});
  expect_as_it_was("with go(closing(x)) as y:\n    pass\n", 1, {"with closing"});
}

TEST(Substitute, AttributesThatAreRead) {
  EXPECT_EQ(substituted("y = x.kind + 1\n", 1, {".kind"}),
            "y = (x.kind if not __graphmend__.tracing() else __graphmend__.attribute('S', 'kind', (x))) + 1\n");
  expect_as_it_was("x.kind = 3\n", 1, {".kind"});
  expect_as_it_was("x.kind, y = 3, 4\n", 1, {".kind"});
  expect_as_it_was("x.kind += 3\n", 1, {".kind"});
  expect_as_it_was("del x.kind\n", 1, {".kind"});
  expect_as_it_was("x.kind()\n", 1, {".kind"});
}

TEST(Substitute, AttributesThatAreSet) {
  EXPECT_EQ(substituted("x.on = True\n", 1, {".on ="}),
            "(x if not __graphmend__.tracing() else __graphmend__.target('S', 'on', x, True)).on = True\n");
  expect_as_it_was("x.on = y\n", 1, {".on ="});
}

}  // namespace
}  // namespace graphmend

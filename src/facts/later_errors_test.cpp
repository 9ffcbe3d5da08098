// Tests of the errors after parsing: places and messages by hand, verdicts by the corpus that CPython has judged.
#include "facts/later_errors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "lex/lexer.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

struct Verdict {
  bool accepted = true;
  // Of the first error.
  std::string message;
  std::string place;
};

Verdict judge(const std::string& text, Version target = kAnyVersion) {
  LexResult lexed = lex(text);
  ParseResult parsed = parse(text, lexed.tokens, target);
  Diagnostics errors = lexed.errors;
  errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
  if (errors.empty()) errors = find_later_errors(text, lexed.tokens, parsed.tree, target);
  if (errors.empty()) return {};
  return {false, errors[0].message, std::string(errors[0].span.in(text))};
}

void expect_error(const std::string& text, std::string_view place, std::string_view message) {
  Verdict verdict = judge(text);
  EXPECT_EQ(verdict.place, place) << text;
  EXPECT_EQ(verdict.message, message) << text;
}

TEST(LaterErrors, StarredIndexOfAnAnnotation) {
  EXPECT_FALSE(judge("x[1, *a]: int", Version{13}).accepted);
  EXPECT_TRUE(judge("x[1, *a]: int = 1").accepted);
  EXPECT_TRUE(judge("x[1, *a].y: int").accepted);
  EXPECT_TRUE(judge("x[(*a,)]: int", Version{8}).accepted);
}

TEST(LaterErrors, Placement) {
  expect_error("return 1", "return 1", "`return` outside of a function");
  expect_error("class C:\n  yield 1", "yield 1", "`yield` outside of a function");
  expect_error("def f():\n  await x", "await x", "`await` outside of an async function");
  expect_error("def f(): [(yield) for x in y]", "yield", "`yield` in a list comprehension");
  expect_error("type X = (yield)", "yield", "`yield` in a type alias");
  expect_error("for x in y: pass\nelse: break", "break", "`break` outside of a loop");
  expect_error("def f():\n  try: pass\n  except* E: return", "return",
               "`return` in an `except*` block; leave the block first");
  expect_error("async def f():\n  yield\n  return 1", "return 1",
               "`return` with a value in an async generator; only a bare `return` may end it");
  expect_error("def f(): [x async for x in y]", "[x async for x in y]",
               "asynchronous comprehension outside of an async function");
  expect_error("try: pass\nexcept: pass\nexcept E: pass", "except",
               "`except:` catches all and must be the last handler");
}

TEST(LaterErrors, Declarations) {
  expect_error("def f():\n  x\n  global x", "x", "`x` used before its `global` declaration");
  expect_error("def f(x):\n  nonlocal x", "x", "parameter `x` declared `nonlocal`");
  expect_error("def f():\n  nonlocal x", "x", "no enclosing function binds `x` for `nonlocal`");
  expect_error("nonlocal x", "nonlocal", "`nonlocal` at module level");
  expect_error("def f():\n  global x\n  x: int", "x", "annotation of `x`, which is declared `global`");
  expect_error("def f[T]():\n  nonlocal T", "T", "`nonlocal` for the type parameter `T`");
}

TEST(LaterErrors, Names) {
  expect_error("def f(a, *, a): pass", "a", "second parameter named `a`");
  expect_error("f(a=1, b=2, a=3)", "a", "keyword argument `a` given twice");
  expect_error("def f[T, *T](): pass", "T", "second type parameter named `T`");
  expect_error("x.__debug__ = 1", "__debug__", "`__debug__` cannot be assigned");
  expect_error("[x := 1 for x in y]", "x := 1", "`:=` rebinds `x`, a target of the comprehension");
  expect_error("[x for x in (y := 1)]", "y := 1", "`:=` in the iterable of a comprehension");
}

TEST(LaterErrors, Targets) {
  expect_error("*a = b", "*a", "starred target that is not in a list or tuple; write `*a, = …`");
  expect_error("*a, *b = c", "*b", "second starred target in one list or tuple");
  expect_error("x = *a", "*a", "starred expression that is not in a list, tuple, set or call; write `*a,` for a tuple");
}

TEST(LaterErrors, Patterns) {
  expect_error("match x:\n  case a: pass\n  case 1: pass", "a",
               "`a` matches everything; what follows is never reached");
  expect_error("match x:\n  case [a, a]: pass", "a", "pattern binds `a` twice");
  expect_error("match x:\n  case [a] | [b]: pass", "[a] | [b]", "alternatives of a pattern bind different names");
  expect_error("match x:\n  case {1: a, True: b}: pass", "True", "mapping pattern has this key twice");
  expect_error("match x:\n  case C(a=1, a=2): pass", "a", "class pattern names the attribute `a` twice");
}

TEST(LaterErrors, Imports) {
  expect_error("def f():\n  from a import *", "*", "`import *` in a function or class; it works at module level only");
  expect_error("x = 1\nfrom __future__ import division", "from __future__ import division",
               "`from __future__` import after other code; move it to the beginning of the file");
  expect_error("from __future__ import nope", "nope", "no future feature `nope`");
  expect_error("def f():\n  lazy import a", "lazy", "lazy import in a function");
}

// The default target takes what any version takes.
TEST(LaterErrors, AnyVersion) {
  const std::string since_3_14 = "def f():\n  x: (yield)\n";
  EXPECT_TRUE(judge(since_3_14).accepted);
  EXPECT_TRUE(judge(since_3_14, Version{13}).accepted);
  EXPECT_FALSE(judge(since_3_14, Version{14}).accepted);
  const std::string until_3_10 = "async def f(): [[x async for x in y] for z in w]";
  EXPECT_TRUE(judge(until_3_10).accepted);
  EXPECT_FALSE(judge(until_3_10, Version{10}).accepted);
  expect_error(since_3_14 + until_3_10 + "\nreturn", "return", "`return` outside of a function");
}

// Trees after syntax errors are not what CPython would look at, but must do no harm.
TEST(LaterErrors, TreesWithErrorsDoNoHarm) {
  for (const char* broken : {"def f(:\n  return\n", "class C(\n", "match x:\n  case [a, |]: pass\n", "[x for\n",
                             "lambda *: (yield", "global\nnonlocal x,\n", "try:\nexcept\n", "x: = *\n", "type X[ = 1",
                             "f(a=, a=)\n", "from __future__ import\n", "with a as: pass\n", "@\ndef f"}) {
    const std::string text = broken;
    LexResult lexed = lex(text);
    ParseResult parsed = parse(text, lexed.tokens);
    find_later_errors(text, lexed.tokens, parsed.tree, kAnyVersion);
  }
}

TEST(LaterErrors, LongAndDeepInputTakesLinearTime) {
  std::string chain = "x = a";
  for (int i = 0; i < 100'000; ++i) chain += ".b(c=1)";
  EXPECT_TRUE(judge(chain).accepted);

  std::string names = "f(a";
  for (int i = 0; i < 100'000; ++i) names += ", a" + std::to_string(i) + "=1";
  EXPECT_TRUE(judge(names + ")").accepted);

  std::string walruses = "[0 for a in b";
  for (int i = 0; i < 20'000; ++i) walruses += " if (x" + std::to_string(i) + " := 1) for a in b";
  EXPECT_TRUE(judge(walruses + "]").accepted);

  std::string pattern = "match x:\n  case [a";
  for (int i = 0; i < 50'000; ++i) pattern += ", a" + std::to_string(i);
  EXPECT_TRUE(judge(pattern + "]: pass").accepted);

  std::string declarations = "def f():\n";
  for (int i = 0; i < 50'000; ++i) declarations += "  global a" + std::to_string(i) + "\n";
  EXPECT_TRUE(judge(declarations).accepted);
}

// Each snippet stands behind a line with the verdicts of CPython 3.8 to 3.15 (tests/corpus/later_oracle.py).
TEST(LaterErrors, CorpusHasCPythonsVerdicts) {
  std::ifstream file(GRAPHMEND_ROOT "/tests/corpus/later_cases.txt");
  ASSERT_TRUE(file);

  // A starred expression in a field of an f-string is left to the compiler by most versions; the parser rejects it.
  const std::string_view kParserIsStricter = "{*a}";
  std::string verdicts;
  std::string snippet;
  int judged = 0;
  auto check = [&] {
    for (uint8_t minor = kOldestVersion.minor; minor <= kNewestVersion.minor; ++minor) {
      const size_t column = minor - kOldestVersion.minor;
      if (column >= verdicts.size() || verdicts[column] == '?') continue;
      Verdict verdict = judge(snippet, Version{minor});
      if (snippet.find(kParserIsStricter) != std::string::npos && !verdict.accepted) continue;
      EXPECT_EQ(verdict.accepted, verdicts[column] == '.') << "3." << int{minor} << ": " << verdict.message << "\n"
                                                           << snippet;
      ++judged;
    }
  };
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#%% ")) {
      snippet += line + "\n";
      continue;
    }
    check();
    verdicts = line.substr(4);
    snippet.clear();
  }
  check();
  EXPECT_GT(judged, 15'000);
}

}  // namespace
}  // namespace graphmend

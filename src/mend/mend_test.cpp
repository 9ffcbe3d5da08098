// Mends on small texts. In: text and lines. Out: the mended text, outlined functions, reasons; and that pieces tell the
// truth.
#include "mend/mend.h"

#include <gtest/gtest.h>

#include "mend/mend_test_support.h"

namespace graphmend {
namespace {

using Case = MendCase;

TEST(Postpone, AsksForWhatPythonMayNotComeTo) {
  MendCase choice("def f(self, x, k):\n    print(self.m.add(x) if k.item() else x.a)\n", {2});
  EXPECT_TRUE(
      choice.shows("posts('S') and __graphmend__.is_plain('S', (self, 'm'), (x,), (x, 'a')) and __graphmend__.post("))
      << choice.shown();
  MendCase loop("def f(xs, k):\n    print([v.item() if k else v.sum() for v in xs.ys])\n", {2});
  EXPECT_TRUE(loop.shows("is_plain('S', (k,), (xs, 'ys')) and ")) << loop.shown();
}

TEST(Speculate, PositionsThatAreWrittenTo) {
  const auto made = [](const std::string& line) {
    return MendCase("def f(x, i):\n    " + line + "\n", {2}, {}, false, true).shown();
  };
  EXPECT_EQ(
      made("x[i, 0, i + 1] = 2"),
      "def f(x, i):\n    x[__graphmend__.position('S', x, (i)), 0, __graphmend__.position('S', x, (i + 1))] = 2\n");
  EXPECT_NE(made("x.y[i] += 2").find("_ := (x.y))[__graphmend__.position('S', graphmend_o"), std::string::npos);
  EXPECT_EQ(made("x[[i]] = 2"), "def f(x, i):\n    x[[i]] = 2\n");
}

TEST(Speculate, ElementsThatAreCompared) {
  MendCase made("def f(x, n):\n    assert list(x.size()) != [n, 2] and [n] == y\n", {2, 2}, {}, false, true);
  EXPECT_TRUE(made.shows("!= [__graphmend__.element('S', (n)), 2]")) << made.shown();
  EXPECT_TRUE(made.shows("([n]) == (y)")) << made.shown();
}

TEST(Speculate, BindsNothingInWhatAComprehensionGoesOver) {
  for (const char* shown : {"[y for y in (0 < x[0] < 2, 1)]", "[y for y in (x[0] or 1, 1)]"}) {
    const MendCase made("def f(x):\n    return " + std::string(shown) + "\n", {2});
    EXPECT_FALSE(made.shows(":=")) << made.shown();
  }
}

TEST(Postpone, TakesATupleAsOneValue) {
  const MendCase made("def f(x, a):\n    print(f'{a, 2} {x.item()}', x.numpy()[0, 1:].tolist())\n", {2});
  EXPECT_TRUE(made.shows("__graphmend__.post('S', (a, 2), x, x)")) << made.shown();
}

TEST(Postpone, WhatALambdaPrints) {
  const MendCase made("hook = [lambda m, i, o=print(1): print('made', o), lambda: logger.info(1)]\n", {1});
  EXPECT_EQ(made.shown(),
            "hook = [lambda m, i, o=print(1): None if (__graphmend__.posts('S') and __graphmend__.post('S', o)) else "
            "print('made', o), lambda: logger.info(1)]\n");
  const MendCase own("def f(print):\n    return lambda x: print(x)\n", {2});
  EXPECT_EQ(own.shown(), own.text);
}

TEST(Postpone, LeavesWhatALaterArgumentMayChange) {
  for (const char* shown : {"str(y), y.add_(1)", "f'{y.item()} {y.add_(1)}'", "y.tolist(), end=go(y)"}) {
    EXPECT_NE(MendCase("def f(y):\n    print(" + std::string(shown) + ")\n", {2}).reason(), "") << shown;
  }
  EXPECT_EQ(MendCase("def f(y):\n    print(go(y), round(go(y).item(), 2))\n", {2}).reason(), "");
}

TEST(Check, AsksForWhatPythonMayNotComeTo) {
  MendCase guard("def f(self, x):\n    if x.any() and self.m.any():\n        raise E\n", {2});
  EXPECT_TRUE(guard.shows("if not (__graphmend__.asks('S') and __graphmend__.is_plain('S', (self, 'm'))) else"))
      << guard.shown();
  // What stands behind a test that no tensor decides is evaluated where Python does.
  EXPECT_TRUE(MendCase("def f(self, x):\n    if x is not None and x.max() > self.m:\n        raise E\n", {2})
                  .shows("if not __graphmend__.asks('S') else"));
  EXPECT_TRUE(MendCase("def f(self, x):\n    if x is None or x.any() and self.m:\n        raise E\n", {2})
                  .shows("is_plain('S', (self, 'm'))"));
}

TEST(Mend, PostponeCarriesWhatItPrints) {
  Case made("def f(x):\n    print('a', x)\n", {2});
  EXPECT_EQ(made.shown(),
            "def f(x):\n    (__graphmend__.posts('S') and __graphmend__.post('S', x)) or print('a', x)\n");
  EXPECT_EQ(made.mended.mends[0].outlined.text, "def f(__graphmend_0__, ):\n print('a', __graphmend_0__)\n");
}

TEST(Mend, PostponeLeavesToTheFunctionWhatCannotBeTraced) {
  Case made("def f(self, x):\n    print(f'{self.n} {x.sum().item():.{w}f}', 100 * x.item())\n", {2});
  EXPECT_EQ(
      made.mended.mends[0].outlined.text,
      "def f(__graphmend_0__, __graphmend_1__, __graphmend_2__, __graphmend_3__, ):\n"
      " print(f'{__graphmend_0__} {__graphmend_1__.item():.{__graphmend_2__}f}', 100 * __graphmend_3__.item())\n");
  EXPECT_NE(made.shown().find("post('S', self.n, x.sum(), w, x)"), std::string::npos);
}

TEST(Mend, PostponeOnlyWhatOnlyTalks) {
  EXPECT_NE(Case("def f(x):\n    store(x)\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x):\n    logger.sub.info(x)\n", {2}).reason(), "");
  EXPECT_EQ(Case("def f(x):\n    logger.info(x)\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x):\n    y = print(x)\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x):\n    logger.setLevel(x)\n", {2}, {"logger.*", "!logger.setLevel"}).reason(), "");
}

TEST(Mend, PostponeAsksWhatAMethodIsCalledOn) {
  Case made("def f(self, x):\n    self.log.info('at', x)\n", {2}, {".info"});
  EXPECT_TRUE(made.shows("post('S', __graphmend__.talker('S', 'self.log.info', self.log), x)) or self.log.info("));
  EXPECT_EQ(made.mended.mends[0].outlined.text,
            "def f(__graphmend_0__, __graphmend_1__, ):\n __graphmend_0__.info('at', __graphmend_1__)\n");
  EXPECT_NE(Case("def f(self, x):\n    self.log.info(x)\n", {2}, {".info", "!self.log.info"}).reason(), "");
  const char* asked = "def f(x):\n    logging.getLogger('a').info(x)\n";
  EXPECT_TRUE(Case(asked, {2}, {".info", "logging.getLogger().info"}).shows("post('S', x)) or logging.getLogger("));
  EXPECT_NE(Case(asked, {2}, {".info"}).reason(), "");
  EXPECT_NE(Case("def f(self, x):\n    self.log.other(x)\n", {2}, {".info"}).reason(), "");
  EXPECT_NE(Case("def f(self, x):\n    make().info(x)\n", {2}, {".info"}).reason(), "");
}

TEST(Mend, PostponeGoesByTheNamesOfGlobals) {
  EXPECT_NE(Case("def f(x, print):\n    print(x)\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x, logger):\n    logger.info(x)\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(logger):\n    def g(x):\n        logger.info(x)\n", {3}).reason(), "");
  EXPECT_EQ(Case("logger.info(x)\nlogger = 1\n", {1}).reason(), "");
  EXPECT_NE(Case("def f(x):\n    global logger\n    logger = g()\n    logger.info(x)\n", {4}).reason(), "");
  EXPECT_TRUE(Case("def f(x, logger):\n    logger.info(x)\n", {2}, {"logger.*", ".info"}).shows("talker('S', "));
}

TEST(Mend, PostponeDeclinesArgumentsThatDoSomething) {
  EXPECT_NE(Case("def f(x):\n    print(y := x)\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x):\n    print(log(x.item()))\n", {2}).reason(), "");
}

TEST(Mend, CheckPredictsThatNothingIsRaised) {
  Case made("def f(x):\n    if x.any():\n        raise E\n", {2});
  EXPECT_EQ(
      made.shown(),
      "def f(x):\n    if ((x.any()) if not __graphmend__.asks('S') else __graphmend__.check('S', (x.any()), False)):\n"
      "        raise E\n");
  Case other("def f(x):\n    if x.any():\n        y = 1\n    else:\n        raise E\n", {2});
  EXPECT_NE(other.shown().find(", True)"), std::string::npos);
  Case asserted("def f(x):\n    assert x.any(), 'no'\n", {2});
  EXPECT_NE(asserted.shown().find(", True)), 'no'"), std::string::npos);
}

TEST(Mend, CheckKeepsTheOrderOfAndOrNot) {
  Case made("def f(x):\n    if a and not (b or c):\n        raise E\n", {2});
  EXPECT_NE(made.shown().find(
                "__graphmend__.both((a), lambda: __graphmend__.negate(__graphmend__.either((b), lambda: (c))))"),
            std::string::npos);
}

TEST(Mend, CheckEvaluatesTheMiddleOfAChainOnce) {
  Case made("def f(x):\n    if 0 < x.sum() < 5:\n        raise E\n", {2});
  EXPECT_TRUE(
      made.shows("__graphmend__.both(((0) < (graphmend_b21_ := __graphmend__.middle((x.sum())))), lambda: "
                 "(graphmend_b21_ < (5)))"))
      << made.shown();
}

TEST(Mend, CheckKeepsTensorsWhereTheTestMakesNumbersOfThem) {
  Case made("def f(x, y):\n    if x.sum().item() > 1 or torch.equal(x, y) or bool(x) or x.equal(y):\n        raise E\n",
            {2});
  EXPECT_TRUE(made.shows("(__graphmend__.number((x.sum()), *(), **dict()) > (1))")) << made.shown();
  EXPECT_TRUE(made.shows("__graphmend__.equal(x, y)")) << made.shown();
  EXPECT_TRUE(made.shows("__graphmend__.truth(x)")) << made.shown();
  EXPECT_TRUE(made.shows("__graphmend__.equal((x), *(y, ), **dict())")) << made.shown();
}

TEST(Mend, CheckPredictsWhatItsTestMakesOfTensorsWhereItBreaksAgain) {
  const std::string text = "def f(x):\n    if len(x.unique()) > 1 or x.item() > 2:\n        raise E(x.tolist())\n";
  const std::vector<std::string> talkers = {"print"};
  EXPECT_EQ(MendCase(text, {2}, talkers, false, true).mended.mends.size(), 1u);
  MendCase again(text, {2, 2}, talkers, false, true);
  EXPECT_TRUE(again.shows("lambda: (__graphmend__.number((x), *(), **dict()) > (2))")) << again.shown();
  EXPECT_TRUE(again.shows("((len(__graphmend__.counted('S', 'unique', (x), ))) > (1))")) << again.shown();
  EXPECT_FALSE(again.shows("'tolist'")) << again.shown();
  EXPECT_EQ(MendCase(text, {2, 2}, talkers).mended.mends.size(), 1u);
}

TEST(Mend, CheckKeepsOnlyCallsOfTheUsualForm) {
  EXPECT_FALSE(Case("def f(x):\n    if x.item(1) > 1:\n        raise E\n", {2}).shows("__graphmend__.number"));
  EXPECT_FALSE(Case("def f(x):\n    if x.item() is True:\n        raise E\n", {2}).shows("__graphmend__.number"));
  EXPECT_FALSE(Case("def f(x):\n    if x.equal(y, a=1):\n        raise E\n", {2}).shows("__graphmend__.equal"));
  EXPECT_TRUE(Case("def f(x):\n    if x.item() > 0.5:\n        raise E\n", {2}).shows("compared('l', '>', "));
}

TEST(Mend, PostponeLeavesWhatTellsOfAnException) {
  const std::string head = "def f(x):\n    try:\n        g()\n    except E:\n        ";
  EXPECT_NE(Case(head + "logger.exception(x)\n", {5}).reason(), "");
  EXPECT_NE(Case(head + "logger.info(x, exc_info=True)\n", {5}).reason(), "");
  EXPECT_EQ(Case(head + "logger.info(x)\n", {5}).reason(), "");
}

TEST(Mend, CheckMayAssignWhatIsEvaluatedInAnyCase) {
  Case made("def f(x):\n    if (m := x.max()) > 4 and x.any():\n        raise E(m)\n", {2});
  EXPECT_TRUE(made.shows("__graphmend__.both(((m := x.max()) > (4)), lambda: (x.any()))")) << made.shown();
  EXPECT_NE(Case("def f(x):\n    if x.any() and (m := x.max()) > 4:\n        raise E(m)\n", {2}).reason(), "");
  EXPECT_NE(Case("async def f(x):\n    if (await x).any():\n        raise E\n", {2}).reason(), "");
}

TEST(Mend, CheckComparesANumberAsATensorWould) {
  Case made("def f(x, y):\n    if y <= x.item():\n        raise E\n", {2});
  EXPECT_TRUE(made.shows("__graphmend__.compared('r', '<=', (y), __graphmend__.number((x), *(), **dict()))"));
  Case chain("def f(x, y):\n    if y < float(x) < z:\n        raise E\n", {2});
  EXPECT_TRUE(chain.shows(
      "compared('r', '<', (y), (graphmend_b24_ := __graphmend__.middle(__graphmend__.real(x)))), lambda: __graphmend__."
      "compared('l', '<', graphmend_b24_, (z))"))
      << chain.shown();
}

TEST(Mend, CheckOnOneLine) { EXPECT_EQ(Case("def f(x):\n    if x > 0: raise E\n", {2}).mended.mends.size(), 1u); }

TEST(Mend, PostponeShowsTheTextOfADebugField) {
  Case made("def f(x):\n    print(f'{x.sum() = } {x.item()=:.1f}')\n", {2});
  EXPECT_EQ(made.mended.mends[0].outlined.text,
            "def f(__graphmend_0__, __graphmend_1__, __graphmend_2__, __graphmend_3__, ):\n"
            " print(f'{__graphmend_0__}{(__graphmend_1__)!r} {__graphmend_2__}{(__graphmend_3__.item()):.1f}')\n");
  EXPECT_TRUE(made.shows("post('S', 'x.sum() = ', x.sum(), 'x.item()=', x)")) << made.shown();
}

TEST(Mend, FunctionsAreMendedWhereverTheyMayBreak) {
  const std::string text =
      "def f(x):\n    print(x)\n    assert x.any()\n    def g():\n        print(x)\n    return g\n";
  const LexResult lexed = lex(text);
  const ParseResult parsed = parse(text, lexed.tokens);
  MendRequest request;
  request.functions = {1};
  request.talkers = {"print"};
  const Mended mended = mend(text, lexed.tokens, parsed.tree, request);
  EXPECT_EQ(mended.mends.size(), 2u) << mended.text;
  EXPECT_TRUE(mended.declined.empty());
}

TEST(Mend, AFunctionBeginsWithItsDecorators) {
  const std::string text = "@a\n@b(1)\ndef f(x):\n    print(x)\n";
  const LexResult lexed = lex(text);
  const ParseResult parsed = parse(text, lexed.tokens);
  MendRequest request;
  request.functions = {1};
  request.talkers = {"print"};
  EXPECT_EQ(mend(text, lexed.tokens, parsed.tree, request).mends.size(), 1u);
}

TEST(Mend, CheckLeavesBranchesThatDoNotRaise) {
  EXPECT_NE(Case("def f(x):\n    if x.any():\n        x.go()\n", {2}).reason(), "");
}

TEST(Mend, PiecesCoverTheTextAndTellWhereItCameFrom) {
  Case made("def f(x):\n    print('é', x); print(x.item())\n    if x > 0: raise E\n", {2, 3});
  EXPECT_EQ(made.mended.mends.size(), 3u);
  uint32_t at = 0;
  for (const Piece& piece : made.mended.pieces) {
    EXPECT_EQ(piece.start, at);
    if (piece.copied) {
      EXPECT_EQ(Span({piece.start, piece.end}).in(made.mended.text), piece.original.in(made.text));
    }
    at = piece.end;
  }
  EXPECT_EQ(at, made.mended.text.size());
}

// The lines that are mended with one that broke.
std::vector<uint32_t> likes(const std::string& text, uint32_t line, bool speculates = false) {
  const Case made(text, {line}, {"print", "logger.*"}, true, speculates);
  std::vector<uint32_t> found;
  for (const Mend& mend : made.mended.mends) {
    if (mend.like != 0) {
      EXPECT_EQ(mend.like, line);
      found.push_back(mend.line);
    }
  }
  return found;
}

TEST(Mend, WhatIsLikeAPlaceThatBrokeIsMendedWithIt) {
  const std::string tests =
      "def f(x, t):\n"
      "    if t > 0: raise E\n"
      "    if x.isnan().any(): raise E\n"
      "    assert x.sum() > 0 or x.max() < 3\n"
      "    if x is None: raise E\n"
      "    if x.sum().item() > 2: raise E\n"
      "    if len(x.sum()) > 2: raise E\n"
      "    print(x)\n"
      "    def g(): assert x.sum() > 0\n"
      "    logger.info('a')\n"
      "    x.add_(1)\n"
      "def h(x):\n"
      "    assert x.sum() > 0\n";
  EXPECT_EQ(likes(tests, 2), (std::vector<uint32_t>{3, 4}));
  EXPECT_EQ(likes(tests, 4), (std::vector<uint32_t>{3}));
  EXPECT_EQ(likes(tests, 8), (std::vector<uint32_t>{10}));
  EXPECT_EQ(likes(tests, 11), (std::vector<uint32_t>{}));
  EXPECT_EQ(likes("if x.sum() > 0: raise E\nassert x.sum() > 0\n", 1), (std::vector<uint32_t>{}));
}

TEST(Mend, SizesThatNameTheSameAreMendedWithOneThatBroke) {
  const std::string sizes =
      "def f(x, y, n, m):\n"
      "    a = x[:n]\n"
      "    b = x.view(n - 1, 2).item()\n"
      "    for i in range(m):\n"
      "        c = torch.zeros(m + n)\n"
      "    print(x[n:])\n"
      "    d = n.item() + len(x[m:])\n"
      "    def g(): return x[:n]\n";
  // The size alone: of what is read there nobody has said that it broke.
  EXPECT_EQ(likes(sizes, 2, true), (std::vector<uint32_t>{3, 5, 7}));
  EXPECT_EQ(likes(sizes, 3, true), (std::vector<uint32_t>{2, 5, 7}));
  EXPECT_EQ(likes("def f(x, n, m):\n  x[:n]\n  x[:m]\n  x[:n, m]\n", 2, true), (std::vector<uint32_t>{4}));
  const Case both(sizes, {2, 4}, {"print"}, true, true);
  EXPECT_EQ(both.mended.mends.size(), 5U);
  EXPECT_EQ(likes(sizes, 2), (std::vector<uint32_t>{}));
}

TEST(Mend, LinesWithoutAStatementAreSaidSo) {
  EXPECT_NE(Case("x = 1\n\n\n", {3}).reason(), "");
  EXPECT_NE(Case("x = 1\n", {2000000000}).reason(), "");
}

TEST(Postpone, ComprehensionsAreReadInPlaceAndGoneThroughLater) {
  const std::string head = "import math\ndef f(x):\n    ";
  const Case dict(head + "print({k: math.exp(v.item()) for k, v in x.items() if k})\n", {3});
  EXPECT_TRUE(dict.shows("__graphmend__.post('S', [(k, v, ) for k, v in x.items() if k])")) << dict.shown();
  EXPECT_EQ(Case(head + "print(sum(v.item() for v in x))\n", {3}).reason(), "");
  EXPECT_NE(Case(head + "print(v.item() for v in x)\n", {3}).reason(), "");
  EXPECT_NE(Case(head + "print([v.item() for v in x if v.item()])\n", {3}).reason(), "");
}

TEST(Postpone, NamesOfBuiltinsMayBeTheProgramsOwn) {
  EXPECT_EQ(Case("def f(x):\n    print(round(x.item()))\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x, round):\n    print(round(x.item()))\n", {2}).reason(), "");
  EXPECT_NE(Case("def f(x, math):\n    print(math.exp(x.item()))\n", {2}).reason(), "");
}

}  // namespace
}  // namespace graphmend

// Tests of liveness: of statements and of ranges, by line.
#include "facts/liveness.h"

#include <gtest/gtest.h>

#include "facts/flow_test_support.h"

namespace graphmend {
namespace {

TEST(Liveness, ReadsAndWrites) {
  FunctionFlow f("def f(a, b):\n  x = a\n  y = b\n  x = y\n  return x\n");
  EXPECT_EQ(f.live_in(2), "a b");
  EXPECT_EQ(f.live_out(2), "b") << "x is written again before it is read";
  EXPECT_EQ(f.live_out(3), "y");
  EXPECT_EQ(f.live_out(4), "x");
  EXPECT_EQ(f.live_out(5), "");
}

TEST(Liveness, LoopsComeAround) {
  FunctionFlow f("def f(a):\n  t = 0\n  for i in a:\n    u = t\n    t = u + i\n  return t\n");
  EXPECT_EQ(f.live_out(4), "i u");
  EXPECT_EQ(f.live_out(5), "t");
  EXPECT_EQ(f.live_in(3), "a t");
}

TEST(Liveness, HandlersSeeWhatWasThereBefore) {
  FunctionFlow f("def f(a):\n  x = 1\n  try:\n    x = a()\n  except E:\n    return x\n  return 0\n");
  EXPECT_EQ(f.live_out(2), "a x") << "the call may raise before x is assigned";
  FunctionFlow g("def f(a):\n  x = 1\n  try:\n    x = 2\n    a()\n  except E:\n    return x\n  return 0\n");
  EXPECT_EQ(g.live_out(2), "a") << "what assigns x cannot raise";
}

TEST(Liveness, FinallyReads) {
  FunctionFlow f("def f(a):\n  x = 1\n  try:\n    return a()\n  finally:\n    b(x)\n");
  EXPECT_EQ(f.live_in(4), "a x");
  EXPECT_EQ(f.names(f.liveness.live_on_raise(f.at(4), f.at(4))), "x");
}

TEST(Liveness, DeleteNeedsItsName) {
  FunctionFlow f("def f(x):\n  a = 1\n  del x\n  return a\n");
  EXPECT_EQ(f.live_in(2), "x");
  EXPECT_EQ(f.live_out(3), "a");
}

TEST(Liveness, CapturedNamesStayLive) {
  FunctionFlow f("def f(a):\n  x = 1\n  g = lambda: x\n  x = 2\n  return g\n");
  EXPECT_EQ(f.live_out(4), "g x") << "the closure may be called later";
  EXPECT_EQ(f.live_out(5), "x");
  EXPECT_EQ(f.live_in(2), "") << "not before it was captured";
  FunctionFlow g("def f(a, t):\n  x = any(i > t for i in a)\n  t = 1\n  return x\n");
  EXPECT_EQ(g.live_out(2), "x") << "any() keeps nothing";
  FunctionFlow h("def f(a, t):\n  x = (i > t for i in a)\n  t = 1\n  return x\n");
  EXPECT_EQ(h.live_out(3), "t x") << "the generator runs later";
}

TEST(Liveness, ComprehensionsHaveNamesOfTheirOwn) {
  FunctionFlow f("def f(a, b):\n  x = 1\n  y = [x + b for x in a]\n  return x, y\n");
  EXPECT_EQ(f.live_in(3), "a b x");
  EXPECT_EQ(f.may(3, 3), "y");
}

TEST(Liveness, EverythingIsReadByLocals) {
  FunctionFlow f("def f(a, b):\n  x = 1\n  y = locals()\n  return 1\n");
  EXPECT_EQ(f.live_in(3), "a b x y");
  FunctionFlow g("def f(self, b):\n  x = 1\n  return super().f(x)\n");
  EXPECT_EQ(g.live_in(3), "self x") << "super() finds its first argument by itself";
}

TEST(Liveness, GlobalsAreNotLocal) {
  FunctionFlow f("def f(a):\n  global x\n  x = a\n  return x + y\n");
  EXPECT_EQ(f.live_out(3), "");
  EXPECT_EQ(f.may(3, 3), "");
}

TEST(Liveness, RangeNeedsAndMust) {
  FunctionFlow f("def f(a, b):\n  if a:\n    x = b\n    y = x\n  else:\n    x = 1\n  z = x\n  return z, y\n");
  EXPECT_EQ(f.needs(2, 2), "a b") << "x is written before it is read";
  EXPECT_EQ(f.must(2, 2), "x");
  EXPECT_EQ(f.may(2, 2), "x y");
  EXPECT_EQ(f.names(f.liveness.live_out(f.at(2), f.at(7))), "y z");
  EXPECT_EQ(f.needs(2, 7), "a b");
  EXPECT_EQ(f.needs(3, 4), "b");
}

TEST(Liveness, WalrusInConditionsIsNotNeeded) {
  FunctionFlow f("def f(a):\n  if a is not None and (m := a()) and m > 0:\n    b(m)\n  return a\n");
  EXPECT_EQ(f.needs(2, 2), "a");
  EXPECT_EQ(f.live_in(2), "a");
  EXPECT_EQ(f.must(2, 2), "");
  FunctionFlow g("def f(a):\n  x = a and (m := a()) and m\n  y = (n := 1) < n < (k := 2) < k\n");
  EXPECT_EQ(g.needs(2, 3), "a");
  EXPECT_EQ(g.must(2, 3), "n x y") << "k only if the comparison got there";
}

TEST(Liveness, MustIgnoresReturnAndRaise) {
  FunctionFlow f("def f(a):\n  if a:\n    return 1\n  elif b:\n    raise E\n  else:\n    x = 1\n  return x\n");
  EXPECT_EQ(f.must(2, 2), "x");
  FunctionFlow g("def f(a):\n  for i in a:\n    x = 1\n    if i:\n      break\n    y = 1\n  return x\n");
  EXPECT_EQ(g.must(2, 2), "");
  EXPECT_EQ(g.must(3, 6), "x");
  FunctionFlow h("def f(a):\n  if a:\n    with b:\n      return a()\n  else:\n    x = 1\n  y = 2\n");
  EXPECT_EQ(h.must(4, 4), "") << "nothing to bind";
  EXPECT_EQ(h.must(2, 2), "") << "`b` may swallow what is raised";
  FunctionFlow i("def f(a):\n  try:\n    if a:\n      return 1\n    x = 1\n  finally:\n    a()\n");
  EXPECT_EQ(i.must(2, 2), "x");
  EXPECT_EQ(i.must(3, 5), "x");
  FunctionFlow j("def f(a):\n  try:\n    return 1\n  finally:\n    if a:\n      x = 1\n");
  EXPECT_EQ(j.must(5, 5), "") << "what is done before a `return` goes on ends as ever";
  EXPECT_EQ(FunctionFlow("def f(a):\n  if a:\n    x = 1\n").must(2, 2), "") << "the end is no `return`";
}

TEST(Liveness, DeletedIsNotAssigned) {
  FunctionFlow f("def f(a):\n  x = 1\n  del x\n  y = 2\n");
  EXPECT_EQ(f.must(2, 4), "y");
  EXPECT_EQ(f.may(2, 4), "x y");
  FunctionFlow g("def f(a):\n  try:\n    a()\n  except E as e:\n    pass\n  b = 1\n");
  EXPECT_EQ(g.must(2, 2), "") << "the handler's name is gone at its end";
  EXPECT_EQ(g.may(2, 2), "e");
}

TEST(Liveness, AssertMayNotRun) {
  FunctionFlow f("def f(a):\n  x = 1\n  assert (x := a)\n  return x\n");
  EXPECT_EQ(f.live_in(3), "a x");
  EXPECT_EQ(f.must(3, 3), "");
}

TEST(Liveness, EndOfAnExceptionalFinallyIsItsEnd) {
  FunctionFlow f(
      "def f(a):\n  try:\n    try:\n      raise a\n    finally:\n      x = 1\n  except E:\n    return b\n  return c\n");
  EXPECT_EQ(f.must(6, 6), "x");
  EXPECT_EQ(f.names(f.liveness.live_out(f.at(6), f.at(6))), "");
  FunctionFlow g(
      "def f(a, q):\n  try:\n    try:\n      raise a\n    finally:\n      x = 1\n  except E:\n    return q\n  return "
      "0\n");
  EXPECT_EQ(g.live_out(6), "q") << "the exception goes on to the handler";
  EXPECT_EQ(g.names(g.liveness.live_on_raise(g.at(3), g.at(3))), "q");
  EXPECT_EQ(g.live_out(3), "");
}

TEST(Liveness, ClassesAndModulesAreOpen) {
  ParsedModule module("x = 1\ny = 2\nx = 3\n");
  const Cfg cfg = compute_cfg(module.tree, module.tokens, Tree::root());
  const Uses uses = compute_uses(module.text, module.tokens, module.tree, cfg, module.scopes);
  const Liveness live = compute_liveness(module.tree, cfg, uses);
  EXPECT_EQ(live.live_out(module.statement(1)).size(), 2u);
}

}  // namespace
}  // namespace graphmend

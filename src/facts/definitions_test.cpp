// Tests of reaching definitions: by line of the assignment, for names by line and spelling.
#include "facts/definitions.h"

#include <gtest/gtest.h>

#include "facts/flow_test_support.h"

namespace graphmend {
namespace {

TEST(Definitions, BranchesAndLoops) {
  FunctionFlow f("def f(a):\n  x = 1\n  if a:\n    x = 2\n  y = x\n  while a:\n    y = y + 1\n  return y\n");
  EXPECT_EQ(f.reaching(5, "x"), "2, 4");
  EXPECT_EQ(f.reaching(7, "y", 1), "5, 7");
  EXPECT_EQ(f.reaching(8, "y"), "5, 7");
  EXPECT_EQ(f.reaching(3, "a"), "entry");
}

TEST(Definitions, UnboundReaches) {
  FunctionFlow f("def f(a):\n  if a:\n    x = 1\n  print(x)\n  del x\n  return x\n");
  EXPECT_EQ(f.reaching(4, "x"), "3, unbound");
  EXPECT_EQ(f.reaching(6, "x"), "del 5");
  EXPECT_TRUE(f.definitions.may_be_unbound(f.module.name(4, "x")));
  EXPECT_FALSE(f.definitions.may_be_unbound(f.module.name(2, "a")));
  EXPECT_EQ(f.definitions.unbound_reads().size(), 3u);
}

TEST(Definitions, ExceptionsSeeBothSidesOfAnAssignment) {
  FunctionFlow f("def f(a):\n  x = 1\n  try:\n    x = a()\n    x = a()\n  except E:\n    return x\n  return x\n");
  EXPECT_EQ(f.reaching(7, "x"), "2, 4, 5");
  EXPECT_EQ(f.reaching(8, "x"), "5");
}

TEST(Definitions, FinallyPathsAreKeptApart) {
  FunctionFlow f("def f(a):\n  x = 1\n  try:\n    x = 2\n    a()\n    x = 3\n  finally:\n    y = x\n  return x, y\n");
  EXPECT_EQ(f.reaching(8, "x"), "4, 6");
  EXPECT_EQ(f.reaching(9, "x"), "6") << "the exception does not come here";
}

TEST(Definitions, HandlerNamesEnd) {
  FunctionFlow f("def f(a):\n  try:\n    a()\n  except E as e:\n    b(e)\n  return e\n");
  EXPECT_EQ(f.reaching(5, "e"), "4");
  EXPECT_EQ(f.reaching(6, "e"), "del 4, unbound");
}

TEST(Definitions, Walrus) {
  FunctionFlow f("def f(a):\n  if a and (m := a()):\n    b(m)\n  c(m)\n  d((n := a) + n, [k := x for x in a], k)\n");
  EXPECT_EQ(f.reaching(3, "m"), "2") << "the test held";
  EXPECT_EQ(f.reaching(4, "m"), "2, unbound");
  EXPECT_EQ(f.reaching(5, "n", 1), "5");
  EXPECT_EQ(f.reaching(5, "k", 1), "5, unbound") << "the comprehension may not run";
}

TEST(Definitions, SameStatementReadsBeforeItWrites) {
  FunctionFlow f("def f(x):\n  x = x + 1\n  x += x\n  x, y = y, x\n");
  EXPECT_EQ(f.reaching(2, "x", 1), "entry");
  EXPECT_EQ(f.reaching(3, "x", 1), "2");
  EXPECT_EQ(f.reaching(4, "y", 1), "unbound");
}

TEST(Definitions, ClosuresMayWrite) {
  FunctionFlow f("def f(a):\n  x = 1\n  def g():\n    nonlocal x\n    x = 2\n  b = x\n  x = 3\n  a(g)\n  return x\n");
  EXPECT_EQ(f.reaching(9, "x"), "7, closure 4, closure 5");
  EXPECT_EQ(f.reaching(6, "x"), "2, closure 4, closure 5");
}

TEST(Definitions, MatchCaptures) {
  FunctionFlow f(
      "def f(a):\n  match a:\n    case [x, *y] if x:\n      b(x, y)\n    case {'k': x, **z}:\n      c(x, z)\n  return "
      "x\n");
  EXPECT_EQ(f.reaching(4, "y"), "3");
  EXPECT_EQ(f.reaching(6, "x"), "5");
  EXPECT_EQ(f.reaching(7, "x"), "3, 5, unbound");
}

TEST(Definitions, BoundBeforeAnElement) {
  FunctionFlow f("def f(a):\n  if a:\n    x = 1\n  return a\n");
  const ElementId end = f.cfg.entries(f.at(4))[0];
  const SymbolId x = f.module.scopes.binding(f.module.name(3, "x"));
  EXPECT_EQ(f.definitions.bound(end, x), Definitions::Bound::Maybe);
  EXPECT_EQ(f.definitions.bound(end, f.uses.parameters()[0]), Definitions::Bound::Yes);
  EXPECT_EQ(f.definitions.bound(f.cfg.entries(f.at(2))[0], x), Definitions::Bound::No);
}

}  // namespace
}  // namespace graphmend

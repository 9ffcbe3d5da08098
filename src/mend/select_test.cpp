// Select on small texts. In: text and the line of a branch. Out: the mended text, or the reason why it is left.
#include "mend/select.h"

#include <gtest/gtest.h>

#include "mend/mend_test_support.h"

namespace graphmend {
namespace {

std::string reason_for(std::string body) {
  return MendCase("import torch\ndef f(x, y):\n" + std::move(body), {3}).reason();
}

TEST(Select, ComputesBothSidesAndJoinsThem) {
  MendCase made("def f(x):\n    if x.any():\n        x = x + 1\n    return x\n", {2});
  EXPECT_EQ(
      made.shown(),
      "def f(x):\n"
      "    if __graphmend__.may_select('S') and __graphmend__.is_plain('S', (x,)) and __graphmend__.selects('S', "
      "((graphmend_c0_14_ := (x.any())), )):\n"
      "        graphmend_old14_ = (x,)\n"
      "        x = x + 1\n"
      "        graphmend_side0_14_ = (x,)\n"
      "        (x,) = graphmend_old14_\n"
      "        graphmend_side1_14_ = (x,)\n"
      "        (x,) = __graphmend__.join('S', (graphmend_c0_14_, ), (graphmend_side0_14_, graphmend_side1_14_, ))\n"
      "    elif x.any():\n        x = x + 1\n    return x\n");
}

TEST(Select, NamesThatNobodyReadsLaterAreNotJoined) {
  MendCase made("def f(x):\n    if x.any():\n        t = 5\n        x = x + t\n    return x\n", {2});
  EXPECT_EQ(made.reason(), "");
  EXPECT_TRUE(made.shows("graphmend_side0_14_ = (x,)")) << made.shown();
}

TEST(Select, ReturnsOnAllSides) {
  MendCase made("def f(x):\n    if x.any():\n        return x\n    y = x + 1\n    return y\n", {2});
  EXPECT_TRUE(
      made.shows("        graphmend_side0_14_ = ((x),)\n        y = x + 1\n        graphmend_side1_14_ = ((y),)\n"
                 "        return __graphmend__.join("))
      << made.shown();
  MendCase mixed("def f(x):\n    if x.any():\n        return x\n    else:\n        x = 1\n    return x\n", {2});
  EXPECT_NE(mixed.reason(), "");
}

TEST(Select, AChainOfElifsIsOneSelection) {
  MendCase made(
      "def f(x):\n    if x.any():\n        y = 1\n    elif x.all():\n        y = 2\n    else:\n        y = 3\n    "
      "return y\n",
      {2});
  EXPECT_TRUE(
      made.shows("join('S', (graphmend_c0_14_, graphmend_c1_14_, ), (graphmend_side0_14_, graphmend_side1_14_, "
                 "graphmend_side2_14_, ))"))
      << made.shown();
}

TEST(Select, OnlyTheRestOfAChainWhenTheElifBroke) {
  MendCase made(
      "def f(x, k):\n    if k:\n        y = 1\n    elif x.any():\n        y = 2\n    else:\n        y = 3\n    return "
      "y\n",
      {4});
  EXPECT_TRUE(made.shows("    elif __graphmend__.may_select('S') and __graphmend__.is_plain(")) << made.shown();
  EXPECT_TRUE(made.shows("\n    elif x.any():\n        y = 2\n")) << made.shown();
}

TEST(Select, Choices) {
  MendCase made("def f(x):\n    return (x + 1 if x.any() else x) * 2\n", {2});
  EXPECT_EQ(made.shown(),
            "def f(x):\n    return ((__graphmend__.join('S', (graphmend_c22_,), ((x + 1,), (x,)))[0] if "
            "__graphmend__.may_select('S') and __graphmend__.is_plain('S', (x,)) and __graphmend__.selects('S', "
            "((graphmend_c22_ := (x.any())),)) else (x + 1 if x.any() else x))) * 2\n");
}

TEST(Select, AttributesAreJoinedLikeNames) {
  MendCase made("def f(self, x):\n    if x.any():\n        self.scale = x + 1\n    return x\n", {2});
  EXPECT_TRUE(made.shows("is_plain('S', (x,)) and ") && made.shows(", (self, 'scale')):"))
      << made.shown() << made.reason();
  EXPECT_TRUE(made.shows("(self.scale,) = __graphmend__.join(")) << made.shown();
  EXPECT_NE(reason_for("    if x.any():\n        y = x\n        y.a = 1\n    return x\n"), "");
  EXPECT_NE(reason_for("    if x.any():\n        x.y.a = 1\n    return x\n"), "");
}

TEST(Select, AsksForAllThatItTakesForATensor) {
  MendCase made(
      "import math\nimport torch\nimport config\nA = torch.ones(2)\nclass C:\n  def f(self, x):\n"
      "    if x.any():\n        t = self.a.b.add(A.T, other=self.__c)\n        x: torch.Tensor = t.mul(config.d * "
      "math.pi)\n"
      "    else:\n        x = torch.stack([each.sub(i) for i, each in enumerate(self.e)])\n    return x\n",
      {7});
  EXPECT_TRUE(
      made.shows("is_plain('S', (A, 'T'), (config, 'd'), (self, '_C__c'), (self, 'a', 'b'), (self, 'e'), (x,)) "
                 "and "))
      << made.shown() << made.reason();
}

TEST(Select, LeavesFunctionsThatReadMoreThanTheyAreGiven) {
  const std::string branch = "def f(x):\n    if x.any():\n        x = g(x)\n    return x\n";
  EXPECT_EQ(MendCase("def g(x, k=1):\n    return x.add(k)\n" + branch, {4}).reason(), "");
  EXPECT_NE(MendCase("def g(x, k=A):\n    return x.add(k)\n" + branch, {4}).reason(), "");
  EXPECT_NE(MendCase("A = h()\ndef g(x):\n    return A.add(x)\n" + branch, {5}).reason(), "");
}

TEST(Select, BranchesInsideAreMendedToo) {
  MendCase made(
      "def f(x):\n    if x.any():\n        x = x + 1\n        if x.all():\n            x = x - 1\n    return x\n", {2});
  EXPECT_EQ(made.mended.mends.size(), 2u) << made.shown();
}

TEST(Select, LeavesWhatDoesMoreThanCompute) {
  EXPECT_NE(reason_for("    if x.any():\n        y.add_(1)\n    return y\n").find("does more than compute"),
            std::string::npos);
  EXPECT_NE(reason_for("    if x.any():\n        y = go(y)\n    return y\n").find("is not known"), std::string::npos);
  EXPECT_NE(reason_for("    if x.any():\n        y += 1\n    return y\n").find("more than compute"), std::string::npos);
  EXPECT_NE(reason_for("    if x.any():\n        y = torch.matmul(x, y)\n    return y\n").find("costs more"),
            std::string::npos);
  EXPECT_NE(reason_for("    if x.any():\n        y = torch.rand(3)\n    return y\n").find("more than compute"),
            std::string::npos);
  EXPECT_NE(reason_for("    if x.any():\n        y = x.sum().item()\n    return y\n").find("value in Python"),
            std::string::npos);
}

TEST(Select, LeavesNamesThatMayHaveNoValue) {
  EXPECT_NE(reason_for("    if x.any():\n        z = 1\n    return z\n").find("may have no value"), std::string::npos);
  EXPECT_EQ(reason_for("    if x.any():\n        z = 1\n    else:\n        z = 2\n    return z\n"), "");
}

}  // namespace
}  // namespace graphmend

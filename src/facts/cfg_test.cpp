// Tests of control flow: which blocks are there, where exceptions and jumps go.
#include "facts/cfg.h"

#include <gtest/gtest.h>

#include <set>

#include "facts/flow_test_support.h"

namespace graphmend {
namespace {

// Lines of the elements that may follow directly on those of a line; 0 is the end of the function, -1 its raising.
class Follow {
 public:
  explicit Follow(std::string source) : flow_(std::move(source)) {}

  std::set<int> after(int line, bool raised = false) const {
    std::set<int> found;
    const Cfg& cfg = flow_.cfg;
    for (ElementId e(0); e.index < cfg.element_count(); ++e) {
      if (line_of(e) != line || !cfg.reachable(cfg[e].block)) continue;
      const Block& block = cfg[cfg[e].block];
      if (raised) {
        if (cfg[e].may_raise) add(block.on_raise, found);
      } else if (e + 1 < block.end) {
        found.insert(line_of(e + 1));
      } else {
        for (const Edge& edge : cfg.edges(cfg[e].block)) add(edge.to, found);
      }
    }
    return found;
  }
  std::set<int> raised(int line) const { return after(line, true); }
  const FunctionFlow& flow() const { return flow_; }
  size_t copies(int line) const { return flow_.cfg.entries(flow_.at(static_cast<uint32_t>(line))).size(); }
  bool reachable(int line) const {
    const auto entries = flow_.cfg.entries(flow_.at(static_cast<uint32_t>(line)));
    for (ElementId e : entries) {
      if (flow_.cfg.reachable(flow_.cfg[e].block)) return true;
    }
    return false;
  }

 private:
  int line_of(ElementId e) const { return static_cast<int>(flow_.module.line_of(flow_.cfg[e].node)); }
  void add(BlockId to, std::set<int>& found) const {
    const Cfg& cfg = flow_.cfg;
    if (to == cfg.exit()) {
      found.insert(0);
    } else if (to == cfg.raise_exit()) {
      found.insert(-1);
    } else if (cfg[to].first < cfg[to].end) {
      found.insert(line_of(cfg[to].first));
    } else {
      for (const Edge& edge : cfg.edges(to)) add(edge.to, found);
    }
  }

  FunctionFlow flow_;
};

using Lines = std::set<int>;

TEST(Cfg, StraightLineAndBranches) {
  Follow f("def f(a):\n  x = a\n  if x:\n    y = 1\n  elif a:\n    y = 2\n  z = 3\n");
  EXPECT_EQ(f.after(2), Lines({3}));
  EXPECT_EQ(f.after(3), Lines({4, 5}));
  EXPECT_EQ(f.after(5), Lines({6, 7}));
  EXPECT_EQ(f.after(7), Lines({0}));
  EXPECT_EQ(f.raised(2), Lines({-1}));
  EXPECT_EQ(f.raised(4), Lines()) << "a constant in a local name cannot raise";
}

TEST(Cfg, LoopsWithElse) {
  Follow f(
      "def f(a):\n  for i in a:\n    if i:\n      break\n    if a:\n      continue\n    g()\n  else:\n    x = 1\n  y = "
      "2\n");
  EXPECT_EQ(f.after(4), Lines({10})) << "break jumps over the else";
  EXPECT_EQ(f.after(6), Lines({2}));
  EXPECT_EQ(f.after(7), Lines({2}));
  EXPECT_EQ(f.after(9), Lines({10}));
}

TEST(Cfg, WhileTrueHasNoWayOutButBreak) {
  Follow f("def f(a):\n  while True:\n    if a:\n      break\n  else:\n    x = 1\n  y = 2\n");
  EXPECT_FALSE(f.reachable(6));
  EXPECT_TRUE(f.reachable(7));
  Follow g("def f(a):\n  while True:\n    a()\n  y = 2\n");
  EXPECT_FALSE(g.reachable(4));
}

TEST(Cfg, ConditionsAreTakenApart) {
  Follow f("def f(a, b, c):\n  if (a and\n      not (b or\n           c)):\n    x = 1\n  y = 2\n");
  EXPECT_EQ(f.after(2), Lines({3, 6}));
  EXPECT_EQ(f.after(3), Lines({4, 6}));
  EXPECT_EQ(f.after(4), Lines({5, 6}));
}

TEST(Cfg, HandlersInOrder) {
  Follow f(
      "def f(a):\n  try:\n    a()\n  except E:\n    x = 1\n  except F as e:\n    y = g\n  else:\n    h()\n  z = 1\n");
  EXPECT_EQ(f.raised(3), Lines({4}));
  EXPECT_EQ(f.after(4), Lines({5, 6}));
  EXPECT_EQ(f.after(6), Lines({-1, 6, 7, 10})) << "handler, bind, unbind after body and after an exception in it";
  EXPECT_EQ(f.raised(7), Lines({6})) << "the name is deleted when the handler raises";
  EXPECT_EQ(f.raised(9), Lines({-1})) << "the else is not protected";
  Follow bare("def f(a):\n  try:\n    a()\n  except:\n    x = 1\n  z = 1\n");
  EXPECT_EQ(bare.after(4), Lines({5})) << "a bare except leaves nothing over";
}

TEST(Cfg, FinallyIsCopiedForEachWay) {
  Follow f(
      "def f(a):\n  for i in a:\n    try:\n      if a:\n        return g()\n      if i:\n        break\n      "
      "continue\n"
      "    finally:\n      h()\n  z = 1\n");
  EXPECT_EQ(f.copies(10), 4u) << "exception, return, break, continue; nothing falls through";
  EXPECT_EQ(f.after(10), Lines({-1, 0, 2, 11}));
  EXPECT_EQ(f.after(5), Lines({10}));
  // Only the copy of `return` returns.
  const Cfg& cfg = f.flow().cfg;
  unsigned returning = 0;
  for (ElementId e : cfg.entries(f.flow().at(10))) {
    for (const Edge& edge : cfg.edges(cfg[e].block)) returning += edge.to == cfg.exit() ? 1 : 0;
  }
  EXPECT_EQ(returning, 1u);
}

TEST(Cfg, ReturnInFinallySwallows) {
  Follow f("def f(a):\n  try:\n    a()\n  finally:\n    return 1\n");
  EXPECT_EQ(f.after(5), Lines({0})) << "the exception does not go on";
  Follow g("def f(a):\n  while a:\n    try:\n      return a()\n    finally:\n      continue\n");
  EXPECT_EQ(g.after(6), Lines({2}));
}

TEST(Cfg, NestedFinallyIsBounded) {
  std::string source = "def f(a):\n";
  std::string indent = "  ";
  for (int i = 0; i < 40; ++i) {
    source += indent + "try:\n" + indent + "  a()\n" + indent + "finally:\n";
    indent += "  ";
  }
  source += indent + "b()\n";
  FunctionFlow flow(source);
  EXPECT_LT(flow.cfg.element_count(), 5u * 2u * 41u);
}

TEST(Cfg, WithMaySwallow) {
  Follow f("def f(a):\n  with a() as b:\n    c()\n  d = 1\n");
  EXPECT_EQ(f.raised(3), Lines({2}));
  EXPECT_EQ(f.after(2), Lines({-1, 2, 3, 4}));
  Follow g("def f(a):\n  with torch.no_grad():\n    c = a()\n  d = c\n");
  EXPECT_EQ(g.flow().must(2, 2), "c") << "which never swallows";
  EXPECT_EQ(f.flow().must(2, 2), "b") << "only what the body raises can be swallowed";
  EXPECT_EQ(Follow("def f(a):\n  with a():\n    b = c()\n  d = 1\n").flow().must(2, 2), "");
}

TEST(Cfg, MatchFallsThroughItsCases) {
  Follow f(
      "def f(a):\n  match a:\n    case 1:\n      x = 1\n    case [b] if b:\n      x = 2\n    case _:\n      x = 3\n  y "
      "= 1\n");
  EXPECT_EQ(f.after(3), Lines({3, 4, 5}));
  EXPECT_EQ(f.after(5), Lines({5, 6, 7}));
  EXPECT_EQ(f.after(7), Lines({7, 8})) << "the last always matches";
}

TEST(Cfg, ExceptStarTriesAllHandlers) {
  Follow f("def f(a):\n  try:\n    a()\n  except* E:\n    b()\n  except* F:\n    c()\n  d = 1\n");
  EXPECT_EQ(f.after(5), Lines({6}));
  EXPECT_EQ(f.raised(5), Lines({6}));
  EXPECT_EQ(f.after(7), Lines({-1, 8}));
}

TEST(Cfg, YieldMayBeTheEnd) {
  Follow f("def f(a):\n  try:\n    yield 1\n  finally:\n    b = a\n");
  EXPECT_EQ(f.raised(3), Lines({5}));
}

TEST(Cfg, BrokenTextDoesNoHarm) {
  for (const char* broken :
       {"def f(a):\n  try:\n  except\n", "def f(:\n  for in x:\n    break\n", "def f():\n  match x:\n",
        "def f():\n  with\n    x\n", "def f():\n  break\n  continue\n", "def f():\n  if\n",
        "def f():\n  while not:\n    pass\n", "def f():\n  a and\n  finally:\n    x\n"}) {
    ParsedModule module(broken);
    for (NodeId id(0); id.index < module.tree.size(); ++id) {
      const NodeKind kind = module.tree.kind(id);
      if (kind != NodeKind::FunctionDef && kind != NodeKind::Module) continue;
      const Cfg cfg = compute_cfg(module.tree, module.tokens, id, module.text);
      const Uses uses = compute_uses(module.text, module.tokens, module.tree, cfg, module.scopes);
      EXPECT_GE(compute_definitions(cfg, uses).size(), uses.own().size());
    }
  }
}

TEST(Cfg, LongAndDeepInputTakesLinearTime) {
  std::string lines = "def f(a):\n";
  for (int i = 0; i < 50'000; ++i) lines += "  a = a + 1\n";
  FunctionFlow straight(lines);
  EXPECT_EQ(straight.live_in(2), "a");
  std::string chain = "def f(a):\n  return a";
  for (int i = 0; i < 100'000; ++i) chain += ".b(a)";
  EXPECT_EQ(FunctionFlow(chain + "\n").live_in(2), "a");
  std::string nots = "def f(a):\n  if ";
  for (int i = 0; i < 1'000; ++i) nots += "not ";
  EXPECT_EQ(FunctionFlow(nots + "a:\n    b = 1\n").live_in(2), "a");
}

}  // namespace
}  // namespace graphmend

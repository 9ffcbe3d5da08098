// Tests of effects: of statements by line, and of functions by name.
#include "facts/effects.h"

#include <gtest/gtest.h>

#include "facts/effects_table.h"
#include "facts/flow_test_support.h"

namespace graphmend {
namespace {

constexpr std::string_view kHead = "import torch, math, logging, warnings\nimport torch.nn.functional as F\n";
constexpr uint32_t kHeadLines = 2;

struct Analysed {
  ParsedModule module;
  ModuleEffects effects;

  explicit Analysed(const std::string& source)
      : module(std::string(kHead) + source),
        effects(compute_effects(module.text, module.tokens, module.tree, module.scopes)) {}
  Effects line(uint32_t number) const { return effects.of(module.statement(number + kHeadLines)); }
};

// Of one statement in `def f(self, x, y, n):` of a class.
Effects of(const std::string& statement) {
  return Analysed("class C:\n  def f(self, x, y, n):\n    " + statement + "\n").line(3);
}

TEST(Effects, TotalTensorCode) {
  for (const char* text : {"z = torch.clamp(x, min=-1, max=1)", "z = F.relu(x)", "z = torch.where(x > 0, x, y)",
                           "z = x.abs() + y * 2", "z = torch.isinf(x).any()", "z = -x / y",
                           "z = torch.finfo(x.dtype).max - 1000", "z = x.to(torch.float16)", "z = x[..., 0, :-1]"}) {
    const Effects effects = of(text);
    EXPECT_TRUE(effects.pure()) << text << ": " << effects_text(effects);
    EXPECT_TRUE(effects.total()) << text << ": " << effects_text(effects);
  }
  EXPECT_FALSE(of("z = torch.clamp(x, min=-1, max=1)").syncs());
  EXPECT_FALSE(of("z = 1").may_raise());
  EXPECT_TRUE(of("z = x + y").may_raise_on_shapes());
}

TEST(Effects, RaisesOnValues) {
  for (const char* text : {"z = x[y]", "z = x // y", "z = x % n", "z = x.gather(0, y)", "z = F.embedding(x, y)",
                           "z = torch.div(x, y, rounding_mode='floor')", "assert x", "raise x", "z = int(x)",
                           "z = math.sqrt(x)", "z = torch.linalg.inv(x)", "x[y] = 0", "z = x.nonzero()"}) {
    EXPECT_TRUE(of(text).may_raise_on_values()) << text;
  }
  EXPECT_FALSE(of("z = x // 2").may_raise_on_values());
  EXPECT_TRUE(of("z = x // 0").may_raise_on_values());
}

TEST(Effects, Writes) {
  EXPECT_TRUE(of("x.add_(1)").has(effect::kWritesLocal));
  EXPECT_TRUE(of("x.view(-1).mul_(2)").has(effect::kWritesLocal)) << "of a view";
  EXPECT_TRUE(of("self.buf.zero_()").has(effect::kWritesSelf));
  EXPECT_TRUE(of("self.a = x").has(effect::kWritesSelf));
  EXPECT_TRUE(of("self.a[0] = x").has(effect::kWritesSelf));
  EXPECT_TRUE(of("x += 1").has(effect::kWritesLocal));
  EXPECT_TRUE(of("torch.add(x, y, out=n)").has(effect::kWritesLocal));
  EXPECT_TRUE(of("F.relu(x, inplace=True)").has(effect::kWritesLocal));
  EXPECT_FALSE(of("F.relu(x, inplace=False)").writes_state());
  EXPECT_TRUE(of("del self.a").has(effect::kWritesSelf));
  EXPECT_TRUE(of("torch.manual_seed(0)").has(effect::kWritesGlobal));
  EXPECT_TRUE(Analysed("def f():\n  global g\n  g = 1\n").line(3).has(effect::kWritesGlobal));
  EXPECT_TRUE(Analysed("G = []\ndef f():\n  G[0] = 1\n").line(3).has(effect::kWritesGlobal));
  EXPECT_FALSE(of("z = x").writes_state()) << "a local name is not state";
}

TEST(Effects, WriteSitesNameTheirRoots) {
  Analysed a("def f(x, y):\n  x[0] = y\n  y += 1\n");
  const auto sites = a.effects.writes(a.module.tree, a.module.statement(4), a.module.statement(5));
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(a.module.scopes.name(sites[0].variable), "x");
  EXPECT_FALSE(sites[0].by_operator);
  EXPECT_EQ(a.module.scopes.name(sites[1].variable), "y");
  EXPECT_TRUE(sites[1].by_operator);
}

TEST(Effects, TalkAndRandom) {
  EXPECT_TRUE(of("print(x)").talks());
  EXPECT_TRUE(of("logging.info(x)").talks());
  EXPECT_TRUE(of("warnings.warn('a')").talks());
  EXPECT_TRUE(Analysed("log_it = logging.getLogger(__name__)\ndef f(x):\n  log_it.warning(x)\n").line(3).talks());
  EXPECT_FALSE(of("print(x)").unknown());
  EXPECT_TRUE(of("z = torch.rand(3)").random());
  EXPECT_TRUE(of("z = F.dropout(x)").random());
  EXPECT_TRUE(of("x.normal_()").random());
  EXPECT_TRUE(of("x.normal_()").has(effect::kWritesLocal));
}

TEST(Effects, Syncs) {
  for (const char* text : {"z = x.item()", "z = bool(x)", "z = not x", "z = x and y", "print(x)", "z = f'{x}'",
                           "z = 1 if x else 2", "z = x < y < n", "z = x.tolist()"}) {
    EXPECT_TRUE(of(text).syncs()) << text;
  }
  EXPECT_FALSE(of("z = 1 if x is None else 2").syncs());
}

TEST(Effects, UnknownIsFeared) {
  for (const char* text : {"z = y(x)", "z = self.linear(x)", "z = x.frobnicate()", "import os", "yield x",
                           "z = torch.no_such_thing(x)", "with y: pass", "z = sorted(x, key=y)"}) {
    const Effects effects = of(text);
    EXPECT_TRUE(effects.unknown() && effects.writes_state() && effects.talks() && effects.may_raise()) << text;
  }
  EXPECT_FALSE(of("with torch.no_grad(): z = x").unknown());
}

TEST(Effects, AttributesOfModules) {
  EXPECT_EQ(of("z = torch.float32").bits | of("z = math.pi").bits, 0);
  EXPECT_TRUE(of("z = torch.backends.cudnn.enabled").reads_state());
  EXPECT_TRUE(Analysed("import settings\ndef f(x):\n  z = settings.on\n").line(3).reads_state());
  EXPECT_FALSE(of("z = torch.nn.functional.relu(x)").reads_state());
}

TEST(Effects, ShadowedNamesAreNotTheTables) {
  EXPECT_TRUE(Analysed("def f(len, x):\n  z = len(x)\n").line(2).unknown());
  EXPECT_TRUE(Analysed("from . import math\ndef f(x):\n  z = math.sqrt(x)\n").line(3).unknown());
  EXPECT_TRUE(Analysed("torch = object()\ndef f(x):\n  z = torch.relu(x)\n").line(3).unknown())
      << "no longer the module";
  EXPECT_TRUE(Analysed("from .a import b\ndef f(x):\n  z = b.c.add(x)\n").line(3).unknown()) << "who is that";
}

TEST(Effects, FunctionsOfTheModule) {
  Analysed a(
      "def pure(x):\n  return torch.relu(x)\n"
      "def talk(x):\n  print(x)\n"
      "def outer(x):\n  return talk(pure(x))\n"
      "def poke(x):\n  x.zero_()\n"
      "def g(y):\n  poke(y)\n  poke(y + 1)\n  z = pure(y)\n  outer(y)\n");
  EXPECT_FALSE(a.line(11).writes_state()) << "a sum is new";
  EXPECT_TRUE(a.line(10).has(effect::kWritesLocal));
  EXPECT_TRUE(a.line(12).pure());
  EXPECT_TRUE(a.line(12).total());
  EXPECT_TRUE(a.line(13).talks());
  EXPECT_FALSE(a.line(13).unknown());
}

TEST(Effects, MethodsOfTheClass) {
  Analysed a(
      "class C:\n  def set(self, x):\n    self.a = x\n  def f(self, x):\n    self.set(x)\n    self.unknown(x)\n"
      "  def two(self): return 1\n  def two(self): return 2\n  def g(self): return self.two()\n");
  EXPECT_TRUE(a.line(5).has(effect::kWritesSelf));
  EXPECT_TRUE(a.line(5).has(effect::kAssumesMethods));
  EXPECT_FALSE(a.line(5).unknown());
  EXPECT_TRUE(a.line(6).unknown());
  EXPECT_TRUE(a.effects.of_call(a.module.statement(9 + kHeadLines)).unknown()) << "defined twice";
}

TEST(Effects, RecursionMayNotEnd) {
  Analysed a("def f(n):\n  return g(n)\ndef g(n):\n  return f(n)\ndef h(n):\n  return f(n)\n");
  for (uint32_t line : {1u, 3u, 5u}) {
    EXPECT_TRUE(a.effects.of_call(a.module.statement(line + kHeadLines)).may_not_end()) << line;
  }
  EXPECT_TRUE(of("while x: pass").may_not_end());
}

TEST(Effects, GeneratorsAndDecoratedFunctionsAreOpaque) {
  Analysed a("def g():\n  yield 1\n@deco\ndef d(): pass\nasync def c(): pass\ndef f():\n  g()\n  d()\n  c()\n");
  EXPECT_TRUE(a.line(7).unknown());
  EXPECT_TRUE(a.line(8).unknown());
  EXPECT_TRUE(a.line(9).unknown());
}

TEST(Effects, DefiningIsNotRunning) {
  Analysed a("def f(x):\n  g = lambda: print(x)\n  def h(): print(x)\n  return [print(x) for i in x]\n");
  EXPECT_FALSE(a.line(2).talks());
  EXPECT_FALSE(a.line(3).talks());
  EXPECT_TRUE(a.line(4).talks());
}

TEST(Effects, UnboundNamesRaise) {
  Analysed a("def f(x):\n  if x is None:\n    y = 1\n  z = y\n  w = [y for y in z]\n  return w\n");
  EXPECT_TRUE(a.line(4).may_raise_on_values());
  EXPECT_FALSE(a.line(6).may_raise());
}

TEST(EffectsTable, Lookups) {
  EXPECT_TRUE(known_method("add_")->writes_receiver);
  EXPECT_FALSE(known_method("add")->writes_receiver);
  EXPECT_FALSE(known_method("__add__").has_value());
  EXPECT_TRUE(known_function("torch.relu_")->writes_arguments);
  EXPECT_TRUE(known_function("torch.Tensor.add_")->writes_arguments);
  EXPECT_FALSE(known_function("torch.nn.functional.nope").has_value());
  EXPECT_FALSE(known_function("tensorflow.relu").has_value());
}

}  // namespace
}  // namespace graphmend

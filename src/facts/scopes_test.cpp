// Tests of scopes and bindings. What CPython says of the same programs is compared in tests/test_scopes.py.
#include "facts/scopes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "facts/dump_scopes.h"
#include "lex/lexer.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

// Source with all that is known of it.
struct Program {
  std::string text;
  Tokens tokens;
  Tree tree;
  Scopes scopes;

  explicit Program(std::string source, Version target = kAnyVersion) : text(std::move(source)) {
    tokens = lex(text).tokens;
    tree = parse(text, tokens, target).tree;
    scopes = compute_scopes(text, tokens, tree, target);
  }

  std::string dump() const { return dump_scopes(text, tokens, tree, scopes); }

  // The n-th node of that kind that begins with this text.
  NodeId node(NodeKind kind, std::string_view spelling, int n = 0) const {
    for (NodeId id = Tree::root(); id.index < tree.size(); ++id) {
      const std::string_view rest = std::string_view(text).substr(node_span(tree, tokens, id).start);
      if (tree.kind(id) == kind && rest.starts_with(spelling) && n-- == 0) return id;
    }
    ADD_FAILURE() << "no node " << spelling;
    return Tree::root();
  }
  NodeId name(std::string_view spelling, int n = 0) const { return node(NodeKind::Name, spelling, n); }

  ScopeId scope(std::string_view name) const {
    for (ScopeId id = Scopes::module(); id.index < scopes.scope_count(); ++id) {
      if (scopes.name(id) == name) return id;
    }
    ADD_FAILURE() << "no scope " << name;
    return Scopes::module();
  }

  std::vector<std::string> sites(SymbolId symbol) const {
    std::vector<std::string> texts;
    for (NodeId site : scopes.sites(symbol)) {
      texts.emplace_back(std::string(node_name(tree.kind(site))) + "@" +
                         std::to_string(node_span(tree, tokens, site).start));
    }
    return texts;
  }
};

using Sites = std::vector<std::string>;

TEST(Scopes, ClosureSharesTheVariableOfTheFunctionAround) {
  EXPECT_EQ(Program("def f(x):\n  return lambda: x\n").dump(),
            "module top line 0\n"
            "  f: local, assigned namespace; at 1:0\n"
            "  function f line 1\n"
            "    x: cell, parameter; at 1:6\n"
            "    function lambda line 2 nested\n"
            "      x: free, referenced; of f line 1\n");
}

TEST(Scopes, ClassNamesAreNotSeenInMethods) {
  EXPECT_EQ(Program("class C:\n  a = 1\n  def m(self): return a, super\n").dump(),
            "module top line 0\n"
            "  C: local, assigned namespace; at 1:0\n"
            "  class C line 1\n"
            "    a: local, assigned; at 2:2\n"
            "    m: local, assigned namespace; at 3:2\n"
            "    function m line 3\n"
            "      self: local, parameter; at 3:8\n"
            "      a: global-implicit, referenced;\n"
            "      super: global-implicit, referenced;\n"
            "      __class__: free, referenced;\n");
}

TEST(Scopes, ComprehensionsAreInlinedSince312) {
  const std::string source = "def f(x):\n  return [x + i for i in x]\n";
  EXPECT_EQ(Program(source).dump(),
            "module top line 0\n"
            "  f: local, assigned namespace; at 1:0\n"
            "  function f line 1\n"
            "    x: local, parameter referenced; at 1:6\n"
            "    i: local, assigned referenced comprehension-target; from-comprehension\n"
            "    function listcomp line 2 nested inlined\n"
            "      .0: local, parameter;\n"
            "      x: free, referenced; of f line 1\n"
            "      i: local, assigned referenced comprehension-target; at 2:20\n");
  EXPECT_EQ(Program(source, Version{11}).dump(),
            "module top line 0\n"
            "  f: local, assigned namespace; at 1:0\n"
            "  function f line 1\n"
            "    x: cell, parameter referenced; at 1:6\n"
            "    function listcomp line 2 nested\n"
            "      .0: local, parameter;\n"
            "      x: free, referenced; of f line 1\n"
            "      i: local, assigned referenced comprehension-target; at 2:20\n");
}

TEST(Scopes, AComprehensionsTargetIsNotTheFunctionsVariable) {
  const Program program("def f():\n  i = 1\n  [i for i in i]\n  return i\n");
  const SymbolId outer = program.scopes.binding(program.name("i = 1"));
  EXPECT_EQ(program.scopes.binding(program.name("i]")), outer);
  EXPECT_EQ(program.scopes.binding(program.name("i\n", 0)), outer);
  EXPECT_EQ(program.scopes.binding(program.name("i for")), program.scopes.binding(program.name("i in")));
  EXPECT_NE(program.scopes.binding(program.name("i in")), outer);
  EXPECT_EQ(program.scopes.scope_of(program.name("i in")), program.scope("listcomp"));
  EXPECT_EQ(program.scopes.scope_of(program.name("i]")), program.scope("f"));
}

TEST(Scopes, SitesComeFromEveryScopeInSourceOrder) {
  const Program program(
      "import x\n"
      "def g():\n  global x\n  x = 1\n  del x\n"
      "def f(y):\n  def h():\n    nonlocal y\n    y += 1\n  [y := 2 for _ in x]\n");
  const SymbolId x = program.scopes.find(Scopes::module(), "x");
  const SymbolId y = program.scopes.find(program.scope("f"), "y");
  EXPECT_EQ(program.sites(x), (Sites{"Alias@7", "Identifier@27", "Name@31", "Name@43"}));
  EXPECT_EQ(program.sites(y), (Sites{"Parameter@51", "Identifier@79", "Name@85", "Name@95"}));
  EXPECT_EQ(program.scopes.binding(program.name("y +=")), y);
  EXPECT_EQ(program.scopes.binding(program.name("y :=")), y);
  EXPECT_EQ(program.scopes.binding(program.name("x]")), x);
}

TEST(Scopes, EveryKindOfBindingHasASite) {
  const Program program(
      "def f(p, *q):\n"
      "  import a.b, c as d\n"
      "  try: pass\n  except E as e: pass\n"
      "  match p:\n    case [g, *h] | {'k': g, **h} as i: pass\n"
      "  with p as (j, k): pass\n"
      "  for l in p: m: int = 1\n"
      "  class N[T]: pass\n"
      "  def o[*S, **R](): pass\n"
      "  (r := 1)\n");
  const ScopeId f = program.scope("f");
  for (std::string_view name : {"p", "q", "a", "d", "e", "i", "j", "k", "l", "m", "N", "o", "r"}) {
    const SymbolId symbol = program.scopes.find(f, name);
    ASSERT_TRUE(symbol) << name;
    EXPECT_EQ(program.scopes.sites(symbol).size(), 1u) << name;
    EXPECT_TRUE(program.scopes[symbol].is_local()) << name;
  }
  EXPECT_EQ(program.scopes.sites(program.scopes.find(f, "h")).size(), 2u);
  EXPECT_FALSE(program.scopes.find(f, "c"));
  EXPECT_FALSE(program.scopes.find(f, "b"));
  for (NodeKind kind : {NodeKind::TypeVar, NodeKind::TypeVarTuple, NodeKind::ParamSpec}) {
    const SymbolId symbol = program.scopes.symbol(program.node(kind, ""));
    ASSERT_TRUE(symbol);
    EXPECT_TRUE(program.scopes[symbol].has(symbol_flag::kTypeParameter));
  }
}

TEST(Scopes, PrivateNamesAreMangled) {
  const Program program("class _C:\n  __a = 1\n  class D[__T](__B): x: __T\n  import __m.n\n");
  EXPECT_TRUE(program.scopes.find(program.scope("_C"), "_C__a"));
  EXPECT_TRUE(program.scopes.find(program.scope("_C"), "_C__m"));
  const SymbolId parameter = program.scopes.symbol(program.node(NodeKind::TypeVar, "__T"));
  EXPECT_EQ(program.scopes.name(parameter), "_D__T");
  EXPECT_EQ(program.scopes.binding(program.name("__T")), parameter);
  EXPECT_EQ(program.scopes.name(program.scopes.symbol(program.name("__B"))), "__B");
}

TEST(Scopes, NamesOfBuiltinsHaveNoBinding) {
  const Program program("print(x)\n");
  EXPECT_TRUE(program.scopes.symbol(program.name("print")));
  EXPECT_FALSE(program.scopes.binding(program.name("print")));
}

TEST(Scopes, UnevaluatedAnnotationsMakeNoCells) {
  const Program program("from __future__ import annotations\ndef f(T):\n  def g(x: T): pass\n");
  const SymbolId parameter = program.scopes.find(program.scope("f"), "T");
  EXPECT_EQ(program.scopes[parameter].kind, SymbolScope::Local);
  EXPECT_EQ(program.scopes.binding(program.name("T")), parameter);
  EXPECT_TRUE(program.scopes[program.scopes.scope_of(program.name("T"))].hidden);
}

TEST(Scopes, ScopesStandInCPythonsOrder) {
  const Program program(
      "@(lambda: decorator)\n"
      "def f(a: (lambda: annotation) = (lambda: default)): (lambda: c) if (lambda: test) else 0\n");
  std::vector<std::string> order;
  for (ScopeId id = Scopes::module(); id.index < program.scopes.scope_count(); ++id) {
    const ScopeInfo& scope = program.scopes[id];
    order.emplace_back(scope.kind == ScopeKind::Lambda ? program.scopes.name(scope.first_symbol)
                                                       : program.scopes.name(id));
    EXPECT_TRUE(id == Scopes::module() || scope.parent < id);
  }
  EXPECT_EQ(order, (Sites{"top", "default", "decorator", "annotation", "f", "test", "c"}));
  EXPECT_EQ(program.scopes[Scopes::module()].size, 7u);
  EXPECT_EQ(program.scopes[program.scope("f")].size, 3u);
}

TEST(Scopes, BrokenProgramsAreReadAsFarAsTheyGo) {
  for (std::string_view source :
       {"", "def", "class C[", "nonlocal x\n", "def f(a, a, *, : x", "[x for", "{a: b for", "(lambda x=", "global\n",
        "type X[T", "with a as: pass", "match x:\n case [a, *", "except E as e: pass", "f(a=, *b)", "x if else",
        "class C:\n  x = [y := 1 for z in w]\n", "def f():\n  nonlocal q\n  return q\n", "{1: 2, **, 3:}",
        "import a as"}) {
    const Program program{std::string(source)};
    EXPECT_GE(program.scopes.scope_count(), 1u) << source;
    EXPECT_FALSE(program.dump().empty()) << source;
  }
  EXPECT_EQ(compute_scopes("", Tokens{}, Tree{}).scope_count(), 1u);
}

// Each of these is quadratic, or too deep for a stack, when done naively.
TEST(Scopes, LargeProgramsTakeLinearTime) {
  constexpr int kTerms = 100'000;
  std::string terms = "x = 0";
  for (int i = 0; i < kTerms; ++i) terms += " + [i for i in x]";
  const Program sum(terms + "\n");
  EXPECT_EQ(sum.scopes.scope_count(), 1u + kTerms);
  EXPECT_EQ(sum.scopes[Scopes::module()].symbol_count, 2u);

  std::string names = "def f():\n";
  for (int i = 0; i < kTerms; ++i) names += " v" + std::to_string(i) + " = v" + std::to_string(i / 2) + "\n";
  const Program many(names);
  EXPECT_EQ(many.scopes[many.scope("f")].symbol_count, uint32_t{kTerms});

  std::string lambdas = "x = ";
  for (int i = 0; i < 1000; ++i) lambdas += "lambda a=y: ";
  const Program nested(lambdas + "z\n");
  EXPECT_EQ(nested.scopes[ScopeId(1)].size, 1000u);
}

}  // namespace
}  // namespace graphmend

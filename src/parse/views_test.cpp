// Tests of the views: parts by name, and names that are tokens.
#include "parse/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lex/lexer.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

// A text with its tree, and the questions the tests ask.
struct Parsed {
  explicit Parsed(std::string source)
      : text(std::move(source)), tokens(lex(text).tokens), tree(parse(text, tokens).tree) {}

  std::string text;
  Tokens tokens;
  Tree tree;

  // The first node of that kind.
  NodeId find(NodeKind kind) const {
    for (NodeId id(0); id.index < tree.size(); ++id) {
      if (tree.kind(id) == kind) return id;
    }
    return NodeId();
  }
  std::string source_of(NodeId id) const {
    return id ? std::string(node_span(tree, tokens, id).in(text)) : std::string("-");
  }
  std::string name_of(NodeKind kind) const {
    const TokenId name = name_token(tree, tokens, find(kind));
    return name ? identifier_text(text, tokens[name]) : std::string("-");
  }
  std::vector<std::string> sources_of(ChildRange range) const {
    std::vector<std::string> sources;
    for (NodeId id : range) sources.push_back(source_of(id));
    return sources;
  }
};

using Strings = std::vector<std::string>;

TEST(Views, Function) {
  const Parsed p("@a  # c\n@(b)\nasync def f[T](x: y = z, *args) -> r: pass\n");
  const FunctionView view(p.tree, p.find(NodeKind::FunctionDef));
  EXPECT_EQ(std::distance(view.decorators.begin(), view.decorators.end()), 2);
  EXPECT_EQ(p.source_of(view.type_params), "[T]");
  EXPECT_EQ(p.source_of(view.returns), "r");
  EXPECT_EQ(p.source_of(view.body), ": pass");
  EXPECT_EQ(p.name_of(NodeKind::FunctionDef), "f");
  const TokenId start = definition_token(p.tree, p.tokens, p.find(NodeKind::FunctionDef));
  EXPECT_EQ(p.tokens[start].kind, TokenKind::Async);

  const ParameterView parameter(p.tree, p.find(NodeKind::Parameter));
  EXPECT_EQ(parameter.section, ParameterSection::Regular);
  EXPECT_EQ(p.source_of(parameter.annotation), "y");
  EXPECT_EQ(p.source_of(parameter.default_value), "z");
}

TEST(Views, OptionalPartsAreAbsent) {
  const Parsed p("class C: pass\ndef f(): pass\n");
  const ClassView c(p.tree, p.find(NodeKind::ClassDef));
  EXPECT_TRUE(c.decorators.empty());
  EXPECT_FALSE(c.type_params);
  EXPECT_FALSE(c.arguments);
  EXPECT_TRUE(c.body);
  const FunctionView f(p.tree, p.find(NodeKind::FunctionDef));
  EXPECT_FALSE(f.type_params);
  EXPECT_FALSE(f.returns);
  EXPECT_EQ(p.source_of(f.body), ": pass");
}

TEST(Views, Statements) {
  const Parsed p("if a: b\nelif c: d\nelse: e\n");
  const IfView view(p.tree, p.find(NodeKind::If));
  EXPECT_EQ(p.source_of(view.test), "a");
  EXPECT_EQ(p.sources_of(view.elifs), Strings{"elif c: d"});
  EXPECT_EQ(p.source_of(view.orelse), "else: e");

  const Parsed q("a = b = c");
  const AssignView assign(q.tree, q.find(NodeKind::Assign));
  EXPECT_EQ(q.sources_of(assign.targets), (Strings{"a", "b"}));
  EXPECT_EQ(q.source_of(assign.value), "c");

  const Parsed r("try: pass\nexcept: pass\nfinally: pass\n");
  const TryView t(r.tree, r.find(NodeKind::Try));
  EXPECT_EQ(r.sources_of(t.handlers), Strings{"except: pass"});
  EXPECT_FALSE(t.orelse);
  EXPECT_EQ(r.source_of(t.final_clause), "finally: pass");
}

TEST(Views, Expressions) {
  const Parsed p("a[:b]");
  const SliceView slice(p.tree, p.find(NodeKind::Slice));
  EXPECT_FALSE(slice.lower);
  EXPECT_EQ(p.source_of(slice.upper), "b");
  EXPECT_FALSE(slice.step);

  const Parsed q("{**d for d in e}");
  const DictComprehensionView comprehension(q.tree, q.find(NodeKind::DictComp));
  EXPECT_FALSE(comprehension.key);
  EXPECT_EQ(q.source_of(comprehension.value), "**d");
}

TEST(Views, MappingPatterns) {
  const Parsed p("match a:\n case {1: x, **rest}: pass\n");
  const MatchMappingView view(p.tree, p.find(NodeKind::MatchMapping));
  EXPECT_EQ(p.sources_of(view.entries), (Strings{"1", "x"}));
  EXPECT_EQ(p.name_of(NodeKind::MatchRest), "rest");
  EXPECT_FALSE(MatchMappingView(p.tree, p.find(NodeKind::Module)).rest);
}

TEST(Views, NamesThatAreTokens) {
  EXPECT_EQ(Parsed("class ﬁ: pass").name_of(NodeKind::ClassDef), "fi");
  EXPECT_EQ(Parsed("(a\n. # c\n b)").name_of(NodeKind::Attribute), "b");
  EXPECT_EQ(Parsed("f(a=1)").name_of(NodeKind::Keyword), "a");
  EXPECT_EQ(Parsed("f(**a)").name_of(NodeKind::Keyword), "-");
  EXPECT_EQ(Parsed("try: pass\nexcept A as b: pass").name_of(NodeKind::ExceptHandler), "b");
  EXPECT_EQ(Parsed("try: pass\nexcept A: pass").name_of(NodeKind::ExceptHandler), "-");
  EXPECT_EQ(Parsed("type A[*T] = x").name_of(NodeKind::TypeVarTuple), "T");
  EXPECT_EQ(Parsed("type A[** # c\n P] = x").name_of(NodeKind::ParamSpec), "P");
  EXPECT_EQ(Parsed("import a as b").name_of(NodeKind::Alias), "b");
  EXPECT_EQ(Parsed("import a").name_of(NodeKind::Alias), "-");
}

TEST(Views, Imports) {
  const auto module_of = [](const char* source) {
    const Parsed p(source);
    const ImportModule module = import_module(p.text, p.tree, p.tokens, p.find(NodeKind::ImportFrom));
    return std::to_string(module.level) + module.name;
  };
  EXPECT_EQ(module_of("from a . b import c"), "0a.b");
  EXPECT_EQ(module_of("from .... import c"), "4");
  EXPECT_EQ(module_of("lazy from ..a import c"), "2a");
  const Parsed p("import a . b as c");
  EXPECT_EQ(alias_name(p.text, p.tree, p.tokens, p.find(NodeKind::Alias)), "a.b");
}

}  // namespace
}  // namespace graphmend

// The parser on small texts. In: text. Out: the kinds of nodes, and the messages and places of errors.
// That the trees are CPython's is checked by tests/corpus; here are the shape of our tree and the recovery from errors.
#include "parse/parser.h"

#include <gtest/gtest.h>

#include "lex/lexer.h"

namespace graphmend {
namespace {

struct Parsed {
  std::string text;
  LexResult lexed;
  ParseResult result;

  explicit Parsed(std::string source, Version target = kAnyVersion)
      : text(std::move(source)), lexed(lex(text)), result(parse(text, lexed.tokens, target)) {}

  std::string shape(NodeId id = Tree::root()) const {
    std::string shown(node_name(result.tree.kind(id)));
    ChildRange children = result.tree.children(id);
    if (children.empty()) return shown;
    shown += '(';
    for (NodeId child : children) shown += shape(child) + ' ';
    shown.back() = ')';
    return shown;
  }

  std::string errors() const {
    std::string all;
    for (const Diagnostic& error : result.errors) {
      all += std::to_string(error.span.start) + "-" + std::to_string(error.span.end) + " " + error.message + "\n";
    }
    return all;
  }
};

std::string shape(const std::string& text) { return Parsed(text).shape(); }
std::string errors(const std::string& text, Version target = kAnyVersion) { return Parsed(text, target).errors(); }

TEST(Parser, Operators) {
  EXPECT_EQ(shape("a + b * c"), "Module(ExprStatement(BinOp(Name BinOp(Name Name))))");
  EXPECT_EQ(shape("not a in b"), "Module(ExprStatement(UnaryOp(Compare(Name CompareOp Name))))");
  EXPECT_EQ(shape("a or b or c and d"), "Module(ExprStatement(BoolOp(Name Name BoolOp(Name Name))))");
  EXPECT_EQ(shape("-a ** -b"), "Module(ExprStatement(UnaryOp(BinOp(Name UnaryOp(Name)))))");
  EXPECT_EQ(shape("await x ** 2"), "Module(ExprStatement(BinOp(Await(Name) Number)))");
}

TEST(Parser, StarsBindAsInCPython) {
  EXPECT_EQ(shape("[*a.b(c)]"), "Module(ExprStatement(List(Starred(Call(Attribute(Name) Name)))))");
  EXPECT_EQ(shape("def f():\n return *[None] * 3, *g"),
            "Module(FunctionDef(Parameters Body(Return(Tuple(Starred(BinOp(List(Constant) Number)) Starred(Name))))))");
}

TEST(Parser, SoftKeywords) {
  EXPECT_EQ(shape("match (x)\nmatch[y]\nmatch: int"),
            "Module(ExprStatement(Call(Name Name)) ExprStatement(Subscript(Name Name)) AnnAssign(Name Name))");
  EXPECT_EQ(shape("match (x):\n case _: pass"), "Module(Match(Name MatchCase(MatchAs Body(Pass))))");
  EXPECT_EQ(shape("type = type(x)\ntype X = int"), "Module(Assign(Name Call(Name Name)) TypeAlias(Name Name))");
  EXPECT_EQ(shape("lazy = 1\nlazy import x"), "Module(Assign(Name Number) Import(Alias))");
}

TEST(Parser, WithParentheses) {
  EXPECT_EQ(shape("with (a, b): pass"), "Module(With(WithItem(Name) WithItem(Name) Body(Pass)))");
  EXPECT_EQ(shape("with (a, b) as c: pass"), "Module(With(WithItem(Tuple(Name Name) Name) Body(Pass)))");
  EXPECT_EQ(shape("with (a := b, c): pass"), "Module(With(WithItem(Tuple(NamedExpr(Name Name) Name)) Body(Pass)))");
  EXPECT_EQ(shape("with (a).b, c: pass"), "Module(With(WithItem(Attribute(Name)) WithItem(Name) Body(Pass)))");
}

TEST(Parser, TreeLinksAreConsistent) {
  Parsed parsed(
      "class C(B, k=1):\n  @d\n  def f(self, *a, b=1, **k) -> int:\n    return [x for x in a if x] + {1: 2}\n");
  const Tree& tree = parsed.result.tree;
  EXPECT_EQ(tree[Tree::root()].size, tree.size());
  for (uint32_t i = 0; i < tree.size(); ++i) {
    uint32_t total = 1;
    for (NodeId child : tree.children(NodeId(i))) {
      EXPECT_EQ(tree.parent(child), NodeId(i));
      EXPECT_TRUE(tree.contains(NodeId(i), child));
      total += tree[child].size;
    }
    EXPECT_EQ(total, tree[NodeId(i)].size);
  }
}

TEST(Parser, DepthIsNoProblemWhereCPythonHasNone) {
  std::string chain = "a";
  for (int i = 0; i < 100000; ++i) chain += "+a";
  EXPECT_EQ(errors(chain), "");
  std::string elifs = "if a: pass\n";
  for (int i = 0; i < 100000; ++i) elifs += "elif a: pass\n";
  EXPECT_EQ(errors(elifs), "");
  EXPECT_EQ(errors(std::string(200, '(') + "1" + std::string(200, ')')), "");
  EXPECT_EQ(errors(std::string(5000, '-') + "1"), "");
}

TEST(Parser, DepthBeyondTheLimitIsAnError) {
  EXPECT_NE(errors(std::string(100000, '(')), "");
  EXPECT_NE(errors(std::string(100000, '-') + "1").find("deep"), std::string::npos);
  std::string lambdas;
  for (int i = 0; i < 100000; ++i) lambdas += "lambda:";
  EXPECT_NE(errors(lambdas + "1").find("deep"), std::string::npos);
  std::string blocks;
  for (int i = 0; i < 2000; ++i) blocks += std::string(static_cast<size_t>(i), ' ') + "if x:\n";
  EXPECT_NE(errors(blocks), "");
}

TEST(Parser, ErrorsAreReportedOncePerStatementAndTheRestIsParsed) {
  Parsed parsed("x = = 1\ny = 2\nif a b:\n  z = 3\nw = (1,\ndef g(): pass\n");
  EXPECT_EQ(parsed.shape(),
            "Module(ErrorStatement(Name) Assign(Name Number) ErrorStatement(Name Assign(Name Number)) "
            "ErrorStatement(Name Number) FunctionDef(Parameters Body(Pass)))");
  EXPECT_EQ(parsed.errors(),
            "4-5 expected an expression, found `=`\n"
            "19-20 expected `:`, found `b`\n"
            "37-37 expected `)` to close `(`\n");
}

TEST(Parser, MissingBracketNamesTheLineOfItsOpening) {
  EXPECT_EQ(errors("f(a,\n  b,\n\n  c\nimport x\n"), "14-14 expected `)` to close `(` at line 1\n");
}

TEST(Parser, OrphanedClausesMakeNoNoise) {
  EXPECT_EQ(errors("if x y:\n  a\nelse:\n  b\nc\n"), "5-6 expected `:`, found `y`\n");
  EXPECT_EQ(errors("try x:\n  a\nexcept E:\n  b\nfinally:\n  c\n"), "4-5 expected `:`, found `x`\n");
}

TEST(Parser, OldHabits) {
  EXPECT_EQ(errors("print 1"), "6-7 `print` is a function; its arguments stand in parentheses\n");
  EXPECT_EQ(errors("f() = 1"), "0-3 cannot assign to a call\n");
  EXPECT_EQ(errors("if x:\ny"), "6-7 expected an indented block after `if` at line 1\n");
}

TEST(Parser, VersionsAreNamed) {
  const std::string newer = "match x:\n case 1: pass\n";
  EXPECT_EQ(errors(newer, Version{10}), "");
  EXPECT_EQ(errors(newer, Version{9}), "0-5 a `match` statement needs Python 3.10; the target is 3.9\n");
}

}  // namespace
}  // namespace graphmend

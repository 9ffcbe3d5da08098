// Tests of dump_ast: what CPython 3.13.0 prints, and 3.15 for newer syntax. The corpora are compared by tests/.
#include "parse/dump_ast.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "lex/lexer.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

struct Case {
  std::string_view source;
  // `lineno=1, col_offset=2, end_lineno=3, end_col_offset=4` is written `@1:2-3:4` here.
  std::string_view expected;
};

std::string dump(std::string_view code) {
  const std::string source(code);
  const LexResult lexed = lex(source);
  return dump_ast(source, lexed.tokens, parse(source, lexed.tokens).tree);
}

// The text with its positions in the short form.
std::string shortened(std::string_view text) {
  constexpr std::string_view kNames[] = {"lineno=", ", col_offset=", ", end_lineno=", ", end_col_offset="};
  constexpr std::string_view kSigns[] = {"@", ":", "-", ":"};
  std::string result;
  while (!text.empty()) {
    bool is_name = false;
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (!text.starts_with(kNames[i])) continue;
      if (i == 0 && result.ends_with(", ")) result.erase(result.size() - 2, 1);
      result += kSigns[i];
      text.remove_prefix(kNames[i].size());
      is_name = true;
      break;
    }
    if (is_name) continue;
    result += text[0];
    text.remove_prefix(1);
  }
  return result;
}

void check(std::span<const Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(shortened(dump(c.source)), c.expected) << c.source;
}

TEST(DumpAst, Statements) {
  const Case cases[] = {
      {"", "Module()"},
      {"pass", "Module(body=[Pass(@1:0-1:4)])"},
      {"@a\n@(b)\nasync def f(): pass",
       "Module(body=[AsyncFunctionDef(name='f', args=arguments(), body=[Pass(@3:15-3:19)], "
       "decorator_list=[Name(id='a', ctx=Load() @1:1-1:2), Name(id='b', "
       "ctx=Load() @2:2-2:3)] @3:0-3:19)])"},
      {"def f[T: int = str, *U = *x, **P = []](a, /, b: int = 1, *c, d, e=2, **g) -> r: pass",
       "Module(body=[FunctionDef(name='f', args=arguments(posonlyargs=[arg(arg='a' @1:39-1:40)], "
       "args=[arg(arg='b', annotation=Name(id='int', ctx=Load() @1:48-1:51) @1:45-1:51)], "
       "vararg=arg(arg='c' @1:58-1:59), kwonlyargs=[arg(arg='d' @1:61-1:62), arg(arg='e' @1:64-1:65)], "
       "kw_defaults=[None, Constant(value=2 @1:66-1:67)], kwarg=arg(arg='g' @1:71-1:72), "
       "defaults=[Constant(value=1 @1:54-1:55)]), body=[Pass(@1:80-1:84)], returns=Name(id='r', "
       "ctx=Load() @1:77-1:78), type_params=[TypeVar(name='T', bound=Name(id='int', "
       "ctx=Load() @1:9-1:12), default_value=Name(id='str', ctx=Load() @1:15-1:18) @1:6-1:18), "
       "TypeVarTuple(name='U', default_value=Starred(value=Name(id='x', ctx=Load() @1:26-1:27), "
       "ctx=Load() @1:25-1:27) @1:20-1:27), ParamSpec(name='P', "
       "default_value=List(ctx=Load() @1:35-1:37) @1:29-1:37)] @1:0-1:84)])"},
      {"class C(A, *B, k=1, **m): pass",
       "Module(body=[ClassDef(name='C', bases=[Name(id='A', ctx=Load() @1:8-1:9), "
       "Starred(value=Name(id='B', ctx=Load() @1:12-1:13), ctx=Load() @1:11-1:13)], "
       "keywords=[keyword(arg='k', value=Constant(value=1 @1:17-1:18) @1:15-1:18), "
       "keyword(value=Name(id='m', ctx=Load() @1:22-1:23) @1:20-1:23)], "
       "body=[Pass(@1:26-1:30)] @1:0-1:30)])"},
      {"if a: b\nelif c: d\nelif e: f\nelse: g",
       "Module(body=[If(test=Name(id='a', ctx=Load() @1:3-1:4), body=[Expr(value=Name(id='b', "
       "ctx=Load() @1:6-1:7) @1:6-1:7)], orelse=[If(test=Name(id='c', ctx=Load() @2:5-2:6), "
       "body=[Expr(value=Name(id='d', ctx=Load() @2:8-2:9) @2:8-2:9)], orelse=[If(test=Name(id='e', "
       "ctx=Load() @3:5-3:6), body=[Expr(value=Name(id='f', ctx=Load() @3:8-3:9) @3:8-3:9)], "
       "orelse=[Expr(value=Name(id='g', ctx=Load() @4:6-4:7) @4:6-4:7)] @3:0-4:7)] @2:0-4:7)] @1:0-4:7)"
       "])"},
      {"for x in y:\n  pass\nelse:\n  break\n",
       "Module(body=[For(target=Name(id='x', ctx=Store() @1:4-1:5), iter=Name(id='y', "
       "ctx=Load() @1:9-1:10), body=[Pass(@2:2-2:6)], orelse=[Break(@4:2-4:7)] @1:0-4:7)])"},
      {"async def f():\n  async with a as b, c: continue",
       "Module(body=[AsyncFunctionDef(name='f', args=arguments(), "
       "body=[AsyncWith(items=[withitem(context_expr=Name(id='a', ctx=Load() @2:13-2:14), "
       "optional_vars=Name(id='b', ctx=Store() @2:18-2:19)), withitem(context_expr=Name(id='c', "
       "ctx=Load() @2:21-2:22))], body=[Continue(@2:24-2:32)] @2:2-2:32)] @1:0-2:32)])"},
      {"try: pass\nexcept* A as b: pass\nelse: x\nfinally: y",
       "Module(body=[TryStar(body=[Pass(@1:5-1:9)], handlers=[ExceptHandler(type=Name(id='A', "
       "ctx=Load() @2:8-2:9), name='b', body=[Pass(@2:16-2:20)] @2:0-2:20)], "
       "orelse=[Expr(value=Name(id='x', ctx=Load() @3:6-3:7) @3:6-3:7)], "
       "finalbody=[Expr(value=Name(id='y', ctx=Load() @4:9-4:10) @4:9-4:10)] @1:0-4:10)])"},
      {"from . import a as b, c",
       "Module(body=[ImportFrom(names=[alias(name='a', asname='b' @1:14-1:20), "
       "alias(name='c' @1:22-1:23)], level=1 @1:0-1:23)])"},
      {"from ...x.y import (z # c\n as w)",
       "Module(body=[ImportFrom(module='x.y', names=[alias(name='z', asname='w' @1:20-2:5)], "
       "level=3 @1:0-2:6)])"},
      {"import a.b.c as d", "Module(body=[Import(names=[alias(name='a.b.c', asname='d' @1:7-1:17)] @1:0-1:17)])"},
      {"x: int = 1; (x): int",
       "Module(body=[AnnAssign(target=Name(id='x', ctx=Store() @1:0-1:1), annotation=Name(id='int', "
       "ctx=Load() @1:3-1:6), value=Constant(value=1 @1:9-1:10), simple=1 @1:0-1:10), "
       "AnnAssign(target=Name(id='x', ctx=Store() @1:13-1:14), annotation=Name(id='int', "
       "ctx=Load() @1:17-1:20), simple=0 @1:12-1:20)])"},
      {"x += 1",
       "Module(body=[AugAssign(target=Name(id='x', ctx=Store() @1:0-1:1), op=Add(), "
       "value=Constant(value=1 @1:5-1:6) @1:0-1:6)])"},
      {"a = b, = c",
       "Module(body=[Assign(targets=[Name(id='a', ctx=Store() @1:0-1:1), Tuple(elts=[Name(id='b', "
       "ctx=Store() @1:4-1:5)], ctx=Store() @1:4-1:6)], value=Name(id='c', "
       "ctx=Load() @1:9-1:10) @1:0-1:10)])"},
      {"del a, (b)",
       "Module(body=[Delete(targets=[Name(id='a', ctx=Del() @1:4-1:5), Name(id='b', "
       "ctx=Del() @1:8-1:9)] @1:0-1:10)])"},
      {"type A[T] = T",
       "Module(body=[TypeAlias(name=Name(id='A', ctx=Store() @1:5-1:6), "
       "type_params=[TypeVar(name='T' @1:7-1:8)], value=Name(id='T', "
       "ctx=Load() @1:12-1:13) @1:0-1:13)])"},
      {"global a, b", "Module(body=[Global(names=['a', 'b'] @1:0-1:11)])"},
      {"raise a from b",
       "Module(body=[Raise(exc=Name(id='a', ctx=Load() @1:6-1:7), cause=Name(id='b', "
       "ctx=Load() @1:13-1:14) @1:0-1:14)])"},
      {"assert a, b",
       "Module(body=[Assert(test=Name(id='a', ctx=Load() @1:7-1:8), msg=Name(id='b', "
       "ctx=Load() @1:10-1:11) @1:0-1:11)])"},
      {"return", "Module(body=[Return(@1:0-1:6)])"},
  };
  check(cases);
}

TEST(DumpAst, Expressions) {
  const Case cases[] = {
      {"a < b not in c",
       "Module(body=[Expr(value=Compare(left=Name(id='a', ctx=Load() @1:0-1:1), ops=[Lt(), NotIn()], "
       "comparators=[Name(id='b', ctx=Load() @1:4-1:5), Name(id='c', "
       "ctx=Load() @1:13-1:14)] @1:0-1:14) @1:0-1:14)])"},
      {"{1: 2, **d}",
       "Module(body=[Expr(value=Dict(keys=[Constant(value=1 @1:1-1:2), None], "
       "values=[Constant(value=2 @1:4-1:5), Name(id='d', ctx=Load() @1:9-1:10)] @1:0-1:11) @1:0-1:11)])"},
      {"f(*a, b=1, **c)",
       "Module(body=[Expr(value=Call(func=Name(id='f', ctx=Load() @1:0-1:1), "
       "args=[Starred(value=Name(id='a', ctx=Load() @1:3-1:4), ctx=Load() @1:2-1:4)], "
       "keywords=[keyword(arg='b', value=Constant(value=1 @1:8-1:9) @1:6-1:9), "
       "keyword(value=Name(id='c', ctx=Load() @1:13-1:14) @1:11-1:14)] @1:0-1:15) @1:0-1:15)])"},
      {"f(x for x in y if z)",
       "Module(body=[Expr(value=Call(func=Name(id='f', ctx=Load() @1:0-1:1), "
       "args=[GeneratorExp(elt=Name(id='x', ctx=Load() @1:2-1:3), "
       "generators=[comprehension(target=Name(id='x', ctx=Store() @1:8-1:9), iter=Name(id='y', "
       "ctx=Load() @1:13-1:14), ifs=[Name(id='z', ctx=Load() @1:18-1:19)], "
       "is_async=0)] @1:1-1:20)] @1:0-1:20) @1:0-1:20)])"},
      {"lambda *, a=1, b: a",
       "Module(body=[Expr(value=Lambda(args=arguments(kwonlyargs=[arg(arg='a' @1:10-1:11), "
       "arg(arg='b' @1:15-1:16)], kw_defaults=[Constant(value=1 @1:12-1:13), None]), body=Name(id='a', "
       "ctx=Load() @1:18-1:19) @1:0-1:19) @1:0-1:19)])"},
      {"a if b else c",
       "Module(body=[Expr(value=IfExp(test=Name(id='b', ctx=Load() @1:5-1:6), body=Name(id='a', "
       "ctx=Load() @1:0-1:1), orelse=Name(id='c', ctx=Load() @1:12-1:13) @1:0-1:13) @1:0-1:13)])"},
      {"[*a][1:, ::2]",
       "Module(body=[Expr(value=Subscript(value=List(elts=[Starred(value=Name(id='a', "
       "ctx=Load() @1:2-1:3), ctx=Load() @1:1-1:3)], ctx=Load() @1:0-1:4), "
       "slice=Tuple(elts=[Slice(lower=Constant(value=1 @1:5-1:6) @1:5-1:7), "
       "Slice(step=Constant(value=2 @1:11-1:12) @1:9-1:12)], ctx=Load() @1:5-1:12), "
       "ctx=Load() @1:0-1:13) @1:0-1:13)])"},
      {"not a and b and c or d",
       "Module(body=[Expr(value=BoolOp(op=Or(), values=[BoolOp(op=And(), values=[UnaryOp(op=Not(), "
       "operand=Name(id='a', ctx=Load() @1:4-1:5) @1:0-1:5), Name(id='b', ctx=Load() @1:10-1:11), "
       "Name(id='c', ctx=Load() @1:16-1:17)] @1:0-1:17), Name(id='d', "
       "ctx=Load() @1:21-1:22)] @1:0-1:22) @1:0-1:22)])"},
      {"(a := 1)",
       "Module(body=[Expr(value=NamedExpr(target=Name(id='a', ctx=Store() @1:1-1:2), "
       "value=Constant(value=1 @1:6-1:7) @1:1-1:7) @1:0-1:8)])"},
      {"ﬁ", "Module(body=[Expr(value=Name(id='fi', ctx=Load() @1:0-1:3) @1:0-1:3)])"},
      {"{k: v async for k, v in d}",
       "Module(body=[Expr(value=DictComp(key=Name(id='k', ctx=Load() @1:1-1:2), value=Name(id='v', "
       "ctx=Load() @1:4-1:5), generators=[comprehension(target=Tuple(elts=[Name(id='k', "
       "ctx=Store() @1:16-1:17), Name(id='v', ctx=Store() @1:19-1:20)], ctx=Store() @1:16-1:20), "
       "iter=Name(id='d', ctx=Load() @1:24-1:25), is_async=1)] @1:0-1:26) @1:0-1:26)])"},
      {"1e1000, 0x_ff, 1j, ..., None",
       "Module(body=[Expr(value=Tuple(elts=[Constant(value=inf @1:0-1:6), "
       "Constant(value=255 @1:8-1:13), Constant(value=1j @1:15-1:17), "
       "Constant(value=Ellipsis @1:19-1:22), Constant(value=None @1:24-1:28)], "
       "ctx=Load() @1:0-1:28) @1:0-1:28)])"},
  };
  check(cases);
}

TEST(DumpAst, Patterns) {
  const Case cases[] = {
      {"match a:\n case {1: x, **r}: pass\n case C(y, k=[_, *_]) if z: pass\n case None | -1 + 2j as n: pass\n case _: "
       "pass",
       "Module(body=[Match(subject=Name(id='a', ctx=Load() @1:6-1:7), "
       "cases=[match_case(pattern=MatchMapping(keys=[Constant(value=1 @2:7-2:8)], "
       "patterns=[MatchAs(name='x' @2:10-2:11)], rest='r' @2:6-2:17), body=[Pass(@2:19-2:23)]), "
       "match_case(pattern=MatchClass(cls=Name(id='C', ctx=Load() @3:6-3:7), "
       "patterns=[MatchAs(name='y' @3:8-3:9)], kwd_attrs=['k'], "
       "kwd_patterns=[MatchSequence(patterns=[MatchAs(@3:14-3:15), "
       "MatchStar(@3:17-3:19)] @3:13-3:20)] @3:6-3:21), guard=Name(id='z', ctx=Load() @3:25-3:26), "
       "body=[Pass(@3:28-3:32)]), match_case(pattern=MatchAs(pattern=MatchOr(patterns=[MatchSingleton(v"
       "alue=None @4:6-4:10), MatchValue(value=BinOp(left=UnaryOp(op=USub(), "
       "operand=Constant(value=1 @4:14-4:15) @4:13-4:15), op=Add(), "
       "right=Constant(value=2j @4:18-4:20) @4:13-4:20) @4:13-4:20)] @4:6-4:20), name='n' @4:6-4:25), "
       "body=[Pass(@4:27-4:31)]), match_case(pattern=MatchAs(@5:6-5:7), "
       "body=[Pass(@5:9-5:13)])] @1:0-5:13)])"},
  };
  check(cases);
}

TEST(DumpAst, Strings) {
  const Case cases[] = {
      {R"py("a" "b")py", "Module(body=[Expr(value=Constant(value='ab' @1:0-1:7) @1:0-1:7)])"},
      {"u'a' 'b'", "Module(body=[Expr(value=Constant(value='ab', kind='u' @1:0-1:8) @1:0-1:8)])"},
      {"U'a'", "Module(body=[Expr(value=Constant(value='a' @1:0-1:4) @1:0-1:4)])"},
      {R"py(b'\x00' b'a')py", R"py(Module(body=[Expr(value=Constant(value=b'\x00a' @1:0-1:12) @1:0-1:12)]))py"},
      {R"py('\ud800')py", R"py(Module(body=[Expr(value=Constant(value='\ud800' @1:0-1:8) @1:0-1:8)]))py"},
      {"'''a\r\nb'''", R"py(Module(body=[Expr(value=Constant(value='a\nb' @1:0-2:4) @1:0-2:4)]))py"},
  };
  check(cases);
}

TEST(DumpAst, FStrings) {
  const Case cases[] = {
      {R"py(f"a{x}b")py",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='a' @1:2-1:3), "
       "FormattedValue(value=Name(id='x', ctx=Load() @1:4-1:5), conversion=-1 @1:3-1:6), "
       "Constant(value='b' @1:6-1:7)] @1:0-1:8) @1:0-1:8)])"},
      {R"py(f"")py", "Module(body=[Expr(value=JoinedStr(@1:0-1:3) @1:0-1:3)])"},
      {R"py("a" f"b{{c" "d")py",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='ab{cd' @1:0-1:15)] @1:0-1:15) @1:0-1:"
       "15)])"},
      {"f'{x}' '' f'a'",
       "Module(body=[Expr(value=JoinedStr(values=[FormattedValue(value=Name(id='x', "
       "ctx=Load() @1:3-1:4), conversion=-1 @1:2-1:5), "
       "Constant(value='a' @1:7-1:13)] @1:0-1:14) @1:0-1:14)])"},
      {"u'a' f'{x}b' 'c'",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='a', kind='u' @1:0-1:4), "
       "FormattedValue(value=Name(id='x', ctx=Load() @1:8-1:9), conversion=-1 @1:7-1:10), "
       "Constant(value='bc' @1:10-1:16)] @1:0-1:16) @1:0-1:16)])"},
      {R"py(f"{x!r:>{w}}")py",
       "Module(body=[Expr(value=JoinedStr(values=[FormattedValue(value=Name(id='x', "
       "ctx=Load() @1:3-1:4), conversion=114, format_spec=JoinedStr(values=[Constant(value='>' @1:7-1:8"
       "), FormattedValue(value=Name(id='w', ctx=Load() @1:9-1:10), "
       "conversion=-1 @1:8-1:11)] @1:6-1:11) @1:2-1:12)] @1:0-1:13) @1:0-1:13)])"},
      {R"py(f"{x:}")py",
       "Module(body=[Expr(value=JoinedStr(values=[FormattedValue(value=Name(id='x', "
       "ctx=Load() @1:3-1:4), conversion=-1, format_spec=JoinedStr(@1:4-1:5) @1:2-1:6)] @1:0-1:7) @1:0-"
       "1:7)])"},
      {R"py(f"{x = }")py",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='x = ' @1:3-1:7), "
       "FormattedValue(value=Name(id='x', ctx=Load() @1:3-1:4), "
       "conversion=114 @1:2-1:8)] @1:0-1:9) @1:0-1:9)])"},
      {R"py(f"a{x=!s}")py",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='ax=' @1:2-1:6), "
       "FormattedValue(value=Name(id='x', ctx=Load() @1:4-1:5), "
       "conversion=115 @1:3-1:9)] @1:0-1:10) @1:0-1:10)])"},
      {R"py(f"{x=:5}")py",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='x=' @1:3-1:5), "
       "FormattedValue(value=Name(id='x', ctx=Load() @1:3-1:4), conversion=-1, "
       "format_spec=JoinedStr(values=[Constant(value='5' @1:6-1:7)] @1:5-1:7) @1:2-1:8)] @1:0-1:9) @1:0"
       "-1:9)])"},
      {"f'''{x  # c\n=}'''", R"py(Module(body=[Expr(value=JoinedStr(values=[Constant(value='x  \n=' @1:5-2:1), )py"
                             "FormattedValue(value=Name(id='x', ctx=Load() @1:5-1:6), "
                             "conversion=114 @1:4-2:2)] @1:0-2:5) @1:0-2:5)])"},
  };
  check(cases);
}

TEST(DumpAst, PeculiaritiesOf313) {
  const Case cases[] = {
      // Escapes in the format of a raw f-string are read.
      {R"py(rf'{x:\n}')py",
       "Module(body=[Expr(value=JoinedStr(values=[FormattedValue(value=Name(id='x', "
       R"py(ctx=Load() @1:4-1:5), conversion=-1, format_spec=JoinedStr(values=[Constant(value='\n' @1:6-1:8)py"
       ")] @1:5-1:8) @1:3-1:9)] @1:0-1:10) @1:0-1:10)])"},
      // Escapes in the text before a value too.
      {R"py(f"{'\n'=}")py", R"py(Module(body=[Expr(value=JoinedStr(values=[Constant(value="'\n'=" @1:3-1:8), )py"
                            R"py(FormattedValue(value=Constant(value='\n' @1:3-1:7), )py"
                            "conversion=114 @1:2-1:9)] @1:0-1:10) @1:0-1:10)])"},
      // Every `#` starts a comment.
      {R"py(f"{'#'=}")py", R"py(Module(body=[Expr(value=JoinedStr(values=[Constant(value="'" @1:3-1:7), )py"
                           "FormattedValue(value=Constant(value='#' @1:3-1:6), "
                           "conversion=114 @1:2-1:8)] @1:0-1:9) @1:0-1:9)])"},
      // `!=` ends the text.
      {"f'{a != b=}'",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='a ' @1:3-1:10), "
       "FormattedValue(value=Compare(left=Name(id='a', ctx=Load() @1:3-1:4), ops=[NotEq()], "
       "comparators=[Name(id='b', ctx=Load() @1:8-1:9)] @1:3-1:9), "
       "conversion=114 @1:2-1:11)] @1:0-1:12) @1:0-1:12)])"},
      // So does a colon in brackets, once there was a `=`.
      {"f'{f(a=1)[1:2]=}'",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='f(a=1)[1' @1:3-1:15), "
       "FormattedValue(value=Subscript(value=Call(func=Name(id='f', ctx=Load() @1:3-1:4), "
       "keywords=[keyword(arg='a', value=Constant(value=1 @1:7-1:8) @1:5-1:8)] @1:3-1:9), "
       "slice=Slice(lower=Constant(value=1 @1:10-1:11), "
       "upper=Constant(value=2 @1:12-1:13) @1:10-1:13), ctx=Load() @1:3-1:14), "
       "conversion=114 @1:2-1:16)] @1:0-1:17) @1:0-1:17)])"},
      // And a brace starts it anew.
      {"f'{f(a=1) | {1}=}'",
       "Module(body=[Expr(value=JoinedStr(values=[Constant(value='1' @1:3-1:16), "
       "FormattedValue(value=BinOp(left=Call(func=Name(id='f', ctx=Load() @1:3-1:4), "
       "keywords=[keyword(arg='a', value=Constant(value=1 @1:7-1:8) @1:5-1:8)] @1:3-1:9), op=BitOr(), "
       "right=Set(elts=[Constant(value=1 @1:13-1:14)] @1:12-1:15) @1:3-1:15), "
       "conversion=114 @1:2-1:17)] @1:0-1:18) @1:0-1:18)])"},
      // A field next to another one has its text.
      {"f'{x:{a}{b=}}'",
       "Module(body=[Expr(value=JoinedStr(values=[FormattedValue(value=Name(id='x', "
       "ctx=Load() @1:3-1:4), conversion=-1, format_spec=JoinedStr(values=[FormattedValue(value=Name(id"
       "='a', ctx=Load() @1:6-1:7), conversion=-1 @1:5-1:8), Constant(value='a' @1:9-1:11), "
       "FormattedValue(value=Name(id='b', ctx=Load() @1:9-1:10), "
       "conversion=114 @1:8-1:12)] @1:4-1:12) @1:2-1:13)] @1:0-1:14) @1:0-1:14)])"},
      // A text cut in two makes the format a Constant.
      {R"py(f'{x:\N{DIGIT ONE}b}')py",
       "Module(body=[Expr(value=JoinedStr(values=[FormattedValue(value=Name(id='x', "
       "ctx=Load() @1:3-1:4), conversion=-1, format_spec=Constant(value='1b' @1:5-1:19) @1:2-1:20)] @1:"
       "0-1:21) @1:0-1:21)])"},
  };
  check(cases);
}

TEST(DumpAst, NewerSyntax) {
  const Case cases[] = {
      {R"py(t"{ x = }{y!s:{w}}")py",
       "Module(body=[Expr(value=TemplateStr(values=[Constant(value=' x = ' @1:3-1:8), "
       "Interpolation(value=Name(id='x', ctx=Load() @1:4-1:5), str=' x', conversion=114 @1:2-1:9), "
       "Interpolation(value=Name(id='y', ctx=Load() @1:10-1:11), str='y', conversion=115, "
       "format_spec=JoinedStr(values=[FormattedValue(value=Name(id='w', ctx=Load() @1:15-1:16), "
       "conversion=-1 @1:14-1:17)] @1:13-1:17) @1:9-1:18)] @1:0-1:19) @1:0-1:19)])"},
      {R"py(t"a" rt"\n{x}")py", R"py(Module(body=[Expr(value=TemplateStr(values=[Constant(value='a\\n' @1:2-1:10), )py"
                                "Interpolation(value=Name(id='x', ctx=Load() @1:11-1:12), str='x', "
                                "conversion=-1 @1:10-1:13)] @1:0-1:14) @1:0-1:14)])"},
      {"lazy import a", "Module(body=[Import(names=[alias(name='a' @1:12-1:13)], is_lazy=1 @1:0-1:13)])"},
      {"lazy from a import b",
       "Module(body=[ImportFrom(module='a', names=[alias(name='b' @1:19-1:20)], level=0, "
       "is_lazy=1 @1:0-1:20)])"},
      {"{**d for d in e}",
       "Module(body=[Expr(value=DictComp(key=Name(id='d', ctx=Load() @1:3-1:4), "
       "generators=[comprehension(target=Name(id='d', ctx=Store() @1:9-1:10), iter=Name(id='e', "
       "ctx=Load() @1:14-1:15), is_async=0)] @1:0-1:16) @1:0-1:16)])"},
      {"[*x for x in y]",
       "Module(body=[Expr(value=ListComp(elt=Starred(value=Name(id='x', ctx=Load() @1:2-1:3), "
       "ctx=Load() @1:1-1:3), generators=[comprehension(target=Name(id='x', ctx=Store() @1:8-1:9), "
       "iter=Name(id='y', ctx=Load() @1:13-1:14), is_async=0)] @1:0-1:15) @1:0-1:15)])"},
  };
  check(cases);
}

TEST(DumpAst, PositionsAreWrittenOut) {
  EXPECT_EQ(dump("x"),
            "Module(body=[Expr(value=Name(id='x', ctx=Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=1), "
            "lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)])");
}

// One level of the tree for each operator: recursion would overflow the stack.
TEST(DumpAst, DeepTrees) {
  std::string source = "a";
  for (int i = 0; i < 200'000; ++i) source += "+a";
  const std::string text = dump(source);
  EXPECT_TRUE(text.starts_with("Module(body=[Expr(value=BinOp(left=BinOp(left=BinOp("));
  EXPECT_TRUE(text.ends_with("end_lineno=1, end_col_offset=400001)])"));
}

TEST(DumpAst, SyntaxErrorsStillGiveText) {
  for (const char* source :
       {"def", "class", "x = ", "f(", "f'{", "f'{x:{y=", "match x:\n case", "import", "from . import",
        "try: pass\nexcept A as", "{1:", "lambda", "@", "a.", "type X[", "'\\x'", "f'{!r}'"}) {
    EXPECT_TRUE(dump(source).starts_with("Module(")) << source;
  }
}

}  // namespace
}  // namespace graphmend

"""Pieces that the differential fuzzer writes into programs: tricky spellings of Python's syntax.

Each has its reason: a place where parsers are known to differ, or where one token changes what those before it mean.
"""

EXPRESSIONS = r"""
x
(x := 1)
x := 1
*a
**a
*a, b
(*a)
(*a,)
[*a.b(c)]
{**a, 'b': 1}
{*a, *b}
{**a, *b}
a if b else c
lambda: x
lambda *, a: a
lambda *a, b=1, **c: (yield)
lambda a, /, b: a
lambda x, /: 0
lambda **k, a: 0
await x
await x ** 2
-x ** -y
not a
not not a
a not in b
a is not b
a < b > c
a <> b
a ! b
yield
yield x
yield from x
yield *a, b
(yield)
await
async
[x for x in y]
[x async for x in y]
{x: y for x, y in z if a if b}
(x for x in y)
f(x for x in y)
f(x for x in y, 1)
f(a, x for x in y)
f(**a, *b)
f(*a, b, c=1, **d)
f(a=1, b)
f(a=1, a=2)
f(a:=1)
f(True=1)
f(a.b=1)
f((a)=1)
x[1:2, ::3, *a]
x[a:=1]
x[*a]
x[a:b:c:d]
x[]
()
[]
{}
{:}
{1:}
{1: *a}
{1, 2: 3}
...
None
True
__debug__
print x
exec 'x'
1_000
1__0
0777
0_7
00
0o17
0o8
0b102
0xfg
1e5
1e
1.e5j
1_e5
1.5_j
.5
5.
1if x else 2
1or 2
0x1for x in y
1.real
1..real
1jif x else y
9999999999999999999999
'a' "b"
b'a' 'b'
b'a' b"b"
b'é'
u'a' f'b'
ur'a'
'\N{DASH}'
'\N{EM DASH}'
'\x1'
'\u12'
'\U00110000'
b'\x1'
'\777'
b'\400'
'\d'
f''
f'{x}'
f'{x!r:>{y}}'
f'{x=}'
f'{x = !s}'
f'{x:=10}'
f'{(x:=10)}'
f'{x!z}'
f'{x!}'
f'{x! r}'
f'{x!r }'
f'{}'
f'{ }'
f'{!r}'
f'{:x}'
f'{{'
f'}}'
f'}'
f'{'
f'{{{x}}}'
f'{x:{y:{z}}}'
f'{x:{y:{z:{w}}}}'
f'{lambda x: 1}'
f'{lambda: 1}'
f'{(lambda x: 1)}'
f'{x:a{{b}}c}'
f'{x["a"]}'
f'{x['a']}'
f'{f'{f'{x}'}'}'
f"{'a' 'b'}"
f'{a, b}'
f'{*a, b}'
f'{*a}'
f'{yield}'
f'{await x}'
f'{a:b:c}'
f'{a#b}'
f'{"\n"}'
f'{a!=b}'
f'{a==b}'
f'{a>=b}'
f'{a:=^{b}}'
f'{a.b!r=}'
f'\N{DASH}{x}'
f'\{x}'
f'\x1{x}'
fr'\{x}'
rf'{x:\d}'
f'{x:\n}'
fb'x'
bf'x'
F"{x}" 'y' f'{z}' b''
t'{x}'
a.b.c
a . b
a.1
a.None
a.match
match
case
type
_
match(x)
case(x)
type(x)
match[x]
match * a
match -a
match, a
type x
type = 1
ªµ
𝔘𝔫𝔦
é
x²
ﬁ
Å
€
a　b
a b
‿a
·a
a·
℘
゛a
""".strip("\n").split("\n")

STATEMENTS = [
    "x: int",
    "x: int = 1",
    "(x): int = 1",
    "x.y: int = *a, b",
    "x, y: int",
    "[x]: int",
    "x = y = *a, b",
    "x = yield",
    "x = *a",
    "*a = b",
    "*a, = b",
    "*a, *b = c",
    "x += yield",
    "x, y += 1",
    "(x) += 1",
    "x =: 1",
    "f() = 1",
    "None = 1",
    "__debug__ = 1",
    "x + 1 = 2",
    "(a, b) = (c, d) = e",
    "[a, *b] = c",
    "{a} = b",
    "f'{x}' = 1",
    "1: int",
    "del x, (y), [z], a.b, a[1]",
    "del (x, y), []",
    "del *a",
    "del f()",
    "del (a + b)",
    "del",
    "assert x, y",
    "assert (x, y)",
    "raise",
    "raise x from y",
    "raise x, y",
    "return",
    "return *a, b",
    "return *[None] * 3, *g",
    "break",
    "continue",
    "pass",
    "global x",
    "global x, y",
    "nonlocal x",
    "global __debug__",
    "import a.b as c, d",
    "import a.b as c.d",
    "from . import a",
    "from ... import *",
    "from .... a import (b as c, d,)",
    "from a import b,",
    "from a import (b, *)",
    "from a import *",
    "from a import ()",
    "import a,",
    "from __future__ import annotations",
    "from __future__ import braces",
    "from __future__ import barry_as_FLUFL",
    "from __future__ import nothing",
    "lazy import a",
    "print 'x'",
    "print x, y",
    "exec x",
    "if x: pass",
    "if x := 1: pass",
    "if x = 1: pass",
    "if x: pass; y",
    "if x:\n    pass\nelif y:\n    pass\nelse:\n    pass",
    "while x:\n    break\nelse:\n    continue",
    "for x in *a, b: pass",
    "for x, in y: pass",
    "for *x, y in z: pass",
    "for x in y := z: pass",
    "for x in (yield): pass",
    "for f() in y: pass",
    "for x.y, z[0] in w: pass",
    "for 1 in x: pass",
    "for (x in y): pass",
    "for x not in y: pass",
    "async for x in y: pass",
    "async with x: pass",
    "async x",
    "async def f(): pass",
    "async def f():\n    await x\n    async for y in z: yield y\n    return",
    "async def f():\n    yield\n    return 1",
    "async def f():\n    yield from x",
    "async def f(): return [await x async for y in z]",
    "def f(): [await x for y in z]",
    "with a: pass",
    "with a as b, c as d: pass",
    "with (a as b, c as d,): pass",
    "with (a, b) as c: pass",
    "with (a, b): pass",
    "with (a): pass",
    "with (a as b): pass",
    "with (a as b), c: pass",
    "with (yield): pass",
    "with (a, b as c.d): pass",
    "with a as f(): pass",
    "with (a := b): pass",
    "with (a := b, c): pass",
    "with (*a, b): pass",
    "with a as (b, *c): pass",
    "with (a for a in b): pass",
    "with (a for a in b) as c, d: pass",
    "with (a)[b] as c: pass",
    "try: pass\nexcept: pass",
    "try: pass\nexcept A: pass\nexcept: pass\nelse: pass\nfinally: pass",
    "try: pass\nexcept: pass\nexcept A: pass",
    "try: pass\nfinally: pass",
    "try: pass\nelse: pass",
    "try: pass",
    "try: pass\nexcept A as b: pass",
    "try: pass\nexcept A as b.c: pass",
    "try: pass\nexcept A, B: pass",
    "try: pass\nexcept A, B as c: pass",
    "try: pass\nexcept (A, B) as c: pass",
    "try: pass\nexcept* A: pass",
    "try: pass\nexcept *A as b: pass",
    "try: pass\nexcept *: pass",
    "try: pass\nexcept* A: pass\nexcept B: pass",
    "try: pass\nexcept* A:\n    break",
    "try: pass\nexcept* A:\n    return",
    "try: pass\nexcept *A, B: pass",
    "def f(a, /, b, *, c): pass",
    "def f(a, b=1, /, c=2, *d, e, f=3, **g) -> h: pass",
    "def f(a=1, b): pass",
    "def f(a, a): pass",
    "def f(*): pass",
    "def f(*, **a): pass",
    "def f(**a, b): pass",
    "def f(**a,): pass",
    "def f(*a, *b): pass",
    "def f(*a, /): pass",
    "def f(/, a): pass",
    "def f(a, /, b, /): pass",
    "def f(a, (b, c)): pass",
    "def f(*a: *b): pass",
    "def f(*a: b = 1): pass",
    "def f(**a: *b): pass",
    "def f(a: *b): pass",
    "def f(a: yield): pass",
    "def f(a=(yield)): pass",
    "def f(a: int = 1, *, b: str): ...",
    "def f(None): pass",
    "def f(__debug__): pass",
    "def f(): ...\n",
    "def f(): x = 1; return x",
    "def f()\n    pass",
    "def f():\npass",
    "def f():\n    global x\n    x = 1",
    "def f(x):\n    global x",
    "def f():\n    x = 1\n    global x",
    "def f():\n    x = 1\n    def g():\n        nonlocal x",
    "def f():\n    nonlocal x",
    "def f():\n    global x\n    nonlocal x",
    "def f(): return lambda: (yield)",
    "def f():\n    from a import *",
    "def f[T](x: T) -> T: pass",
    "def f[T: int = str, *Ts = *a, **P = [int]](): pass",
    "def f[T = int, S](): pass",
    "def f[T, T](): pass",
    "def f[](): pass",
    "def f[*T: int](): pass",
    "def f[T: (yield)](): pass",
    "def f[T: (x := 1)](): pass",
    "def f[T]():\n    nonlocal T",
    "class A: pass",
    "class A(): x = 1",
    "class A(B, *C, metaclass=D, **E): pass",
    "class A(x for x in y): pass",
    "class A[T](B): pass",
    "class A:\n    def f(self): return __class__",
    "class A:\n    return 1",
    "class A:\n    nonlocal x",
    "class A:\n    x: int\n    global x",
    "class A:\n    (yield)",
    "class A: [(x := y) for y in z]",
    "type X = int",
    "type X[T] = list[T]",
    "type X[T: int, *Ts, **P] = T",
    "type X = (yield)",
    "type X = (x := 1)",
    "type X = await y",
    "type = x",
    "type X",
    "type X.y = 1",
    "type (X) = 1",
    "type X = *a",
    "type type = type",
    "@a\ndef f(): pass",
    "@a.b(c)[d]\nclass A: pass",
    "@a := b\ndef f(): pass",
    "@(yield)\ndef f(): pass",
    "@lambda f: f\ndef f(): pass",
    "@a, b\ndef f(): pass",
    "@a\nx = 1",
    "@a\n\n# c\n\nasync def f(): pass",
    "match x:\n    case 1: pass",
    "match x:\n    case _: pass\n    case y: pass",
    "match x:\n    case y: pass\n    case _: pass",
    "match x:\n    case y | _: pass",
    "match x:\n    case (y | 1): pass",
    "match x:\n    case [a] | [b]: pass",
    "match x:\n    case [a, a]: pass",
    "match x:\n    case [a, *_, b]: pass",
    "match x:\n    case [*a, *b]: pass",
    "match x:\n    case *a, b: pass",
    "match x:\n    case *a: pass",
    "match x:\n    case (): pass\n    case []: pass\n    case (a): pass\n    case (a,): pass",
    "match x:\n    case {}: pass\n    case {'a': b, **c}: pass",
    "match x:\n    case {**c, 'a': b}: pass",
    "match x:\n    case {**_}: pass",
    "match x:\n    case {'a': 1, 'a': 2}: pass",
    "match x:\n    case {a: 1}: pass",
    "match x:\n    case {a.b: 1, -1: 2, None: 3}: pass",
    "match x:\n    case A(): pass\n    case a.B(1, c=d): pass",
    "match x:\n    case A(c=1, 2): pass",
    "match x:\n    case A(c=1, c=2): pass",
    "match x:\n    case A(**b): pass",
    "match x:\n    case A(*b): pass",
    "match x:\n    case -1: pass\n    case 1+2j: pass\n    case -1-2j: pass",
    "match x:\n    case 1+1: pass",
    "match x:\n    case 1j+1: pass",
    "match x:\n    case +1: pass",
    "match x:\n    case - 1 | --1: pass",
    "match x:\n    case 'a' 'b': pass\n    case b'a': pass",
    "match x:\n    case f'a': pass",
    "match x:\n    case a as b: pass",
    "match x:\n    case 1 as a: pass",
    "match x:\n    case 1 as _: pass",
    "match x:\n    case 1 as a.b: pass",
    "match x:\n    case (1 as a) as b: pass",
    "match x:\n    case 1 | 2 as a: pass",
    "match x:\n    case a.b.c: pass",
    "match x:\n    case a if b := c: pass",
    "match x:\n    case a if b: pass\n    case a: pass",
    "match x:\n    case 1, 2: pass\n    case 1,: pass",
    "match x:\n    case None | True | False: pass",
    "match x,:\n    case a: pass",
    "match *x, y:\n    case a: pass",
    "match x := 1:\n    case a: pass",
    "match (yield):\n    case a: pass",
    "match:\n    case a: pass",
    "match x:\n    pass",
    "match x:\ncase a: pass",
    "match x: case a: pass",
    "match(x): pass",
    "match(x):\n    case a: pass",
    "match[x]:\n    case a: pass",
    "match -x:\n    case a: pass",
    "match not x:\n    case a: pass",
    "match lambda: x:\n    case a: pass",
    "match: int = 1",
    "match.x = 1",
    "match = case = type = _ = 1",
    "match x:\n    case case: pass\n    case match: pass\n    case type(): pass",
    "x; y;",
    "x;; y",
    ";",
    "x; if y: pass",
    "if x: if y: pass",
    "if x: y; z\n",
    "else: pass",
    "x\\\ny",
    "x = 1 + \\\n    2",
    "\\\nx",
    "\\\n    x",
    "if x:\n    \\\n  y",
    "if x:\n\\\n    y",
    "x \\ y",
    "x = (1,\n2\n)",
    "x = (  # c\n\n  1)",
    "# c",
    "# type: ignore",
    "x = 1  # type: int",
    "    # c",
    "if x:\n\ty\n        z",
    "if x:\n        y\n\tz",
    "if x:\n    y\n  z",
    "if x:\n  y\n    z",
    "if x:\n    y\n\x0c    z",
    "if x:\n  \x0c  y\n    z",
    "\x0cdef f(): pass",
    "x\x0c= 1",
    "# -*- coding: latin-1 -*-",
    "# coding: utf-8",
    "# coding: cp1252",
    "# coding: nonsense",
    "'''doc'''",
    "'''a\n  b\n'''",
    "x = 'a\\\nb'",
    "x = '''a\nb'''",
    "x = f'{a\n}'",
    "x = f'''{\na # c\n}'''",
    "x = f'''{a:\n}'''",
    "x = f'''{a!r:\n  b}'''",
    "'unterminated",
    "'''unterminated",
    "(",
    ")",
    "[)",
    "{(]})",
    "x = (\ny = 1",
    "$",
    "?",
    "`x`",
    "x!",
    "!x",
    "x.",
    "x..y",
    ".x",
    "x->y",
    "x @ y",
    "x @= y",
    "x //= y",
    "x **= y",
    "x := 1",
    "(x := 1)",
    "(x.y := 1)",
    "(x, y := 1, 2)",
    "((x, y) := 1)",
    "x = y := 1",
    "x = (y := 1)",
    "[x := 1 for y in z]",
    "[y := 1 for y in z]",
    "[x for x in (y := z)]",
    "[x for x in y if (x := 1)]",
    "[[x := 1 for y in z] for x in w]",
    "[x for x in *a, b]",
    "[x for x in a, b]",
    "[x for x, in a]",
    "[*x for x in y]",
    "{**x for x in y}",
    "[x, y for x in z]",
    "[x for x in lambda: y]",
    "[x for x in a if b else c]",
    "[x for x in a if lambda: b]",
    "(yield for x in y)",
    "[(yield x) for x in y]",
    "f(x for x in y, *z)",
]

# Bytes that change how the line around them is read.
SPECIAL = [
    b"\r", b"\r\n", b"\n", b"\n\n", b"\x0c", b"\t", b" ", b"    ", b"\\\n", b"\\\r\n", b"\\", b"\x00", b"\xef\xbb\xbf",
    b"\xff", b"\xc3", b"\xc3\xa9", b"\xe2\x82\xac", b"\xc2\xa0", b"\xe3\x80\x80", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80",
    b"\x0b", b"\x1a", b"\x7f", b"#", b"'", b'"', b"'''", b'"""', b"(", b")", b"[", b"]", b"{", b"}", b":", b";", b",",
    b".", b"...", b"=", b"==", b":=", b"!", b"!=", b"->", b"*", b"**", b"/", b"//", b"@", b"~", b"%", b"<>", b"|", b"&",
]  # fmt: skip

WORDS = """
False None True and as assert async await break class continue def del elif else except finally for from global if
import in is lambda nonlocal not or pass raise return try while with yield match case type _ print exec lazy
__debug__ __class__
""".split()

STRING_PREFIXES = ["", "r", "b", "f", "u", "rb", "bR", "fr", "Rf", "F", "U", "B", "t", "rt", "bu", "ur", "fb"]

# What is put around a few tokens.
WRAPPERS = [
    (b"(", b")"),
    (b"[", b"]"),
    (b"{", b"}"),
    (b"f(", b")"),
    (b"f(*", b")"),
    (b"x[", b"]"),
    (b"f'{", b"}'"),
    (b"f'''{", b"}'''"),
    (b"f'{x:{", b"}}'"),
    (b"f'{", b"=}'"),
    (b"f'{", b"!r}'"),
    (b"f'{", b":>{w}}'"),
    (b"rf'''\\{", b"}\\'''"),
    (b"lambda: ", b""),
    (b"not ", b""),
    (b"await ", b""),
    (b"(yield ", b")"),
    (b"(x := ", b")"),
    (b"x = ", b""),
    (b"*", b""),
    (b"**", b""),
    (b"-", b""),
    (b"@", b""),
    (b"del ", b""),
    (b"", b" if a else b"),
    (b"[", b" for a in b]"),
    (b"{", b": 1}"),
]

# Under which a whole program is put.
HEADERS = [
    b"def f():",
    b"async def f():",
    b"def f[T](x):",
    b"class A:",
    b"class A[T]:",
    b"if x:",
    b"else:",
    b"while x:",
    b"for x in y:",
    b"with x:",
    b"try:",
    b"try: pass\nexcept* A:",
    b"try: pass\nfinally:",
    b"match x:\n  case _:",
]

COOKIES = [
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf# coding: latin-1\n",
    b"# coding: latin-1\n",
    b"# -*- coding: utf-8 -*-\n",
    b"#!x\n# vim: set fileencoding=cp1252 :\n",
    b"\n\n# coding: latin-1\n",
    b"x # coding: latin-1\n",
    b"# coding: ascii\n",
    b"# coding: utf-8-sig\n",
    b"# coding=iso-8859-15\n",
    b"\x0c# coding: latin-1\n",
]

# Put into string literals.
STRING_PIECES = [
    *(b"{x}", b"{", b"}", b"{{", b"{x!r:{y}}", b"{x=}"),
    *(b"\\", b"\\N{DASH}", b"\\x4", b"\\\n", b"\n", b"\xc3\xa9"),
]

# How a program without its last line end may go on.
ENDINGS = [b"", b" ", b"\\", b"\\\n", b"\x0c", b"\r", b"\n    ", b"\n    #"]

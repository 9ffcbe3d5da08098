"""Scopes against CPython 3.13's `symtable`, small enough for every run; tests/corpus/same_scopes.py is the whole.

What is missing on this machine (a CPython 3.13, the library) skips tests, and the reason says so.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from corpus import fetch, scope_programs
from oracle import pool, pythons, scopes

_SAMPLE_FILES = 60
_SAMPLE_PROGRAMS = 400
_SEED = 20_250_101

# Each shows one rule of the symbol table.
_PROGRAMS = {
    "a comprehension's names become the function's": "def f(x): return [x + i for i in x]\n",
    "the first of two comprehensions decides": "def f(): return [i(j) for j in x], [i for i in x]\n",
    "a cell in an inlined comprehension": "def f(): return [lambda: i for i in x]\n",
    "a name of an inlined comprehension hides an outer one": "def f(i):\n def g(): return [i for i in x], lambda: i\n",
    "a nested comprehension": "def f(a): return [[a + b + c for c in b] for b in a]\n",
    "__class__ in a comprehension in a class": "class C:\n x = [__class__ for a in b]\n y = [__class__ for a in b]\n",
    "super in a comprehension": "class C:\n def f(self): return [super().f() for a in b]\n",
    "walrus at module level": "[y := 1 for x in z]\n",
    "walrus in a function": "def f():\n [y := 1 for x in z]\n return lambda: y\n",
    "walrus of a global": "def f():\n global y\n [y := 1 for x in z]\n",
    "a class hides nothing from its methods": "def f(x):\n class C:\n  x = x\n  def g(self): return x\n",
    "a global declaration stops the look-up": "def f(x):\n def g():\n  global x\n  def h(): return x\n",
    "a global declaration in a class does not": "def f(x):\n class C:\n  global x\n  def h(self): return x\n",
    "private names": "class _C:\n __a = 1\n def f(self, __b): return __a, __b, __c__, [__d for __d in x]\n",
    "private names of a generic class": "class A:\n class B[__T: __U, __V = __T](__W, __T): x: __T\n",
    "type parameters in a class": (
        "class A:\n y = 1\n def f[T: y, *U = y](self, a: y = y, *, k=y): return T\n type B[T] = T | y\n"
    ),
    "a comprehension before a type alias": "def f(a):\n class C:\n  [a for a in x]\n  type B = a\n",
    "annotations that are not evaluated": "from __future__ import annotations\ndef f(x: (lambda: a)): y: b = c\n",
    "annotations of odd targets": "def f():\n (x): a\n (y): a = 1\n z.w: b\n",
    "order of a call": "f(a=lambda: 1, *[x for x in y], **(lambda: 2))\n",
    "order of a definition": (
        "@(lambda: d)\ndef f(a: (lambda: n)=(lambda: e), *, b: (lambda: m), **k: (lambda: o)): pass\n"
    ),
    "order of a dictionary": "{(lambda: a): (lambda: b), **(lambda: c), (lambda: d): 1}\n",
    "order of a conditional": "(lambda: a) if (lambda: b) else (lambda: c)\n",
    "order of a comprehension": "{(lambda: a): (lambda: b) for x[lambda: c] in (lambda: d) if (lambda: e)}\n",
    "a function called top": "def top(genexpr): a = (x for x in genexpr)\n",
    "match": "def f(x):\n match x:\n  case {'a': [b, *_], **c} | K(b, d=c) as e if b: pass\n",
    "lines": "@d\n\nclass \\\n C: pass\nx = [\n\n y for y in (\n lambda: 1)]\ntype A[T: (\n int)] = (\n T)\n",
}


def _compare(library: str, oracle: pythons.Python, programs: list[tuple[str, bytes]]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for (name, _), answer in pool.run_all(oracle.executable, library, "tasks.same_scopes_of_program", programs):
        assert not isinstance(answer, pool.Failure), f"{name}: {answer}"
        outcome, detail = answer
        outcomes[outcome] += 1
        assert outcome in ("same", "refused"), f"{name}: {detail}"
    return outcomes


def test_rules(library: str, oracle: pythons.Python) -> None:
    """One small program for each rule."""
    outcomes = _compare(library, oracle, [(name, source.encode()) for name, source in _PROGRAMS.items()])
    assert outcomes == {"same": len(_PROGRAMS)}


def test_standard_library(library: str, oracle: pythons.Python) -> None:
    """A sample of it."""
    paths = sorted(fetch.files_of(oracle.library))
    sample = random.Random(_SEED).sample(paths, min(_SAMPLE_FILES, len(paths)))
    outcomes = _compare(library, oracle, [(str(path), path.read_bytes()) for path in sample])
    assert outcomes["same"] > len(sample) * 0.9


def test_generated_programs(library: str, oracle: pythons.Python) -> None:
    """Random programs full of scopes."""
    programs = [(f"program {seed}", scope_programs.program(seed).encode()) for seed in range(_SAMPLE_PROGRAMS)]
    assert _compare(library, oracle, programs)["same"] > _SAMPLE_PROGRAMS * 0.3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x: cell, parameter", "x: local, parameter"),
        ("x: free, referenced", "x: free,"),
        ("x: free, referenced", "y: free, referenced"),
        ("      x: free, referenced;\n", ""),
        ("lambda line 2 nested", "lambda line 2"),
        ("function f line 1", "function f line 2"),
        ("function f line 1", "function f line 1 inlined"),
        ("    function lambda line 2 nested\n      x: free", "  function lambda line 2 nested\n    x: free"),
    ],
)
def test_differences_are_seen(before: str, after: str) -> None:
    """The comparison itself."""
    dump = (
        "module top line 0\n  f: local, assigned namespace;\n  function f line 1\n    x: cell, parameter;\n"
        "    function lambda line 2 nested\n      x: free, referenced;\n"
    )
    assert before in dump
    assert scopes.first_difference(scopes.of_dump(dump), scopes.of_dump(dump)) is None
    changed = scopes.of_dump(dump.replace(before, after))
    assert scopes.first_difference(scopes.of_dump(dump), changed) is not None

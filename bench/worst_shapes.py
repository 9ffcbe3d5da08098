"""Linear time on the worst shapes. In: nothing. Out: a table of time per byte at three lengths, exit 1 if it grows.

Each shape is a text that repeats something without end: a line, a chain, a bracket, an error. It is read at about 0.6,
2.5 and 10 MB; when the time per byte at the longest is more than LIMIT times that of the shorter, something rescans.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = (640_000, 2_560_000, 10_240_000)
# Caches explain less than this; rescanning would show as 16. Where errors are looked for after parsing, tables of names
# outgrow the caches.
LIMITS = {"errors": 3.0}
LIMIT = 1.6
# Nanoseconds for a byte below which the memory's own speed is measured.
FLOOR = 2.0


def repeated(head: str, unit: str, tail: str = "\n") -> Callable[[int], str]:
    """HEAD UNIT UNIT … TAIL; `{i}` in the unit is its number."""

    def make(length: int) -> str:
        if "{i}" not in unit:
            return head + unit * (length // len(unit)) + tail
        parts = [unit.replace("{i}", str(i)) for i in range(length // (len(unit) + 3))]
        return head + "".join(parts) + tail

    return make


def mirrored(opening: str, middle: str, closing: str) -> Callable[[int], str]:
    """As many closings as openings."""

    def make(length: int) -> str:
        count = length // (len(opening) + len(closing))
        return opening * count + middle + closing * count + "\n"

    return make


def nested_blocks(length: int) -> str:
    """Blocks 90 deep, again and again: close to CPython's limit."""
    tower = "".join(" " * depth + "if x:\n" for depth in range(90)) + " " * 90 + "y\n"
    return tower * (length // len(tower))


def indentation_stairs(length: int) -> str:
    """Every line deeper than the one before, past every limit, with tabs so that the file stays small."""
    lines = int((2 * length) ** 0.5)
    return "".join("\t" * depth + "if x:\n" for depth in range(lines)) + "\n"


SHAPES: dict[str, Callable[[int], str]] = {
    # One line.
    "one line, list of numbers": repeated("x = [", "12345, ", "]\n"),
    "one line, one string": repeated('x = "', "abcdefgh", '"\n'),
    "one string full of escapes": repeated('x = "', "\\x41\\n", '"\n'),
    "one string that never ends": repeated('x = """', "abc\n", ""),
    "one name": repeated("", "abcdefgh"),
    "one name, not ASCII": repeated("", "äöü"),
    "one number": repeated("x = 1", "0123456789"),
    "one number, hexadecimal": repeated("x = 0x", "123456789abcdef"),
    "statements with semicolons": repeated("", "x=1;"),
    # Chains.
    "sum": repeated("x = a", "+a"),
    "product and sum": repeated("x = a", "*a+a"),
    "power": repeated("x = a", "**a"),
    "comparison": repeated("x = a", "<a"),
    "boolean": repeated("x = a", " or a and b"),
    "not": repeated("x = ", "not ", "a\n"),
    "minus": repeated("x = ", "-", "a\n"),
    "await": repeated("x = ", "await ", "a\n"),
    "conditional expression": repeated("x = a", " if b else c"),
    "lambda": repeated("x = ", "lambda: ", "a\n"),
    "attributes": repeated("x = a", ".b"),
    "calls": repeated("x = a", "()"),
    "method calls": repeated("x = a", ".b(c)"),
    "subscripts": repeated("x = a", "[0]"),
    "slices": repeated("x = a[", "1:2:3,", "]\n"),
    "assignments": repeated("", "a = ", "0\n"),
    "tuple targets": repeated("", "a, ", "= b\n"),
    "starred": repeated("x = ", "*a, "),
    "walrus": repeated("x = [", "(a := 1), ", "]\n"),
    "strings side by side": repeated("x = (", "'ab' ", ")\n"),
    "dotted import": repeated("import a", ".b"),
    "imported names": repeated("from a import (", "b as c, ", ")\n"),
    "global names": repeated("global a", ", a{i}"),
    "deleted names": repeated("del ", "a, "),
    # Lists of parts.
    "dict": repeated("x = {", "'key': 1, ", "}\n"),
    "set": repeated("x = {", "1, ", "}\n"),
    "arguments": repeated("f(", "a, ", ")\n"),
    "keyword arguments": repeated("f(", "a{i}=1, ", ")\n"),
    "parameters": repeated("def f(", "a{i}, ", "): pass\n"),
    "parameters with defaults": repeated("def f(", "a{i}=1, ", "): pass\n"),
    "positional-only parameters": repeated("def f(", "a{i}, ", "/): pass\n"),
    "lambda parameters": repeated("x = lambda ", "a{i}, ", ": 0\n"),
    "type parameters": repeated("def f[", "T{i}, ", "](): pass\n"),
    "class bases": repeated("class A(", "B, ", "): pass\n"),
    "decorators": repeated("", "@a\n", "def f(): pass\n"),
    "comprehension clauses": repeated("x = [a ", "for b in c ", "]\n"),
    "comprehension conditions": repeated("x = [a for b in c ", "if d ", "]\n"),
    "with items": repeated("with a as b", ", a as b", ": pass\n"),
    "with items in parentheses": repeated("with (", "a as b, ", "): pass\n"),
    # Statements.
    "small statements": repeated("", "x = 1\n"),
    "names": repeated("", "x\n"),
    "pass": repeated("def f():\n", " pass\n"),
    "elif": repeated("if x: pass\n", "elif x: pass\n"),
    "elif with blocks": repeated("if x:\n pass\n", "elif x:\n pass\n"),
    "except": repeated("try: pass\n", "except A: pass\n"),
    "case": repeated("match x:\n", " case 1: pass\n"),
    "alternatives of a pattern": repeated("match x:\n case 1", " | 1", ": pass\n"),
    "captures of a pattern": repeated("match x:\n case [", "a{i}, ", "]: pass\n"),
    "functions": repeated("", "def f{i}(a): return a\n"),
    "classes": repeated("", "class A:\n x = 1\n"),
    "names of one function": repeated("def f():\n", " a{i} = 1\n"),
    "closures": repeated("def f(a):\n", " def g(): return a\n"),
    "global and uses": repeated("def f():\n", " global a{i}\n a{i} = 1\n"),
    "blocks 90 deep": nested_blocks,
    "if and match as a name": repeated("", "match[x] = match.y\n"),
    "match on one line": repeated("x = ", "match * ", "1\n"),
    "match before commas": repeated("", "match, "),
    "match calls": repeated("", "match(x)\n"),
    "with and a parenthesis": repeated("", "with (a): pass\n"),
    "with and a call": repeated("", "with (a)(b) as c: pass\n"),
    "f-strings": repeated("", "f'{a!r:>{b}} {c=}'\n"),
    "fields of one f-string": repeated("f'", "{a}", "'\n"),
    "doubled braces of one f-string": repeated("f'", "{{}}", "'\n"),
    "f-strings side by side": repeated("x = (", "f'{a}' ", ")\n"),
    # Layout.
    "comments": repeated("", "# comment\n"),
    "one comment": repeated("#", "comment "),
    "comments in brackets": repeated("x = [", "a, # b\n", "]\n"),
    "comments between a name and a bracket": repeated("x = (a", "# b\n", ")\n"),
    "comments between statements": repeated("", "x\n# a\n"),
    "blank lines": repeated("", "\n"),
    "lines of blanks": repeated("", "    \n"),
    "carriage returns": repeated("", "x\r"),
    "form feeds": repeated("", "\f"),
    "continuation lines": repeated("x = 1", "\\\n"),
    "continuation lines at the start": repeated("", "\\\n", "x\n"),
    "blanks": repeated("x", " ", "= 1\n"),
    "tabs before a line": repeated("", "\t", "x\n"),
    # Brackets.
    "brackets 190 deep": repeated("", "(" * 190 + "a" + ")" * 190 + "\n"),
    "calls 90 deep": repeated("", "f(" * 90 + "a" + ")" * 90 + "\n"),
    "f-strings 100 deep": repeated("", "f'{" * 100 + "a" + "}'" * 100 + "\n"),
    "brackets without limit": mirrored("(", "a", ")"),
    "lists without limit": mirrored("[", "a", "]"),
    "dicts without limit": mirrored("{a:", "b", "}"),
    "calls without limit": mirrored("f(", "a", ")"),
    "subscripts without limit": mirrored("f[", "a", "]"),
    "lambdas without limit": mirrored("(lambda:", "a", ")"),
    "f-strings without limit": mirrored("f'{", "a", "}'"),
    "fields without limit": mirrored("f'{x:", "a", "}'"),
    "formats without limit": lambda length: "f'" + mirrored("{x:", "a", "}")(length) + "'\n",
    "patterns without limit": lambda length: "match x:\n case " + mirrored("[", "a", "]")(length)[:-1] + ": pass\n",
    "indentation without limit": indentation_stairs,
    # Errors.
    "opening parentheses": repeated("", "("),
    "opening brackets of all kinds": repeated("", "([{"),
    "opening parentheses on lines": repeated("", "(\n"),
    "closing parentheses": repeated("", ")"),
    "closing of the wrong kind": mirrored("(", "", "]"),
    "closing of the wrong kind in a field": lambda length: "[f'{" + mirrored("(", "", "]")(length),
    "never closed, then statements": repeated("x = (\n", "y = 1\n"),
    "never closed, again and again": repeated("", "x = (a\ndef f(): pass\n"),
    "never closed, names on lines": repeated("", "x = (a\n\ny\npass\n"),
    "broken lines": repeated("", "x y\n"),
    "broken lines in a block": repeated("if x:\n", " x y\n"),
    "broken statements with semicolons": repeated("", "x y;"),
    "broken compound statements": repeated("", "if x y:\n pass\nelse:\n pass\n"),
    "blocks that are missing": repeated("", "if x:\n"),
    "blocks that are missing, with a bracket": repeated("", "if (x\n):\n"),
    "else without if": repeated("", "else: pass\n"),
    "try without except": repeated("", "try:\n pass\n"),
    "unexpected indents": repeated("", "x\n  y\n"),
    "unindent to nowhere": repeated("", "if x:\n    y\n  z\n"),
    "tabs against spaces": repeated("if x:\n", "\ty\n        z\n"),
    "strings that are not closed": repeated("", "x = 'a\n"),
    "f-strings that are not closed": repeated("", "x = f'{a\n"),
    "f-string formats that are not closed": repeated("", "x = f'{a:\n"),
    "quotes": repeated("", "'"),
    "starts of f-strings": repeated("", "f'{"),
    "starts of f-strings, other quotes": repeated("", "f'{f\"{"),
    "braces in an f-string": repeated("f'", "}", "'\n"),
    "dollars": repeated("", "$"),
    "NUL bytes": repeated("", "\0"),
    "backslashes": repeated("", "\\"),
    "numbers with letters": repeated("", "1a "),
    "decimal numbers with zeros": repeated("", "01 "),
    "bad escapes": repeated("x = '", "\\xz", "'\n"),
    "assignments to a call": repeated("", "f() = 1\n"),
    "print statements": repeated("", "print x\n"),
    "operators": repeated("x = a", " + *"),
    "keywords": repeated("", "def "),
    "keywords on lines in brackets": repeated("(", "\npass"),
    "colons": repeated("", ":"),
    "at signs": repeated("", "@"),
    "match again and again": repeated("", "match "),
    "match with an open bracket": repeated("", "match (\n"),
    "match without case": repeated("", "match x:\n y\n"),
    "with and open brackets": repeated("", "with (\n"),
    "with and open brackets of a call": repeated("", "with (a, b(\n"),
    "return outside of functions": repeated("", "return\n"),
    "names bound twice": repeated("", "def f(a, a): pass\n"),
}


def measure(binary: Path, stage: str, files: list[Path], rounds: int) -> list[float] | str:
    """Nanoseconds for each byte of each file, or why there are none."""
    command: list[str | Path] = [binary, "--stage", stage, "--each", "--rounds", str(rounds), *files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "more than two minutes"
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    if done.returncode != 0:
        return done.stderr.strip()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [float(line["seconds"]) * 1e9 / int(line["bytes"]) for line in lines]


def check_shape(binary: Path, stage: str, name: str, folder: Path, rounds: int) -> tuple[str, bool]:
    """A row of the table, and whether the shape is read in linear time."""
    files = []
    for length in LENGTHS:
        file = folder / f"{length}.py"
        file.write_text(SHAPES[name](length), encoding="utf-8", newline="")
        files.append(file)
    limit = LIMITS.get(stage, LIMIT)
    times = measure(binary, stage, files, rounds)
    if isinstance(times, list) and times[-1] > limit * min(times[:-1]):
        # Once more: the machine may have been busy.
        times = measure(binary, stage, files, rounds * 3)
    if isinstance(times, str):
        return f"| {name} | {times} | | | | **no** |", False
    # The shorter files are near the clock's noise; the better of the two speaks for them.
    factor = times[-1] / min(times[:-1])
    fine = factor <= limit or times[-1] < FLOOR
    numbers = " | ".join(f"{time:.2f}" for time in times)
    return f"| {name} | {numbers} | {factor:.2f} | {'yes' if fine else '**no**'} |", fine


def page_head(stage: str) -> list[str]:
    """What the page says before its table."""
    return [
        "# Time per byte on the worst shapes",
        "",
        f"Written by `make bench` (`bench/worst_shapes.py`); do not edit. Stage: {stage}. The factor compares the",
        f"longest file with the better of the shorter ones; above {LIMITS.get(stage, LIMIT)} something is not linear.",
        "",
    ]


def main() -> int:
    """Reads the command line, runs the shapes, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/bench/bench_front_end")
    parser.add_argument("--stage", default="lex+parse", help="lex, lex+parse (the default), tree or errors")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--output", type=Path, help="a page to write the table to as well")
    arguments = parser.parse_args()
    if not arguments.binary.exists():
        sys.exit(f"worst_shapes.py: {arguments.binary} is not built; run `make build-bench`")

    rows = ["| shape | ns/byte at 0.6 MB | at 2.5 MB | at 10 MB | factor | linear |", "|---|--:|--:|--:|--:|---|"]
    print(*rows, sep="\n", flush=True)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="worst-shapes-") as folder:
        for name in SHAPES:
            if arguments.only not in name:
                continue
            row, fine = check_shape(arguments.binary, arguments.stage, name, Path(folder), arguments.rounds)
            print(row, flush=True)
            rows.append(row)
            bad += not fine
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text("\n".join([*page_head(arguments.stage), *rows]) + "\n")
    if bad:
        print(f"{bad} shapes grow faster than their length", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

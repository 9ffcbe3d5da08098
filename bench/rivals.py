"""One rival over a list of files, in this process. In: its name, a file of paths. Out: a JSON line with its CPU time.

Run by bench/front_end.py, with the Python whose tokenizer and parser are measured, or that has the rival installed.
Files are in memory before the clock starts. Nothing here is imported by anybody.
"""

from __future__ import annotations

import ast
import collections
import gc
import io
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Reads one file's bytes; what it returns is thrown away.
Reader = Callable[[bytes], object]


def tokenizer_iterator() -> Reader:
    """CPython's C tokenizer as `tokenize` drives it, without the Python code around it."""
    import _tokenize  # type: ignore[import-not-found]

    iterator = _tokenize.TokenizerIter

    def read(source: bytes) -> object:
        tokens = iterator(io.BytesIO(source).readline, encoding="utf-8", extra_tokens=False)
        return collections.deque(tokens, maxlen=0)

    return read


def tokenizer_alone() -> Reader:
    """CPython's C tokenizer without a Python object for each token.

    Nothing in Python asks for that, but after a syntax error CPython tokenizes the rest of the file to look for errors
    of the tokenizer, and drops the tokens: so a wrong first line makes it do just this.
    """

    def read(source: bytes) -> object:
        try:
            compile(b"x x\n" + source, "<file>", "exec", ast.PyCF_ONLY_AST)
        except SyntaxError as error:
            if error.lineno != 1:
                raise
            return None
        raise AssertionError("CPython accepted `x x`")

    return read


def ast_parse() -> Reader:
    """What everybody uses."""
    return ast.parse


def ast_parse_without_gc() -> Reader:
    """The same without the garbage collector, which wanders through the trees again and again."""
    gc.disable()
    return ast.parse


def tree_sitter() -> Reader:
    """tree-sitter with its Python grammar; the tree stays on the C side."""
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language())).parse


def libcst() -> Reader:
    """LibCST's native parser, which makes Python objects."""
    from libcst import native  # type: ignore[attr-defined,unused-ignore]

    def read(source: bytes) -> object:
        return native.parse_module(source.decode())

    return read


def nothing() -> Reader:
    """Not a rival: what starting and reading the files takes, for callgrind."""
    return len


def check() -> Reader:
    """Not a rival: fails for what CPython does not accept, or what is not UTF-8."""

    def read(source: bytes) -> object:
        source.decode()
        return ast.parse(source)

    return read


RIVALS = {
    "tokenizer-iterator": tokenizer_iterator,
    "tokenizer-alone": tokenizer_alone,
    "ast": ast_parse,
    "ast-without-gc": ast_parse_without_gc,
    "tree-sitter": tree_sitter,
    "libcst": libcst,
    "nothing": nothing,
}


def accepted(paths: Sequence[str]) -> list[str]:
    """The files that every rival can read."""
    import warnings

    warnings.simplefilter("ignore")
    read = check()
    good = []
    for path in paths:
        try:
            read(Path(path).read_bytes())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        good.append(path)
    return good


def timed(read: Reader, sources: Sequence[bytes], once: bool) -> float:
    """CPU seconds for all of them, after a few to warm up; with `once` there are none, for callgrind."""
    for source in [] if once else sources[:: max(1, len(sources) // 20)]:
        read(source)
    start = time.process_time()
    for source in sources:
        read(source)
    return time.process_time() - start


def main() -> int:
    """Reads the command line and prints the answer."""
    import warnings

    warnings.simplefilter("ignore")
    name, list_path = sys.argv[1:3]
    paths = Path(list_path).read_text().splitlines()
    answer: dict[str, Any]
    if name == "accepted":
        answer = {"paths": accepted(paths)}
    else:
        sources = [Path(path).read_bytes() for path in paths]
        answer = {"seconds": timed(RIVALS[name](), sources, "--once" in sys.argv), "bytes": sum(map(len, sources))}
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())

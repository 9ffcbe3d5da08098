"""One source file and its mends: from lines at which graphs broke to mended code objects.

The native mender gives text and says where each piece of it came from. Here that text is parsed by Python itself, every
node gets the user's own positions back, and it is compiled: tracebacks, carets, coverage and log records show the
user's file as it is.
"""

import __future__

import ast
import bisect
import contextlib
import gc
import struct
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from graphmend._native import WANT_TEXT, library

_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


@dataclass(frozen=True)
class Piece:
    start: int
    end: int
    original_start: int
    original_end: int
    copied: bool


@dataclass(frozen=True)
class Mend:
    """One mended place."""

    kind: str
    line: int
    start: int
    end: int
    site: str
    outlined: str
    pieces: tuple[Piece, ...]
    class_name: str
    # The line that broke, of which this one is the like; 0 if it is that line.
    like: int = 0


@dataclass
class MendedText:
    text: bytes
    pieces: tuple[Piece, ...]
    mends: list[Mend] = field(default_factory=list)
    declined: dict[int, str] = field(default_factory=dict)


class SourceError(ValueError):
    """The file on disk does not parse, so it is not what the running code was made of."""


class _Flat:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        (value,) = struct.unpack_from("<I", self.data, self.at)
        self.at += 4
        return int(value)

    def bytes(self) -> bytes:
        length = self.number()
        self.at += length
        return self.data[self.at - length : self.at]

    def text(self) -> str:
        return self.bytes().decode("utf-8")

    def pieces(self) -> tuple[Piece, ...]:
        count = self.number()
        numbers = struct.unpack_from(f"<{5 * count}I", self.data, self.at)
        self.at += 20 * count
        return tuple(
            Piece(*numbers[i : i + 4], copied=numbers[i + 4] != 0)  # type: ignore[misc]
            for i in range(0, 5 * count, 5)
        )


_KINDS = ("postpone", "check", "select", "speculate", "substitute")


def mend_text(
    source: bytes,
    file_name: str,
    lines: list[int],
    functions: list[int],
    talkers: list[str],
    speculates: bool = True,
    substitutes: Sequence[str] = (),
    ahead: bool = False,
) -> MendedText:
    """Asks the native library for the mends of these lines, and of all that may break in the functions around those;
    `ahead`: also of what is like these lines, and has not broken yet."""
    flat = _Flat(library().mend(source, file_name, lines, functions, talkers, speculates, substitutes, ahead))
    if flat.number() != 0:
        raise SourceError(file_name)
    result = MendedText(flat.bytes(), flat.pieces())
    for _ in range(flat.number()):
        kind = _KINDS[flat.number()]
        line, start, end = flat.number(), flat.number(), flat.number()
        text = (flat.text(), flat.text(), flat.pieces(), flat.text())
        result.mends.append(Mend(kind, line, start, end, *text, like=flat.number()))
    for _ in range(flat.number()):
        line = flat.number()
        result.declined[line] = flat.text()
    return result


def decoded(source: bytes) -> bytes:
    """The text of a file as UTF-8 without a byte-order mark: what all offsets here count."""
    return library().read(source, WANT_TEXT).text


class Positions:
    """Offsets of a text as lines and columns, and back; bytes of UTF-8, as `ast` counts."""

    def __init__(self, text: bytes) -> None:
        self.starts = [0]
        at = 0
        # Unlike str.splitlines, this knows no other line ends than LF, CR LF and CR.
        for line in text.splitlines(keepends=True):
            at += len(line)
            self.starts.append(at)

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]


def relocate(tree: ast.AST, mended: Positions, pieces: tuple[Piece, ...], original: Positions) -> None:
    """Gives every node of the mended text the position of what it came from."""
    starts = [piece.start for piece in pieces]

    def find(offset: int) -> Piece:
        return pieces[bisect.bisect_right(starts, offset) - 1]

    cache: dict[tuple[int, int, bool], tuple[int, int]] = {}
    asserts: list[Any] = []

    def move(line: int, column: int, is_end: bool) -> tuple[int, int]:
        key = (line, column, is_end)
        if key not in cache:
            offset = mended.offset(line, column)
            if is_end:
                piece = find(max(offset - 1, 0))
                moved = piece.original_start + offset - piece.start if piece.copied else piece.original_end
            else:
                piece = find(offset)
                moved = piece.original_start + offset - piece.start if piece.copied else piece.original_start
            cache[key] = original.position(moved)
        return cache[key]

    for node in ast.walk(tree):
        positioned: Any = node
        if not hasattr(node, "lineno"):
            continue
        was = (positioned.lineno, positioned.col_offset)
        start = move(positioned.lineno, positioned.col_offset, False)
        end = move(positioned.end_lineno, positioned.end_col_offset, True)
        positioned.lineno, positioned.col_offset = start
        # A node of added text may begin in one piece and end in an earlier one. An attribute does not go over lines:
        # CPython takes its last line for that of the call.
        is_added = isinstance(node, ast.Attribute) and not find(mended.offset(*was)).copied
        positioned.end_lineno, positioned.end_col_offset = start if is_added else max(start, end)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.IfExp):
            asserts.append(node.test)
    for test in asserts:
        # An assert raises where its test stands; `not a in b` is one comparison to CPython, and no `not`.
        if _is_folded(test.body):
            ast.copy_location(test, test.body.operand)


def _is_folded(test: Any) -> bool:
    is_negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    if not is_negated or not isinstance(test.operand, ast.Compare) or len(test.operand.ops) > 1:
        return False
    return isinstance(test.operand.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot))


@contextlib.contextmanager
def _warned_before() -> Iterator[None]:
    """Inside, the compiler does not tell again what it told of the user's text when that was imported.

    `warnings.catch_warnings` would make Python forget which warnings were shown already.
    """
    quiet = [("ignore", None, kind, None, 0) for kind in (SyntaxWarning, DeprecationWarning)]
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    filters[:0] = quiet
    try:
        yield
    finally:
        for each in quiet:
            filters.remove(each)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Inside, Python looks for no garbage: a tree has no cycles, and for its many nodes Python would go through all
    objects of the process."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _parsed(text: str, file_name: str) -> ast.Module:
    with _warned_before():
        return ast.parse(text, file_name)


def compile_text(source: bytes, file_name: str, flags: int) -> CodeType:
    """The file as it is."""
    with _uncollected():
        return _code(_parsed(source.decode("utf-8"), file_name), file_name, flags)


def compile_module(source: bytes, mended: MendedText, file_name: str, flags: int) -> CodeType:
    """The mended module's code, with the user's positions. `flags` are the future features of the running code."""
    with _uncollected():
        tree = _parsed(mended.text.decode("utf-8"), file_name)
        relocate(tree, Positions(mended.text), mended.pieces, Positions(source))
        return _code(tree, file_name, flags)


def compile_outlined(source: bytes, mend: Mend, file_name: str, flags: int) -> CodeType:
    """The code that defines a postponed statement's function; it binds the function's name."""
    tree = _parsed(mend.outlined, file_name)
    relocate(tree, Positions(mend.outlined.encode()), mend.pieces, Positions(source))
    if mend.class_name:
        # Private names are spelled after the class they stand in.
        function = tree.body[0]
        around = ast.ClassDef(name=mend.class_name, bases=[], keywords=[], body=[function], decorator_list=[])
        if "type_params" in ast.ClassDef._fields:
            around.type_params = []  # type: ignore[attr-defined,unused-ignore]
        tree.body = [ast.copy_location(around, function)]
    return _code(tree, file_name, flags)


def _code(tree: ast.Module, file_name: str, flags: int) -> CodeType:
    with _warned_before():
        code: CodeType = compile(tree, file_name, "exec", flags=flags & _FUTURE_FLAGS, dont_inherit=True)
    return code

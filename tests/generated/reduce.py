"""Makes a failing program small. In: its text, and how to judge a text. Out: a smaller text that fails the same way.

Delta debugging over the program's tree: statements go, blocks are unwrapped, expressions become their parts. Edits are
made in the text, so that lines, columns and layout, which may be the failure, stay.
"""

from __future__ import annotations

import ast
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .campaign import Request, judge_text, prepare
from .judge import Verdict
from .workers import Crash, Died, run_tasks

# A reduction that makes one of these has cut something the rest needs.
_ACCIDENTS = {
    f"builtins.{name}" for name in ("NameError", "UnboundLocalError", "AttributeError", "TypeError", "ImportError")
}


class _Text:
    """A text with its tree, and edits by node."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._bytes = text.encode()

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        first, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        decorators = getattr(node, "decorator_list", [])
        if decorators:
            first, column = decorators[0].lineno, decorators[0].col_offset - 1
        return self.offset(first, column), self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self._bytes[start:end].decode()

    def replace(self, start: int, end: int, text: str) -> str:
        return (self._bytes[:start] + text.encode() + self._bytes[end:]).decode()

    def block_text(self, block: list[ast.stmt], indent: int) -> str:
        """A block's statements, moved to another indentation."""
        start = self.span(block[0])[0]
        end = self.span(block[-1])[1]
        lines = self._bytes[start:end].decode().split("\n")
        shift = block[0].col_offset - indent
        return "\n".join([lines[0]] + [line[shift:] if line[:shift].isspace() else line for line in lines[1:]])


def candidates(text: str) -> Iterator[str]:
    """Smaller programs, the boldest first."""
    source = _Text(text)
    statements: list[tuple[int, ast.stmt, int]] = []
    for parent in ast.walk(source.tree):
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list):
                for child in block:
                    if isinstance(child, ast.stmt):
                        start, end = source.span(child)
                        statements.append((end - start, child, len(block)))
    statements.sort(key=lambda entry: -entry[0])
    for _, node, siblings in statements:
        start, end = source.span(node)
        if siblings > 1:
            yield source.replace(start, end, "0" if _shares_line(source, node) else "")
        elif not isinstance(node, ast.Pass):
            yield source.replace(start, end, "pass")
    for _, node, _ in statements:
        start, end = source.span(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if block and isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                yield source.replace(start, end, source.block_text(block, node.col_offset))
        if isinstance(node, ast.If) and node.orelse:
            yield source.replace(source.span(node.body[-1])[1], end, "")
    yield from _smaller_expressions(source)


def _shares_line(source: _Text, node: ast.stmt) -> bool:
    line = source.text.split("\n")[node.lineno - 1]
    return bool(line.encode()[: node.col_offset].strip())


def _smaller_expressions(source: _Text) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1 and hasattr(node, "lineno"):
            for element in node.elts:
                yield _without(source, node, element)
            continue
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Name, ast.Constant)):
            continue
        start, end = source.span(node)
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.BoolOp):
            parts = node.values
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        elif isinstance(node, ast.Call):
            parts = node.args[:1] + ([node.func.value] if isinstance(node.func, ast.Attribute) else [])
            for argument in [*node.args, *(keyword for keyword in node.keywords)]:
                yield _without(source, node, argument)
        elif isinstance(node, ast.JoinedStr):
            yield source.replace(start, end, '"t"')
        for part in parts:
            if hasattr(part, "lineno"):
                yield source.replace(start, end, f"({source.source(part)})")


def _without(source: _Text, node: ast.expr, part: ast.AST) -> str:
    """The text without one element or argument, and without the comma behind it."""
    start, end = source.span(part)
    limit = source.span(node)[1]
    rest = source.text.encode()[end:limit]
    comma = len(rest) - len(rest.lstrip()) if rest.lstrip().startswith(b",") else None
    if comma is not None:
        return source.replace(start, end + comma + 1, "")
    before = source.text.encode()[:start].rstrip()
    return source.replace(len(before) - 1 if before.endswith(b",") else start, end, "")


def reduce_program(
    text: str, verdict: Verdict, request: Request, max_tests: int = 400, seconds: float = 300.0
) -> tuple[str, Verdict]:
    """The smallest failing program found within `max_tests` tests and `seconds`, and the verdict on it."""
    prepare(request.backend)
    allowed = set(verdict.raised)
    best, best_verdict = text, verdict
    tests = position = 0
    deadline = time.monotonic() + seconds
    progressed = True
    with tempfile.TemporaryDirectory(prefix="graphmend_reduce_") as made:
        folder = Path(made)

        def work(task: tuple[int, str]) -> Verdict:
            return judge_text(task[1], request, folder)

        while progressed or position:
            if not progressed:
                position = 0
            progressed = False
            trials = [
                (number, candidate)
                for number, candidate in enumerate(candidates(best))
                if number >= position and candidate != best and _parses(candidate)
            ]
            answers = run_tasks(trials, work, request.jobs, 6, request.limit)
            for (number, candidate), answer in answers:
                if isinstance(answer, Died):
                    continue
                tests += 1
                found = Verdict(crash=answer.reason) if isinstance(answer, Crash) else answer
                accidents = (set(found.raised) - allowed) & _ACCIDENTS
                if found.kind == verdict.kind and not accidents:
                    best, best_verdict, position, progressed = candidate, found, number, True
                    answers.close()
                    break
                if tests >= max_tests or time.monotonic() > deadline:
                    answers.close()
                    return best, best_verdict
            if not progressed and position == 0:
                break
    return best, best_verdict


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True

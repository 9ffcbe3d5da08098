"""Edits of a source text, and the lines that they change. In: a tree, edits. Out: a `Change`, if it is still Python.

An edit is (start, end, text): characters of the text that go, and what comes in their place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphmend._reporting.spot import code_tokens
from graphmend._tree import Node, Tree, parse

Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Row:
    """A line that goes (`-`) or comes (`+`)."""

    sign: str
    # The line of the file that goes, or in whose place or before which it comes; None where any will do.
    line: int | None
    text: str


@dataclass(frozen=True)
class Change:
    rows: tuple[Row, ...]
    # Where lines without a number go.
    where: str = ""

    def parts(self) -> list[tuple[str, tuple[Row, ...]]]:
        """The lines of the file, and those that go elsewhere, each with where that is."""
        own = tuple(row for row in self.rows if row.line or not self.where)
        others = tuple(row for row in self.rows if row not in own)
        return [part for part in (("", own), (self.where, others)) if part[1]]

    def lines(self, width: int = 0) -> list[str]:
        """As a diff, with the numbers of the lines, and where those go that have none."""
        width = max([width, *(len(str(row.line)) for row in self.rows if row.line)])
        lines = []
        for where, rows in self.parts():
            lines += [f"  {where}:"] if where else []
            lines += [f"{row.sign} {row.line or '':{width}} | {row.text}" for row in rows]
        return lines

    def to_dict(self) -> dict[str, Any]:
        return {"where": self.where, "rows": [[row.sign, row.line, row.text] for row in self.rows]}


def changed(tree: Tree, edits: Sequence[Edit]) -> Change | None:
    """The lines that the edits change; nothing when nothing is left of Python, or nothing changes."""
    text = tree.text
    starts = [0, *(index + 1 for index, letter in enumerate(text) if letter == "\n")]
    rows: list[Row] = []
    pieces: list[str] = []
    done = 0
    for group in _by_lines(text, sorted(edits)):
        first, last = text.rfind("\n", 0, group[0][0]) + 1, _end_of_line(text, group[-1][1])
        new = ""
        at = first
        for start, end, replacement in group:
            new += text[at:start] + replacement
            at = end
        new += text[at:last]
        pieces += [text[done:first], new]
        done = last
        rows += _rows(text[first:last].splitlines(), new.splitlines(), starts.index(first) + 1)
    result = "".join([*pieces, text[done:]])
    return Change(tuple(rows)) if rows and parse(result).ok else None


def along(change: Change | None, where: str, *lines: str) -> Change | None:
    """The change with lines that go elsewhere."""
    rows = [Row("+", None, line) for text in lines for line in text.split("\n")]
    return Change((*change.rows, *rows), where) if change else None


def _end_of_line(text: str, at: int) -> int:
    # An edit that takes its end of line along ends where the next line starts.
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _by_lines(text: str, edits: Sequence[Edit]) -> list[list[Edit]]:
    groups: list[list[Edit]] = []
    for edit in edits:
        if groups and edit[0] < _end_of_line(text, groups[-1][-1][1]):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _rows(old: list[str], new: list[str], first: int) -> list[Row]:
    while old and new and old[0] == new[0]:
        old, new, first = old[1:], new[1:], first + 1
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    goes = [Row("-", first + index, line) for index, line in enumerate(old)]
    # As many lines as go have their places; more come before what follows.
    comes = [Row("+", first + min(index, max(len(old) - 1, 0)), line) for index, line in enumerate(new)]
    return [*goes, *comes]


def replace(node: Node, text: str) -> Edit:
    return node.start, node.end, text


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def indent_of(node: Node) -> str | None:
    """What stands before it in its line; nothing when that is more than blanks."""
    text = node._tree.text
    indent = text[line_start(text, node.start) : node.start]
    return indent if not indent.strip() else None


def insert_lines(at: int, *lines: str) -> Edit:
    """Lines before a line of the text that starts there."""
    return at, at, "".join(f"{line}\n" for line in lines)


def delete_lines(node: Node) -> Edit | None:
    """The lines of a node that has them for itself."""
    text = node._tree.text
    first = text.rfind("\n", 0, node.start) + 1
    last = _end_of_line(text, node.end)
    after = text[node.end : last].strip()
    alone = not text[first : node.start].strip() and (not after or after.startswith("#"))
    return (first, last, "") if alone else None


def delete_statement(statement: Node) -> Edit | None:
    """`pass` stands in for a statement that is alone in its block."""
    body = statement.parent
    if body is not None and body.kind == "Body" and len(body.children) == 1:
        return replace(statement, "pass")
    return delete_lines(statement)


def add_argument(call: Node, text: str) -> Edit:
    *_, before, _ = tokens = code_tokens(call)
    if before.text == ",":
        before = tokens[-3]
    return before.end, before.end, text if before.text == "(" else f", {text}"


def delete_argument(call: Node, argument: Node) -> Edit:
    """The argument with one of the commas around it."""
    tokens = code_tokens(call)
    index = next(index for index, token in enumerate(tokens) if token.start == argument.start)
    if tokens[index - 1].text == ",":
        return tokens[index - 1].start, argument.end, ""
    after = next(token for token in tokens if token.start >= argument.end)
    if after.text == ",":
        follower = tokens[tokens.index(after) + 1]
        return argument.start, follower.start, ""
    return replace(argument, "")

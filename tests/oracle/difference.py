"""Where two dumps of trees part. In: both dumps. Out: the line, the nodes around the place, and both texts there.

Left out: everything after the first difference; one cause usually shows as one difference.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PIECES = re.compile(r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|(\w+)=|(\w+)\(|(\[)|([\])])|(,)""", re.DOTALL)
_SHAPE = re.compile(r"\w*\W?\w?")
_LINE = re.compile(r"\blineno=(\d+)")


class Difference(NamedTuple):
    """`path` is the nodes and fields down to the place; `group` is what differences of one cause share."""

    line: int
    path: str
    expected: str
    actual: str
    group: str


def _enclosing(prefix: str) -> list[str]:
    stack: list[str] = []
    field = ""
    for match in _PIECES.finditer(prefix):
        name, node, opening, closing, comma = match.groups()
        if name:
            field = name
        elif node:
            stack.append(f"{field}:{node}" if field else node)
            field = ""
        elif opening:
            stack.append(f"{field}[]")
            field = ""
        elif comma:
            field = ""
        elif closing and stack:
            stack.pop()
            field = ""
    if field:
        stack.append(field)
    return stack


def _common_length(first: str, second: str) -> int:
    # Slices are compared in C: dumps have millions of characters.
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def first_difference(expected: str, actual: str) -> Difference:
    """The first place where `actual` is not `expected`; the two must differ."""
    at = _common_length(expected, actual)
    # Start at the piece that differs, not in the middle of a word or number.
    start = at
    while start > 0 and (expected[start - 1].isalnum() or expected[start - 1] in "_'\""):
        start -= 1
    stack = _enclosing(expected[:start])
    match = _LINE.search(expected, at) or _LINE.search(expected)
    line = int(match.group(1)) if match else 0
    wanted = expected[start : start + 100]
    given = actual[start : start + 100]
    shape = [_SHAPE.match(re.sub(r"\d+", "N", text)) for text in (wanted, given)]
    became = " became ".join(repr(match.group()) if match else "''" for match in shape)
    group = " > ".join(stack[-2:]) + " : " + became
    return Difference(line, " > ".join(stack[-8:]), wanted, given, group)

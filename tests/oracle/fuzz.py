"""Rounds of the differential fuzzer, inside a worker. In: a pool, a seed, round numbers. Out: counts and differences.

The number of the round at work stands in a file, so that a crash can be traced to its input.
"""

from __future__ import annotations

import ast
import mmap
import pickle
import struct
import textwrap
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oracle import mutate, tasks

_MAX_PIECE = 1200
_MAX_LINES = 40
_pools: dict[str, Sequence[bytes]] = {}


def pool_at(path: str) -> Sequence[bytes]:
    """The sources that write_pool wrote."""
    if path not in _pools:
        _pools[path] = pickle.loads(Path(path).read_bytes())
    return _pools[path]


def pieces_of(path: str) -> list[bytes]:
    """The small statements and functions of one file, each a source of its own; nothing if CPython refuses it."""
    source = Path(path).read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        text = source.decode("utf-8")
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = text.splitlines(keepends=True)
    pieces = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        start = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", [])])
        end = node.end_lineno or start
        if end - start >= _MAX_LINES:
            continue
        piece = textwrap.dedent("".join(lines[start - 1 : end])).encode("utf-8", "replace")
        if 3 < len(piece) <= _MAX_PIECE:
            pieces.append(piece)
    return pieces


def round_source(pool_path: str, seed: int, number: int) -> bytes:
    """The input of one round."""
    return mutate.mutated(pool_at(pool_path), seed, number)


if TYPE_CHECKING:
    Found = tuple[int, bytes, tuple[str, str, str]]


def rounds(pool_path: str, seed: int, start: int, count: int, progress: str) -> tuple[dict[str, int], list[Found]]:
    """Runs `count` rounds from number `start`; what they found: (round, source, (kind, group, detail))."""
    pool = pool_at(pool_path)
    counts: Counter[str] = Counter()
    found: list[Found] = []
    with Path(progress).open("r+b") as file, mmap.mmap(file.fileno(), 8) as at_work:
        for number in range(start, start + count):
            struct.pack_into("<q", at_work, 0, number)
            source = mutate.mutated(pool, seed, number)
            outcome = tasks.classify(source)
            if outcome.kind == tasks.SAME:
                counts[outcome.group] += 1
            else:
                counts[outcome.kind] += 1
                found.append((number, source, tuple(outcome)))  # type: ignore[arg-type]
    return dict(counts), found

"""How long a mend takes, beside CPython's own work. In: modules of about 100 KB. Out: bench/results/mend.md.

From a request ("this file, these places") to the mended text with its map, everything included: reading, facts, mends,
the answer in Python. CPython's `ast.parse` and `compile` of the same text are timed in turn with it, in one process.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench.machine import machine
from bench.page import Page
from graphmend._mending.mended_file import mend_text

SIZE = 100_000
ROUNDS = 15
COLUMNS = (
    "module",
    "KB",
    "one place, ms",
    "20 places, ms",
    "all functions, ms",
    "mends there",
    "`ast.parse`, ms",
    "`compile`, ms",
)


def modules(count: int) -> list[Path]:
    """The modules of transformers that are nearest to 100 KB."""
    spec = importlib.util.find_spec("transformers")
    assert spec is not None and spec.origin is not None
    found = Path(spec.origin).parent.rglob("modeling_*.py")
    return sorted(found, key=lambda path: (abs(path.stat().st_size - SIZE), path.name))[:count]


def median_ms(*functions: Callable[[], object]) -> list[float]:
    """Each in its turn, so that what else the machine does hits all of them."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, times in zip(functions, taken, strict=True):
            started = time.perf_counter()
            function()
            times.append(1000 * (time.perf_counter() - started))
    return [statistics.median(times) for times in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="write the table there as well")
    parser.add_argument("--modules", type=int, default=6)
    words = parser.parse_args()
    about = f"`make bench-mend`: medians of {ROUNDS}, on {machine()}."
    page = Page("From a request to mended text", about, COLUMNS, words.output)
    for path in modules(words.modules):
        source = path.read_bytes()
        tree = ast.parse(source)
        branches = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.If) and node.col_offset > 4]
        functions = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]

        def mend(lines: list[int], whole: list[int], source: bytes = source, name: str = str(path)) -> object:
            return mend_text(source, name, lines, whole, [])

        times = median_ms(
            lambda: mend(branches[:1], []),  # noqa: B023
            lambda: mend(branches[:20], []),  # noqa: B023
            lambda: mend([], functions),  # noqa: B023
            lambda: ast.parse(source),  # noqa: B023
            lambda: compile(source, "module", "exec"),  # noqa: B023
        )
        mends = len(mend_text(source, str(path), [], functions, []).mends)
        cells = [f"{each:.2f}" for each in times]
        page.add([path.stem, round(len(source) / 1000), *cells[:3], mends, *cells[3:]])


if __name__ == "__main__":
    main()

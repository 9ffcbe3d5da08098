"""The snippets of same_verdict.py. In: the CPythons' tests and the fixtures in the corpus. Out: unique snippets.

Extracting takes seconds; the result is kept beside the corpus until the roots change.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

from oracle import pool, pythons, snippets
from oracle.snippets import Snippet

from corpus import fetch


def _collect(roots: dict[str, Path], oracle: pythons.Python) -> list[Snippet]:
    calls: list[tuple[Any, ...]] = []
    # The newest first: its snippets are the ones that name where they come from.
    numbers = sorted((int(name.partition(".")[2]) for name in roots if name.startswith("python3.")), reverse=True)
    calls += [("from_cpython", str(roots[f"python3.{number}"]), f"3.{number}") for number in numbers]
    calls += [
        ("from_fixtures", str(roots[name]), fetch.FIXTURES[name], name) for name in fetch.FIXTURES if name in roots
    ]
    if "libcst" in roots:
        # LibCST keeps its cases in the strings of its unit tests.
        calls.append(("from_unit_tests", str(roots["libcst"]), "libcst/_nodes/tests/*.py", "libcst"))
    found: list[Snippet] = []
    # By the oracle, whatever Python runs this: an older one cannot read the tests of a newer one.
    worker = pool.Worker(oracle.executable, None, timeout=600)
    for function, *arguments in calls:
        answer = worker.call(f"snippets.{function}", *arguments)
        if isinstance(answer, pool.Failure):
            raise RuntimeError(f"{function} {arguments}: {answer.kind} {answer.detail}")
        found += answer
    worker.close()
    return snippets.unique(found)


def load(cache: Path) -> list[Snippet]:
    """All snippets, none without a CPython 3.13; from the cache if neither the roots nor the extraction changed."""
    oracle = pythons.oracle_python()
    if oracle is None:
        return []
    roots = fetch.load_roots(cache)
    extraction = Path(snippets.__file__).read_bytes() + Path(__file__).read_bytes()
    key = hashlib.blake2b(extraction + repr(sorted(roots.items())).encode(), digest_size=8).hexdigest()
    stored = cache / f"snippets-{key}.pickle"
    if stored.exists():
        pairs = pickle.loads(stored.read_bytes())
        return [Snippet(*pair) for pair in pairs]
    found = _collect(roots, oracle)
    cache.mkdir(parents=True, exist_ok=True)
    partial = stored.with_suffix(".partial")
    partial.write_bytes(pickle.dumps([tuple(snippet) for snippet in found]))
    partial.rename(stored)
    return found

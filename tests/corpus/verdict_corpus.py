"""The snippets of same_verdict.py. In: the CPythons' tests and the fixtures in the corpus. Out: unique snippets.

Extracting takes seconds; the result is kept beside the corpus until the roots change.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Dict, Iterator, List

from corpus import fetch
from oracle import snippets


def _all(roots: Dict[str, Path]) -> Iterator[snippets.Snippet]:
    pythons = [name for name in roots if name.startswith("python3.")]
    # The newest first: its snippets are the ones that name where they come from.
    for name in sorted(pythons, key=lambda name: -int(name.partition(".")[2])):
        yield from snippets.from_cpython(roots[name], name[len("python") :])
    for name, patterns in fetch.FIXTURES.items():
        if name in roots:
            yield from snippets.from_fixtures(roots[name], patterns, name)
    if "libcst" in roots:
        # LibCST keeps its cases in the strings of its unit tests.
        for path in sorted(roots["libcst"].glob("libcst/_nodes/tests/*.py")):
            yield from snippets.snippets_in(path, f"libcst/{path.name}")


def load(cache: Path) -> List[snippets.Snippet]:
    """All snippets; from the cache if neither the roots nor the extraction changed."""
    roots = fetch.load_roots(cache)
    extraction = Path(snippets.__file__).read_bytes() + Path(__file__).read_bytes() + repr(sys.version_info).encode()
    key = hashlib.blake2b(extraction + repr(sorted(roots.items())).encode(), digest_size=8).hexdigest()
    stored = cache / f"snippets-{key}.pickle"
    if stored.exists():
        with stored.open("rb") as file:
            pairs = pickle.load(file)
        return [snippets.Snippet(*pair) for pair in pairs]
    found = snippets.unique(_all(roots))
    cache.mkdir(parents=True, exist_ok=True)
    partial = stored.with_suffix(".partial")
    partial.write_bytes(pickle.dumps([tuple(snippet) for snippet in found]))
    partial.rename(stored)
    return found

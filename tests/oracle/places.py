"""Where things are. In: the environment and the checkout. Out: the repository, the cache, the shared library.

GRAPHMEND_LIBRARY names the shared library; without it, that of build/release is taken.
"""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
DEFAULT_CACHE = REPOSITORY / "build" / "corpus"

_LIBRARY_PATTERNS = [
    "build/release/**/libgraphmend.so",
    "build/*/**/libgraphmend.so",
    "python/graphmend/**/libgraphmend.so",
]


def find_library(given: str | None = None) -> str | None:
    """The shared library given, named in the environment, or built here; None if there is none."""
    named = given or os.environ.get("GRAPHMEND_LIBRARY")
    if named:
        return str(Path(named).resolve()) if Path(named).exists() else None
    for pattern in _LIBRARY_PATTERNS:
        found = sorted(REPOSITORY.glob(pattern), key=lambda path: path.stat().st_mtime)
        if found:
            return str(found[-1])
    return None

"""Puts this folder on the path, so that tests share the modules in tests/oracle and tests/corpus; what they test.

What is missing on this machine (a CPython 3.13, the library) skips tests, and the reason says so.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from oracle import pythons

# What a test compiles is to break, whatever ran before it; tests of the memory turn it on.
os.environ["GRAPHMEND_REMEMBER"] = "0"

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS))


@pytest.fixture(scope="session", autouse=True)
def _cheap_compiles() -> None:
    """Takes away a sixth of the time that tests of compiled code need."""
    if "torch" not in sys.modules:
        return
    import torch._dynamo.guards

    # Dynamo times every new set of guards with the caches flushed, for a log line.
    vars(torch._dynamo.guards)["profile_guard_manager"] = lambda *_: 0.0
    # What is here stays: collections need not look at it.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture(scope="session")
def library() -> str:
    from oracle import places

    found = places.find_library()
    if found is None:
        pytest.skip("graphmend's shared library is not built; run `make` or set GRAPHMEND_LIBRARY")
    return found


@pytest.fixture(scope="session")
def oracle() -> pythons.Python:
    from oracle import pythons

    python = pythons.oracle_python()
    if python is None:
        pytest.skip("there is no CPython 3.13 here; name one in GRAPHMEND_PYTHONS")
    return python


@pytest.fixture(scope="session")
def graphmend() -> str:
    """GRAPHMEND_BIN, else what `make` built, else the command of this environment or on PATH."""
    built = TESTS.parent / "build" / "release" / "graphmend"
    beside_python = Path(sys.executable).parent / "graphmend"
    for candidate in (os.environ.get("GRAPHMEND_BIN"), built, beside_python, shutil.which("graphmend")):
        if candidate and Path(candidate).is_file():
            return str(candidate)
    pytest.fail("no graphmend: build it, or set GRAPHMEND_BIN")

"""Which CPythons this machine has. In: PATH, the pyenv root, GRAPHMEND_PYTHONS. Out: the interpreter of each 3.x.

GRAPHMEND_PYTHONS is a list of interpreters, separated as PATH is, that go before those found.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

Minor = tuple[int, int]
OLDEST: Minor = (3, 8)
ORACLE: Minor = (3, 13)
SUPPORTED = [(3, minor) for minor in range(OLDEST[1], ORACLE[1] + 1)]

_PROBE = (
    "import sys, os, platform; print(sys.version_info[0], sys.version_info[1], "
    "platform.python_implementation(), os.path.dirname(os.__file__), sep='\\n')"
)


class Python:
    """One interpreter: its executable, its (major, minor) and the folder of its standard library."""

    def __init__(self, executable: str, version: Minor, library: Path) -> None:
        self.executable = executable
        self.version = version
        self.library = library

    @property
    def name(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def _candidates() -> Iterator[str]:
    yield from filter(None, os.environ.get("GRAPHMEND_PYTHONS", "").split(os.pathsep))
    roots = [Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"]
    # Where uv puts the interpreters it installs.
    roots.append(Path("~/.local/share/uv/python").expanduser())
    for root in roots:
        for folder in sorted(root.glob("*3.*"), reverse=True):
            yield str(folder / "bin" / "python3")
    for major, minor in SUPPORTED:
        found = shutil.which(f"python{major}.{minor}")
        if found:
            yield found
    found = shutil.which("python3")
    if found:
        yield found


def _probe(executable: str) -> Python | None:
    try:
        answer = subprocess.run([executable, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = answer.stdout.splitlines()
    if answer.returncode != 0 or len(lines) != 4 or lines[2] != "CPython":
        return None
    return Python(executable, (int(lines[0]), int(lines[1])), Path(lines[3]))


@functools.cache
def find_pythons() -> dict[Minor, Python]:
    """The CPythons from 3.8 to 3.13 found, one of each; those that come with their `test` folder are preferred."""
    found: dict[Minor, Python] = {}
    for candidate in _candidates():
        python = _probe(candidate) if Path(candidate).exists() else None
        if python is None or python.version not in SUPPORTED:
            continue
        known = found.get(python.version)
        has_tests = (python.library / "test" / "test_syntax.py").exists()
        if known is None or (has_tests and not (known.library / "test" / "test_syntax.py").exists()):
            found[python.version] = python
    return dict(sorted(found.items()))


def oracle_python() -> Python | None:
    """CPython 3.13, whose trees and verdicts graphmend promises to match; None where there is none."""
    return find_pythons().get(ORACLE)

"""The files to measure on. In: the Pythons of this machine. Out: copies of torch and of the standard library.

Copies, so that every tool walks the same folders and none finds a setting, a cache or an ignore file on its way.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

RIVALS = Path(__file__).resolve().parent / "rivals.py"
# Folders that one tool or another leaves out by itself.
SKIPPED = set("__pycache__ __pypackages__ _build buck-out build dist node_modules site-packages venv".split())


@dataclass
class Corpus:
    """A folder of Python files that CPython accepts, all UTF-8."""

    name: str
    folder: Path
    files: list[Path]
    left_out: int
    # Small folders in it, whose instructions are counted.
    subset: list[Path]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.stat().st_size for file in self.files)

    def sample(self, size: int) -> list[Path]:
        """Every n-th file, so that they have about that many bytes together."""
        step = max(1, self.size // size)
        return self.files[step // 2 :: step]


def find_cpython(wanted: str = "3.13") -> Path | None:
    """The CPython to compare with: from PYTHON313, PATH, or pyenv."""
    candidates = [os.environ.get("PYTHON313"), shutil.which(f"python{wanted}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates += [str(path) for path in sorted(pyenv.glob(f"versions/{wanted}.*/bin/python"))]
    for candidate in candidates:
        if candidate and Path(candidate).exists():
            return Path(candidate)
    return None


def ask(python: Path, code: str) -> str:
    """What a line of Python prints."""
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def find_torch(python: Path) -> Path | None:
    """The folder of torch, without importing it."""
    code = "import importlib.util as u; s = u.find_spec('torch'); print(s.origin if s else '')"
    origin = ask(python, code)
    return Path(origin).parent if origin else None


def find_library(python: Path) -> Path:
    """The folder of the standard library."""
    return Path(ask(python, "import sysconfig; print(sysconfig.get_path('stdlib'))"))


def walk(folder: Path) -> list[Path]:
    """All `*.py` in it, in a fixed order."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts[:-1]
        if path.is_file() and not any(part in SKIPPED or part.startswith(".") for part in parts):
            found.append(path)
    return found


def accepted(cpython: Path, files: list[Path], scratch: Path) -> list[Path]:
    """Those that CPython accepts and that are UTF-8."""
    listing = scratch / "candidates"
    listing.write_text("\n".join(map(str, files)))
    done = subprocess.run([cpython, RIVALS, "accepted", listing], capture_output=True, text=True, check=True)
    return [Path(path) for path in json.loads(done.stdout)["paths"]]


def copy_corpus(name: str, source: Path, subset: list[str], cpython: Path, scratch: Path) -> Corpus:
    """Copies what every tool can read."""
    candidates = walk(source)
    good = accepted(cpython, candidates, scratch)
    folder = scratch / name.replace(" ", "-")
    files = []
    for file in good:
        copy = folder / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        files.append(copy)
    return Corpus(name, folder, files, len(candidates) - len(good), [folder / part for part in subset])

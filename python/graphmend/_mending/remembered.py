"""What was mended in a file, kept on disk, so that the next process traces the file mended from the start.

Kept are lines whose mends are exact, and what Dynamo said of them; the mends are made anew from the file, and while it
is traced they are what they would be if it had broken there just now. Nothing is kept of what was tried in vain, or of
predictions: those hang on more than the file. In: a file, its text, what was mended. Out: the same, later.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphmend import _config
from graphmend._files import write_whole
from graphmend._reporting.report import Break

_FORMAT = 1
# Where a file is, is where it is now; sites are of one process.
_NOT_KEPT = ("file", "sites", "model", "predictions")
# Of what Dynamo says, what follows is the user's own lines.
_OWN_LINES = "\nfrom user code:"


@dataclass
class Record:
    """What is known of one file."""

    breaks: list[Break]
    # Names of calls that are traced as others.
    substitutes: list[str]


def is_known(file: str) -> bool:
    """Whether there is a record of a file; it may be of another text."""
    path = _path(file)
    return path is not None and path.is_file()


def recall(file: str, text: bytes, speculates: bool) -> Record | None:
    """The record of a file that has this text, if there is one."""
    path = _path(file)
    if path is None:
        return None
    try:
        kept = json.loads(path.read_bytes())
        if kept["of"] != _identity(text):
            return None
        found = kept["records"].get(_key(speculates), {"breaks": [], "substitutes": []})
        return Record([_decoded(each, file) for each in found["breaks"]], [str(each) for each in found["substitutes"]])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def keep(file: str, text: bytes, speculates: bool, breaks: Iterable[Break], substitutes: Iterable[str]) -> None:
    """Adds to the record of a file that has this text; a record of another text goes."""
    path = _path(file)
    if path is None:
        return
    records = {}
    for each in (False, True):
        known = recall(file, text, each) or Record([], [])
        by_line = {entry.line: entry for entry in known.breaks}
        if each == speculates:
            by_line |= {entry.line: entry for entry in breaks}
            known.substitutes = sorted({*known.substitutes, *substitutes})
        records[_key(each)] = {"breaks": list(map(_encoded, by_line.values())), "substitutes": known.substitutes}
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, json.dumps({"of": _identity(text), "records": records}))


def _path(file: str) -> Path | None:
    """Where the record of a file is; None if it has none."""
    if not _config.current().remember:
        return None
    try:
        if not Path(file).is_file():
            return None
        name = hashlib.sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:32]
        return _folder() / f"{name}.json"
    except (OSError, ValueError, RuntimeError):
        # It has no name that a file can have, or nobody is at home.
        return None


def _folder() -> Path:
    chosen = os.environ.get("GRAPHMEND_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "graphmend"


def _identity(text: bytes) -> list[Any]:
    """What a record is of; it fits no other."""
    return [_FORMAT, hashlib.sha256(text).hexdigest(), torch.__version__, list(sys.version_info[:3])]


def _key(speculates: bool) -> str:
    return "with predictions" if speculates else "without"


def _encoded(entry: Break) -> dict[str, Any]:
    kept = {name: value for name, value in dataclasses.asdict(entry).items() if name not in _NOT_KEPT}
    return {**kept, "message": entry.message.partition(_OWN_LINES)[0]}


def _decoded(kept: dict[str, Any], file: str) -> Break:
    around = tuple((str(name), int(line), str(function)) for name, line, function in kept.pop("around"))
    return Break(file=file, around=around, **kept)

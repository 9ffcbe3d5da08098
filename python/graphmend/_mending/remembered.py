"""What was mended in a file, kept on disk, so that the next process traces the file mended from the start.

A record has no more than the lines that broke the graph and what Dynamo said of them; the mends are made anew. One that
is of another text, of another version, damaged or not there costs only the traces that it was to save. In: a file's
name. Out: its record, to be read, added to and saved.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from graphmend import _config
from graphmend._mending.learnt import Captures
from graphmend._reporting.report import Break

_FORMAT = 1


@dataclass
class Record:
    """What is known of one file, with predictions or without."""

    # By line: what broke there, and was mended.
    breaks: dict[int, Break] = field(default_factory=dict)
    # Names of calls that are traced as others, and of methods that do more than talk.
    substitutes: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    # By function, as `name:line`: what of its frames is captured as symbols.
    captures: dict[str, Captures] = field(default_factory=dict)


def is_on() -> bool:
    return _config.current().remember


@functools.cache
def record_of(file: str, speculates: bool) -> Record:
    """The record of a file; an empty one if there is none that fits."""
    path = _path(file)
    if not is_on() or path is None:
        return Record()
    try:
        kept = json.loads(path.read_bytes())
        if kept["of"] != _identity(file):
            return Record()
        return _decoded(kept["records"][str(int(speculates))], file)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return Record()


def save(file: str) -> None:
    """Writes what is known of a file by now, whole or not at all."""
    path = _path(file)
    if not is_on() or path is None:
        return
    records = {str(int(speculates)): _encoded(record_of(file, speculates)) for speculates in (False, True)}
    with contextlib.suppress(OSError):
        kept = json.dumps({"of": _identity(file), "records": records}, default=list)
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        try:
            made.write_text(kept, encoding="utf-8")
            made.replace(path)
        except BaseException:
            made.unlink(missing_ok=True)
            raise


def forget() -> None:
    """What was read is read again when it is next asked for."""
    record_of.cache_clear()
    _path.cache_clear()


@functools.cache
def _path(file: str) -> Path | None:
    """Where the record of a file is; None if it can have none."""
    if not Path(file).is_file():
        return None
    name = hashlib.sha256(os.path.realpath(file).encode()).hexdigest()[:32]
    return _folder() / f"{name}.json"


def _folder() -> Path:
    chosen = os.environ.get("GRAPHMEND_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "graphmend"


def _identity(file: str) -> list[Any]:
    """What a record is of; it fits no other."""
    text = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return [_FORMAT, text, torch.__version__, list(sys.version_info[:3])]


def _encoded(record: Record) -> dict[str, Any]:
    kept = dataclasses.asdict(record)
    # Where it is, is where the file is now; sites are of one process.
    kept["breaks"] = [
        {name: value for name, value in each.items() if name not in ("file", "sites")}
        for each in kept["breaks"].values()
    ]
    return kept


def _decoded(kept: dict[str, Any], file: str) -> Record:
    breaks = {}
    for each in kept["breaks"]:
        around = tuple((str(name), int(line), str(function)) for name, line, function in each.pop("around"))
        breaks[int(each["line"])] = Break(file=file, around=around, **each)
    captures = {
        str(function): Captures(
            {setting: [_place(each) for each in places] for setting, places in found["places"].items()},
            {each if isinstance(each, str) else _place(each) for each in found["refused"]},
        )
        for function, found in kept["captures"].items()
    }
    return Record(breaks, list(map(str, kept["substitutes"])), list(map(str, kept["silent"])), captures)


def _place(kept: Any) -> tuple[str, int]:
    file, line = kept
    return str(file), int(line)

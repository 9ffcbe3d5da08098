"""What a call does that others can see. In: one call. Out: an Observation made of plain data.

Text, log records and warnings are one list, in the order in which they came.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import pickle
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .values import Describer

# One thing that came out: its kind, and fields by name.
Event = dict[str, Any]


@dataclass
class Observation:
    """All that one call did."""

    result: Any = None
    error: Any = None
    backward: Any = None
    events: list[Event] = field(default_factory=list)
    arguments: Any = None
    owner: Any = None
    globals: Any = None
    rng: dict[str, str] = field(default_factory=dict)
    modes: tuple[object, ...] = ()
    # The result once more, after the last call: nobody may have written into it meanwhile.
    later: Any = None


class _Raw(io.RawIOBase):
    """The lower end of a stream: every write becomes an event."""

    def __init__(self, name: str, events: list[Event]) -> None:
        self._name = name
        self._events = events

    def write(self, data: Any) -> int:
        self._events.append({"kind": self._name, "text": bytes(data).decode()})
        return len(data)

    def flush(self) -> None:
        self._events.append({"kind": f"flush {self._name}"})

    def writable(self) -> bool:
        return True


def _stream(name: str, events: list[Event]) -> io.TextIOWrapper:
    """Like the interpreter's own, written in C: Dynamo must not look into it, and trace what the harness does."""
    return io.TextIOWrapper(_Raw(name, events), encoding="utf-8", newline="", write_through=True)  # type: ignore[arg-type]


class Capture(logging.Handler):
    """Takes the process's streams, logging and warnings for itself while a program runs."""

    def __init__(self, path: str) -> None:
        super().__init__(level=0)
        self.path = path
        self.events: list[Event] = []
        # Log records keep their arguments: a tensor that changes after delivery is seen at the end.
        self.kept: list[tuple[Event, Any]] = []

    def take(self) -> list[Event]:
        """The events since the last time; pieces of text that follow each other are one."""
        taken: list[Event] = []
        for event in self.events:
            if taken and "text" in event and event["kind"] == taken[-1]["kind"] in ("stdout", "stderr"):
                taken[-1]["text"] += event["text"]
            else:
                taken.append(event)
        self.events.clear()
        return taken

    # Called from compiled programs: Dynamo would compile what the harness does.
    @torch.compiler.disable  # type: ignore[untyped-decorator,unused-ignore]
    def emit(self, record: logging.LogRecord) -> None:
        # torch, Inductor and what they use log on their own account.
        if record.name != "root" and not record.name.startswith("generated."):
            return
        describer = Describer()
        try:
            message = record.getMessage()
        except Exception as error:
            message = f"<{type(error).__name__} while formatting>"
        exc = record.exc_info
        event: Event = {
            "kind": "log",
            "logger": record.name,
            "level": record.levelno,
            "message": message,
            "template": describer.describe(record.msg),
            "args": describer.describe(record.args),
            "file": self._file(record.pathname),
            "line": record.lineno if record.pathname == self.path else 0,
            "function": record.funcName if record.pathname == self.path else "",
            "error": exc[0].__qualname__ if exc and exc[0] else None,
            "mark": getattr(record, "mark", None),
            "who": getattr(record, "who", None),
        }
        self.events.append(event)
        self.kept.append((event, record.args))

    def warned(self, message: Any, category: type, filename: str, lineno: int, *_: Any, **__: Any) -> None:
        text = str(message)
        # torch, Dynamo and Inductor warn on their own account; torch's C++ code once per process.
        if "(Triggered internally" in text:
            return
        if filename != self.path and not text.startswith(("gw", "('gw", "The 'warn'")):
            return
        inside = filename == self.path
        self.events.append(
            {
                "kind": "warning",
                "category": category.__qualname__,
                "text": text,
                "args": Describer().describe(getattr(message, "args", None)),
                "file": self._file(filename),
                "line": lineno if inside else 0,
            }
        )

    def _file(self, path: str) -> str:
        # Who calls a compiled function is torch, and not the harness: frames outside are not told apart.
        return "program" if path == self.path else "outside"

    @contextlib.contextmanager
    def installed(self, level: str, warning_filter: str) -> Iterator[None]:
        root = logging.getLogger()
        before = (sys.stdout, sys.stderr, root.handlers[:], root.level, warnings.showwarning, warnings.filters[:])
        sys.stdout = _stream("stdout", self.events)
        sys.stderr = _stream("stderr", self.events)
        root.handlers[:] = [self]
        root.setLevel(level)
        warnings.resetwarnings()
        # Changing the filters also makes every registry of seen warnings stale.
        warnings.simplefilter(warning_filter)  # type: ignore[arg-type]
        if warning_filter == "error":
            warnings.filterwarnings("ignore", message=r"(?!gw|\('gw)")
        warnings.showwarning = self.warned
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before[0], before[1]
            root.handlers[:] = before[2]
            root.setLevel(before[3])
            warnings.showwarning = before[4]
            warnings.filters[:] = before[5]  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]


def _get(frame: traceback.FrameSummary, name: str) -> Any:
    # Python 3.10 has no columns.
    return getattr(frame, name, None)


def describe_error(error: BaseException, path: str, describer: Describer) -> Any:
    """Type, arguments, causes, and the frames of the program's file, with columns."""
    frames = [
        f"{frame.name} {frame.lineno}:{_get(frame, 'colno')}-{_get(frame, 'end_lineno')}:{_get(frame, 'end_colno')}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == path
    ]
    chained = {"cause": error.__cause__, "context": error.__context__}
    fields = {key: value for key, value in vars(error).items() if key == "code"}
    return {
        "type": f"{type(error).__module__.rpartition('.')[2]}.{type(error).__qualname__}",
        "args": describer.describe(error.args),
        "fields": describer.describe(fields),
        "frames": " > ".join(frames),
        "suppressed": error.__suppress_context__,
        **{key: other and (type(other).__qualname__, describer.describe(other.args)) for key, other in chained.items()},
    }


def rng_state() -> dict[str, str]:
    """Short names for the states of the random streams."""
    streams = {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "random": repr(random.getstate()).encode(),
        "numpy": pickle.dumps(np.random.get_state()),
    }
    if torch.cuda.is_initialized():
        streams["cuda"] = torch.cuda.get_rng_state().numpy().tobytes()
    return {name: hashlib.sha256(state).hexdigest()[:12] for name, state in streams.items()}


def modes() -> tuple[object, ...]:
    """Global switches that a call must leave as they were."""
    switches = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"))
    # Copies of weights that autocast has made are kept as long as this is not zero.
    nesting = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    return *switches, nesting, str(torch.get_default_dtype())

"""What others can see of a call: its result, its exception, and what it wrote, logged and warned, in order.

While a call is observed, nothing of that reaches the terminal or a log handler. What torch says on its own account,
mostly about compiling, is left out. Text that is written past `sys.stdout` and `sys.stderr` is not seen.
"""

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from graphmend._frame_file import FRAME_FILE
from graphmend._torch.tensors import leaves

# Frames of these are between a call and its caller, or are not, depending on how it is run.
_BETWEEN = (str(Path(torch.__file__).parent), str(Path(__file__).parent.parent))


@dataclass(frozen=True)
class Text:
    """What was written to `sys.stdout` or `sys.stderr`."""

    stream: str
    text: str


@dataclass(frozen=True)
class Record:
    """A log record."""

    logger: str
    level: str
    message: str
    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Warned:
    """A warning."""

    category: str
    message: str
    file: str
    line: int


Event = Text | Record | Warned


@dataclass
class Observation:
    """One call."""

    result: Any = None
    error: BaseException | None = None
    events: list[Event] = field(default_factory=list)


def observe(call: Callable[[], Any], backward: bool) -> Observation:
    """Calls, and goes backward from what it returns if that is asked for and there are gradients to have."""
    seen = Observation()
    with _recorded(seen.events):
        try:
            seen.result = call()
            if backward:
                _go_backward(seen.result)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            seen.error = error
    return seen


def _go_backward(result: Any) -> None:
    roots = [leaf for leaf in tensors_in(result) if leaf.requires_grad and not leaf.is_leaf]
    if roots:
        torch.autograd.backward(roots, [_weights(root) for root in roots])


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of a nested structure, each once."""
    found: dict[int, torch.Tensor] = {}
    for leaf in leaves(value):
        inner = [leaf] if isinstance(leaf, torch.Tensor) else vars(leaf).values() if hasattr(leaf, "__dict__") else ()
        found.update({id(one): one for one in inner if isinstance(one, torch.Tensor)})
    return list(found.values())


def _weights(root: torch.Tensor) -> torch.Tensor:
    # No two alike, so that nothing cancels, as a plain sum over a softmax would; and no random stream is touched.
    steps = torch.arange(root.numel(), device=root.device, dtype=torch.float32)
    return torch.cos(steps).reshape(root.shape).to(root.dtype)


@contextlib.contextmanager
def _recorded(events: list[Event]) -> Iterator[None]:
    plain_call_handlers = logging.Logger.callHandlers

    def call_handlers(self: logging.Logger, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] != "torch":
            events.append(_record(record))

    def show_warning(message: Any, category: type, filename: str, lineno: int, *_: Any, **__: Any) -> None:
        # torch's C++ code says most things once in a process.
        if not _is_between(filename) and "(Triggered internally" not in str(message):
            events.append(Warned(category.__qualname__, str(message), filename, lineno))

    logging.Logger.callHandlers = call_handlers  # type: ignore[method-assign]
    try:
        with (
            contextlib.redirect_stdout(_Stream("stdout", events)),
            contextlib.redirect_stderr(_Stream("stderr", events)),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("always")
            warnings.showwarning = show_warning
            yield
    finally:
        logging.Logger.callHandlers = plain_call_handlers  # type: ignore[method-assign]


def _record(record: logging.LogRecord) -> Record:
    try:
        message = record.getMessage()
    except Exception as error:
        message = f"{record.msg!r} with arguments that do not fit: {error}"
    if record.exc_info and record.exc_info[0]:
        message += f" ({record.exc_info[0].__qualname__}: {record.exc_info[1]})"
    place = ("", 0, "") if _is_between(record.pathname) else (record.pathname, record.lineno, record.funcName)
    return Record(record.name, record.levelname, message, *place)


def _is_between(file: str) -> bool:
    return file.startswith(_BETWEEN) or file == FRAME_FILE


class _Stream(io.TextIOBase):
    encoding = "utf-8"

    def __init__(self, name: str, events: list[Event]) -> None:
        self._name = name
        self._events = events

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        last = self._events[-1] if self._events else None
        if isinstance(last, Text) and last.stream == self._name:
            self._events[-1] = Text(self._name, last.text + text)
        elif text:
            self._events.append(Text(self._name, text))
        return len(text)

    def writable(self) -> bool:
        return True

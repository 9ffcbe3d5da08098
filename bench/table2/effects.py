"""What a program says to the outside while it runs: log records, warnings, lines on stdout, in order.

In: a block of code. Out: a list of plain records per block, and the comparison of two such lists.
Left out: what torch and graphmend say about themselves; a program is not answerable for it.
"""

import contextlib
import io
import logging
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from bench.table2.paths import short

Effect = dict[str, Any]

OTHERS = ("torch", "graphmend")
TORCH_FOLDER = str(Path(torch.__file__).resolve().parent)


class Recorder(logging.Handler):
    def __init__(self, effects: list[Effect]) -> None:
        super().__init__(level=logging.NOTSET)
        self.effects = effects

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.split(".", maxsplit=1)[0] in OTHERS:
            return
        self.effects.append(
            {
                "kind": "log",
                "what": [record.name, record.levelname, record.getMessage()],
                "where": [short(record.pathname), record.lineno, record.funcName],
            }
        )


class Lines(io.TextIOBase):
    """Stands in for stdout: every write becomes a record, in order with the others."""

    def __init__(self, effects: list[Effect]) -> None:
        self.effects = effects

    def write(self, text: str) -> int:
        self.effects.append({"kind": "print", "what": [text], "where": []})
        return len(text)


def hearing_loggers() -> list[logging.Logger]:
    """The root and every logger that keeps its records from it: together they hear each record once."""
    known = [logger for logger in logging.Logger.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    return [logging.getLogger(), *(logger for logger in known if not logger.propagate)]


@contextlib.contextmanager
def recorded() -> Iterator[list[Effect]]:
    """The list fills while the block runs. Repeated warnings are all recorded."""
    effects: list[Effect] = []
    recorder = Recorder(effects)
    loggers = hearing_loggers()

    def show(message: Any, category: type, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if not str(Path(filename).resolve()).startswith(TORCH_FOLDER):
            what = [category.__name__, str(message)]
            effects.append({"kind": "warning", "what": what, "where": [short(filename), lineno]})

    with warnings.catch_warnings(), contextlib.redirect_stdout(Lines(effects)):
        warnings.simplefilter("always")
        warnings.showwarning = show
        for logger in loggers:
            logger.addHandler(recorder)
        try:
            yield effects
        finally:
            for logger in loggers:
                logger.removeHandler(recorder)


def tally(effects: list[Effect]) -> Counter[str]:
    return Counter(repr((effect["kind"], effect["what"])) for effect in effects)


def withheld(eager: list[Effect], plain: list[Effect]) -> Counter[str]:
    """What a program does not say when it knows that it is compiled: plain torch.compile itself drops nothing."""
    return tally(eager) - tally(plain)


def without(effects: list[Effect], left_out: Counter[str]) -> list[Effect]:
    rest, kept = Counter(left_out), []
    for effect in effects:
        (text,) = tally([effect])
        if rest[text]:
            rest[text] -= 1
        else:
            kept.append(effect)
    return kept


def compare(expected: list[Effect], seen: list[Effect]) -> dict[str, Any]:
    """Delivered: expected and seen. Extra: seen only. `same` means all, in order, from the same file and line."""
    wanted, came = tally(expected), tally(seen)
    return {
        "expected": len(expected),
        "delivered": (wanted & came).total(),
        "extra": (came - wanted).total(),
        "same": expected == seen,
    }

"""Statements that talk through what others have made: libraries, and functions that are declared. In: a Writer."""

from __future__ import annotations

from . import effects, expressions
from .writer import Choice, Writer

HEADER = """
import graphmend
import transformers.utils.logging
from tqdm import tqdm


@graphmend.effect
def announce(*values, sep=" "):
    print("announced", *values, sep=sep)


@torch.compiler.disable
def apart(t):
    print("apart", t.sum().item())
    STATE["calls"] += 1

"""
# transformers' loggers remember what they said.
FORGET = "logging.Logger.warning_once.cache_clear()"


def told(w: Writer) -> None:
    choices: list[Choice] = [(2, _once), (2, _progress), (2, _declared), (0.5, _apart)]
    w.pick(choices)


def _once(w: Writer) -> None:
    w.use("told.once")
    text = w.choose(['"said once"', f'"limit %d" % {expressions.integer(w)}', effects.fstring(w)])
    w.line(f"{'self.log' if w.frame.has_self and w.chance(0.4) else 'logger'}.warning_once({text})")


def _progress(w: Writer) -> None:
    w.use("told.progress")
    keywords = w.choose(["", ", file=sys.stderr", ', end="|\\n"'])
    w.line(f"tqdm.write({effects.fstring(w)}{keywords})")


def _declared(w: Writer) -> None:
    w.use("told.declared")
    values = [effects.shown(w) for _ in range(w.random.randint(1, 2))]
    w.line(w.call("announce", values + (['sep="-"'] if w.chance(0.3) else [])))


def _apart(w: Writer) -> None:
    w.use("told.apart")
    w.line(f"apart({expressions.full_name(w)})")

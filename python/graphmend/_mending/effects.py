"""The effects that were taken out of graphs: their code, and how they are delivered.

An effect's statement is compiled as a function of the values it needs, with the user's file, lines, columns and
function name, so that log records, warnings and tracebacks look as if the statement had run where it stands.
"""

import ast
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType

import torch

from graphmend._mending.stack import Caller, call_under
from graphmend._mending.values import rebuild

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "exception": logging.ERROR,
    "critical": logging.CRITICAL,
}


@dataclass(frozen=True)
class Effect:
    """A statement as a function of the values it needs."""

    function: FunctionType
    # A call of this logger at this level: when it is off, nothing needs to be made of the values.
    logger: logging.Logger | None
    level: int
    # It asks who called it.
    looks_at_stack: bool

    def run(self, spec: str, ints: Iterable[int], tensors: Iterable[torch.Tensor]) -> None:
        if self.logger is not None and not self.logger.isEnabledFor(self.level):
            return
        stack, values = rebuild(spec, ints, tensors)
        if stack is None:
            self.function(*values)
        else:
            call_under(_stacks[stack], self.function, values)


# By site, which names file, place and text: the same site always means the same code.
_effects: dict[str, Effect] = {}
# Where effects that look at the stack were passed.
_stacks: list[tuple[Caller, ...]] = []


def define(site: str, text: str, function: FunctionType) -> None:
    """Keeps the function that a statement was made; `text` is how it is written."""
    call = ast.parse(text).body[0].body[0].value  # type: ignore[attr-defined]
    callee = call.func
    logger, level = None, 0
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name) and callee.attr in _LEVELS:
        named = function.__globals__.get(callee.value.id)
        # A subclass may do more than log.
        if isinstance(named, logging.Logger) and getattr(type(named), callee.attr) is getattr(
            logging.Logger, callee.attr
        ):
            logger, level = named, _LEVELS[callee.attr]
    keywords = {keyword.arg for keyword in call.keywords}
    # `Logger.warn` warns its caller that it is deprecated; `warnings.warn` may have its level as third argument.
    deprecated = isinstance(callee, ast.Attribute) and callee.attr == "warn"
    looks = bool(keywords & {"stacklevel", "stack_info", None}) or deprecated
    _effects[site] = Effect(function, logger, level, looks)


def looks_at_stack(site: str) -> bool:
    return _effects[site].looks_at_stack


def keep_stack(callers: Sequence[Caller]) -> int:
    """A number by which the stack is found again when the effect is delivered."""
    _stacks.append(tuple(callers))
    return len(_stacks) - 1


def deliver(site: str, spec: str, ints: Iterable[int], tensors: Iterable[torch.Tensor]) -> None:
    """Runs the statement with the values of the moment at which the graph passed it."""
    _effects[site].run(spec, ints, tensors)


def without_delivery(site: str, error: BaseException) -> BaseException:
    """What an effect raised, with a traceback that begins inside of its statement."""
    traceback = error.__traceback__
    code = _effects[site].function.__code__ if site in _effects else None
    while traceback is not None and traceback.tb_frame.f_code is not code:
        traceback = traceback.tb_next
    return error.with_traceback(traceback.tb_next if traceback else None)

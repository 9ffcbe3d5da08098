"""The effects that were taken out of graphs: their code, and how they are delivered.

An effect's statement is compiled as a function of the values it needs, with the user's file, lines, columns and
function name, so that log records, warnings and tracebacks look as if the statement had run where it stands.
"""

import ast
import contextlib
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch

from graphmend._mending.kept import kept
from graphmend._mending.stack import Caller, call_under
from graphmend._mending.talkers import ONLY_TALK, is_loggings_own
from graphmend._mending.values import first_constant, rebuild

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "exception": logging.ERROR,
    "critical": logging.CRITICAL,
    "fatal": logging.CRITICAL,
}
# What the mender calls a statement's first parameter; a method of that is one of what it talks through.
_RECEIVER = "__graphmend_0__"


@dataclass(frozen=True)
class Effect:
    """A statement as a function of the values it needs."""

    function: FunctionType
    # The method that it calls; of the first value, or of a global of that name.
    method: str
    receiver: str
    # It asks who called it.
    looks_at_stack: bool
    # It may tell of the exception that is being handled.
    tells_of_exception: bool
    # What it shows can be made of any values, so long as what `item()` is called on has one element. Eager makes it
    # even if nobody wants to see it, and may raise there.
    never_raises: bool

    def tell(self, values: Sequence[Any]) -> None:
        if self.receiver == _RECEIVER and isinstance(values[0], str):
            values = [kept(int(values[0])), *values[1:]]
        if self.looks_at_stack:
            call_under((), self.function, values)
        else:
            self.function(*values)

    def run(self, spec: str, ints: Iterable[int], tensors: Iterable[torch.Tensor]) -> None:
        travels = self.receiver == _RECEIVER
        receiver = kept(int(first_constant(spec))) if travels else self.function.__globals__.get(self.receiver)
        if self.never_raises and _is_off(receiver, self.method):
            tensors = list(tensors)
            if all(tensor.numel() == 1 for tensor in tensors):
                return
        place, values = rebuild(spec, ints, tensors)
        if travels:
            values[0] = receiver
        with torch.set_grad_enabled(place.records), _default_type(place.default):
            if place.stack is None:
                self.function(*values)
            else:
                call_under(_stacks[place.stack], self.function, values)


@contextlib.contextmanager
def _default_type(default: torch.dtype) -> Iterator[None]:
    """Inside, tensors of this type are shown without it."""
    now = torch.get_default_dtype()
    if now == default:
        yield
        return
    torch.set_default_dtype(default)
    try:
        yield
    finally:
        torch.set_default_dtype(now)


def _is_off(logger: object, method: str) -> bool:
    """Whether this is a call of a logger at a level that is off: nothing needs to be made of the values."""
    if method not in _LEVELS or not isinstance(logger, logging.Logger):
        return False
    # A subclass may do more than log.
    return is_loggings_own(logger, method) and not logger.isEnabledFor(_LEVELS[method])


# By site, which names file, place and text: the same site always means the same code.
_effects: dict[str, Effect] = {}
# Where effects that look at the stack were passed.
_stacks: list[tuple[Caller, ...]] = []


def define(site: str, text: str, function: FunctionType) -> None:
    """Keeps the function that a statement was made; `text` is how it is written."""
    call = ast.parse(text).body[0].body[0].value  # type: ignore[attr-defined]
    callee = call.func
    method = callee.attr if isinstance(callee, ast.Attribute) else ""
    receiver = callee.value.id if method and isinstance(callee.value, ast.Name) else ""
    keywords = {keyword.arg for keyword in call.keywords}
    # `Logger.warn` warns its caller that it is deprecated; `warnings.warn` may have its level as third argument.
    warns = method == "warn" or (isinstance(callee, ast.Name) and function.__globals__.get(callee.id) is warnings.warn)
    looks = bool(keywords & {"stacklevel", "stack_info", None}) or warns
    name = method or getattr(callee, "id", "")
    tells = bool(keywords & {"exc_info", None}) or name == "exception" or name not in ONLY_TALK
    shown = [*call.args, *(keyword.value for keyword in call.keywords)]
    _effects[site] = Effect(function, method, receiver, looks, tells, all(map(_never_raises, shown)))


def _never_raises(shown: ast.expr) -> bool:
    """Whether an expression of the values that travel can be evaluated whatever they are."""
    if isinstance(shown, ast.Call):
        callee = shown.func
        is_method = isinstance(callee, ast.Attribute) and callee.attr in ("item", "tolist", "detach")
        return is_method and not shown.args and _never_raises(callee.value)  # type: ignore[attr-defined]
    if isinstance(shown, ast.FormattedValue):
        return _never_raises(shown.value) and (shown.format_spec is None or _fits(shown.format_spec, shown.value))
    if isinstance(shown, ast.JoinedStr):
        return all(map(_never_raises, shown.values))
    if isinstance(shown, (ast.Tuple, ast.List)):
        return all(map(_never_raises, shown.elts))
    return isinstance(shown, (ast.Constant, ast.Name))


def _fits(form: ast.expr, shown: ast.expr) -> bool:
    """Whether what is shown is a number, in a form that every number has."""
    is_number = isinstance(shown, ast.Call) and isinstance(shown.func, ast.Attribute) and shown.func.attr == "item"
    return is_number and re.fullmatch(r"f'\d*(\.\d+)?[efg]'", ast.unparse(form)) is not None


def looks_at_stack(site: str) -> bool:
    return _effects[site].looks_at_stack


def tells_of_exception(site: str) -> bool:
    return _effects[site].tells_of_exception


def keep_stack(callers: Sequence[Caller]) -> int:
    """A number by which the stack is found again when the effect is delivered."""
    _stacks.append(tuple(callers))
    return len(_stacks) - 1


def deliver(site: str, spec: str, ints: Iterable[int], tensors: Iterable[torch.Tensor]) -> None:
    """Runs the statement with the values of the moment at which the graph passed it."""
    _effects[site].run(spec, ints, tensors)


def tell(site: str, values: Sequence[Any]) -> None:
    """Runs the statement where it stands, with these values."""
    _effects[site].tell(values)


def without_delivery(site: str, error: BaseException) -> BaseException:
    """What an effect raised, with a traceback that begins in its statement."""
    traceback = error.__traceback__
    code = _effects[site].function.__code__ if site in _effects else None
    while traceback is not None and traceback.tb_frame.f_code is not code:
        traceback = traceback.tb_next
    return error.with_traceback(traceback)

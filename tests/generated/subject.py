"""The thing under test, behind one small face. In: a target and a backend. Out: a callable, and what was mended.

`plain` is torch.compile itself; `graphmend` is the product; `simulated` is a transaction over eager (simulated.py).
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

import torch

Target = Callable[..., Any]
Transform = Callable[[ast.Module], ast.Module]


@dataclass
class Fired:
    """What a subject says it did to one program."""

    # How often each mend was applied, by its name.
    mended: Counter[str] = field(default_factory=Counter)
    # Breaks that were left, by the reason given.
    left: Counter[str] = field(default_factory=Counter)
    # Frames in which the original ran instead of the graph.
    misses: int = 0


@dataclass
class Predicted:
    """What a subject says of its predictions in one program; a site counts once for each of its occurrences."""

    sites: int = 0
    hits: int = 0
    misses: int = 0
    given_up: int = 0

    def add(self, other: Predicted) -> None:
        self.sites += other.sites
        self.hits += other.hits
        self.misses += other.misses
        self.given_up += other.given_up


class Subject(Protocol):
    """What the harness needs of it."""

    name: str

    @property
    def transform(self) -> Transform | None:
        """A change of the program's tree before it runs; only planted bugs have one."""

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target: ...

    def fired(self, compiled: Target) -> Fired: ...

    def predicted(self) -> Predicted:
        """How its predictions went, since `release`."""

    def mended(self, module: ModuleType) -> AbstractContextManager[None] | None:
        """A context in which the program's functions have mended code, to be run in eager; None if there is none."""

    def release(self) -> None:
        """Forgets what belongs to one program, so that the next one in this process starts clean."""


class Plain:
    """torch.compile without mends: what Dynamo itself does."""

    name = "plain"
    transform: Transform | None = None

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target:
        compiled: Target = torch.compile(target, backend=backend, dynamic=dynamic)
        return compiled

    def fired(self, compiled: Target) -> Fired:
        counters: dict[str, Counter[str]] = torch._dynamo.utils.counters
        return Fired(left=Counter({_first_line(reason): n for reason, n in counters["graph_break"].items()}))

    def predicted(self) -> Predicted:
        return Predicted()

    def mended(self, module: ModuleType) -> AbstractContextManager[None] | None:
        return None

    def release(self) -> None:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()


class Graphmend:
    """graphmend.compile, and its report."""

    name = "graphmend"
    transform: Transform | None = None

    def __init__(self) -> None:
        self._predictions: Any = importlib.import_module("graphmend._mending.speculate")
        self._product: Any = importlib.import_module("graphmend._mending.compile")
        self._breaks: Any = importlib.import_module("graphmend._mending.frame_breaks")
        self._code: Any = importlib.import_module("graphmend._mending.mended_code")

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target:
        compiled: Target = self._product.compile(target, backend=backend, dynamic=dynamic)
        return compiled

    def fired(self, compiled: Target) -> Fired:
        report = getattr(compiled, "report", None)
        if report is None:
            return Fired()
        own_faults = [place.reason for place in report.left if place.reason.startswith(self._breaks.OWN_FAULT)]
        if own_faults:
            raise RuntimeError(own_faults[0])
        return Fired(
            mended=Counter(_first_line(place.mend) for place in report.mended),
            left=Counter(_first_line(place.reason) for place in report.left),
            misses=report.misses,
        )

    def predicted(self) -> Predicted:
        sites = self._predictions.sites.values()
        return Predicted(
            sites=len(sites),
            hits=sum(site.hits for site in sites),
            misses=sum(site.misses for site in sites),
            given_up=sum(site.given_up for site in sites),
        )

    def mended(self, module: ModuleType) -> AbstractContextManager[None] | None:
        codes = {}
        for source in self._code._sources.values():
            if source.globals is vars(module):
                codes.update(source.codes)
        return _with_code(_functions(module), codes) if codes else None

    def release(self) -> None:
        # `disable` would do that too, but for good.
        self._code.forget_all()
        self._predictions.sites.clear()
        torch._dynamo.reset()


@contextlib.contextmanager
def _with_code(functions: list[FunctionType], codes: dict[CodeType, CodeType]) -> Iterator[None]:
    """The code of an enclosing function holds that of the functions it makes."""
    own = [(function, function.__code__) for function in functions]
    for function, code in own:
        function.__code__ = codes.get(code, code)
    try:
        yield
    finally:
        for function, code in own:
            function.__code__ = code


def _functions(module: ModuleType) -> list[FunctionType]:
    """The functions that a program's file defines, in its globals and in its classes."""
    found: list[FunctionType] = []
    pending = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    seen: list[type] = []
    while pending:
        value = pending.pop()
        # A `torch.autograd.Function` and the class of its nodes have each other.
        if isinstance(value, type) and value not in seen:
            seen.append(value)
            pending += vars(value).values()
        elif isinstance(value, property):
            pending.append(value.fget)
        elif hasattr(value, "__wrapped__"):
            pending.append(value.__wrapped__)
        elif isinstance(value, FunctionType) and value.__globals__ is vars(module):
            found.append(value)
    return found


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def available() -> list[str]:
    """The subjects that exist here."""
    names = ["plain", "simulated"]
    if importlib.util.find_spec("graphmend") and importlib.util.find_spec("graphmend._mending.compile"):
        names.append("graphmend")
    return names


def make(name: str) -> Subject:
    if name == "plain":
        return Plain()
    if name == "graphmend":
        return Graphmend()
    if name == "simulated":
        from .simulated import Simulated

        return Simulated()
    raise ValueError(f"no subject `{name}`; there are {', '.join(available())}")

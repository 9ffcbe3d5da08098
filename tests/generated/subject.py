"""The thing under test, behind one small face. In: a target and a backend. Out: a callable, and what was mended.

`plain` is torch.compile itself; `graphmend` is the product; `simulated` is a transaction over eager (simulated.py).
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
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


class Subject(Protocol):
    """What the harness needs of it."""

    name: str
    # Whether the program's own code is another one after compile; if so, its eager run is compared as well.
    changes_code: bool

    @property
    def transform(self) -> Transform | None:
        """A change of the program's tree before it runs; only planted bugs have one."""

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target: ...

    def fired(self, compiled: Target) -> Fired: ...

    def release(self) -> None:
        """Forgets what belongs to one program, so that the next one in this process starts clean."""


class Plain:
    """torch.compile without mends: what Dynamo itself does."""

    name = "plain"
    changes_code = False
    transform: Transform | None = None

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target:
        compiled: Target = torch.compile(target, backend=backend, dynamic=dynamic)
        return compiled

    def fired(self, compiled: Target) -> Fired:
        counters: dict[str, Counter[str]] = torch._dynamo.utils.counters
        return Fired(left=Counter({_first_line(reason): n for reason, n in counters["graph_break"].items()}))

    def release(self) -> None:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()


class Graphmend:
    """graphmend.compile, and its report."""

    name = "graphmend"
    changes_code = True
    transform: Transform | None = None

    def __init__(self) -> None:
        self._product: Any = importlib.import_module("graphmend._compile")

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target:
        compiled: Target = self._product.compile(target, backend=backend, dynamic=dynamic)
        return compiled

    def fired(self, compiled: Target) -> Fired:
        report = getattr(compiled, "report", None)
        return Fired(
            mended=Counter(_word(entry, "mend", "kind", "rule") for entry in getattr(report, "mended", ())),
            left=Counter(_word(entry, "reason", "gb_type", "kind") for entry in getattr(report, "left", ())),
        )

    def release(self) -> None:
        # All originals back; `disable` would do that too, but for good.
        importlib.import_module("graphmend._swap").restore_all()
        torch._dynamo.reset()


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def _word(entry: Any, *names: str) -> str:
    for name in names:
        value = getattr(entry, name, None)
        if value is not None:
            return _first_line(str(value))
    return _first_line(str(entry))


def available() -> list[str]:
    """The subjects that exist here."""
    names = ["plain", "simulated"]
    if importlib.util.find_spec("graphmend") and importlib.util.find_spec("graphmend._compile"):
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

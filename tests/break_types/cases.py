"""What a case says, and all of them. A case is a small program that breaks with one of Dynamo's types of breaks.

`@case(type, state, inputs)` stands above a function that breaks with this type; `none(type, reason)` says why a
type has no reproducer. `list.txt` names all types: those of torch 2.13 that can be mended in
principle, or by a setting.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
# The modules of this folder that hold cases.
GROUPS = (
    *("effects", "tests_of_values", "tensors", "objects", "numpy_calls"),
    *("contexts", "higher_order", "autograd", "distributed"),
)


@dataclass(frozen=True)
class Mended:
    """Captured whole, by this rule of rules/, and the same program."""

    rule: str
    # Only with `speculate=True`.
    speculates: bool = False


@dataclass(frozen=True)
class Left:
    """It breaks as it does in plain `torch.compile`; why, in a sentence."""

    reason: str


@dataclass(frozen=True)
class Fails:
    """Eager raises at this place too, so that there is nothing to mend."""

    reason: str


State = Mended | Left | Fails


@dataclass(frozen=True)
class Case:
    gb_type: str
    state: State
    function: Callable[..., Any]
    # Makes the arguments of a call, the same ones each time.
    inputs: Callable[[], tuple[Any, ...]]
    # Dynamo's settings under which it breaks.
    settings: dict[str, Any] = field(default_factory=dict)
    # The first break is another one; this type is what Dynamo makes of it where breaks are allowed.
    follows: bool = False
    dynamic: bool | None = None
    grad: bool = True
    # What must be there while it runs.
    surroundings: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}-{self.function.__name__}"


CASES: list[Case] = []
# Types without a reproducer, with the reason.
MISSING: dict[str, str] = {}


def case(
    gb_type: str, state: State, inputs: Callable[[], tuple[Any, ...]], **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the function below as a reproducer, and leaves it as it is."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(gb_type, state, function, inputs, **more))
        return function

    return register


def none(gb_type: str, reason: str) -> None:
    MISSING[gb_type] = reason


def all_types() -> dict[str, str]:
    """Dynamo's number of each type, by its name."""
    lines = (FOLDER / "list.txt").read_text(encoding="utf-8").splitlines()
    return {name: number for number, _, name in (line.partition(" ") for line in lines)}


def load() -> list[Case]:
    for group in GROUPS:
        importlib.import_module(f"{__package__}.{group}")
    return CASES

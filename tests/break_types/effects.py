"""Statements that only talk to the outside."""

from __future__ import annotations

import datetime
import logging
import sys
import warnings
from typing import Any

import torch
from tqdm import tqdm  # type: ignore[import-untyped]

from .cases import Mended, case

logger = logging.getLogger(__name__)


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0),)


@case("Attempted to call function marked as skipped", Mended("postpone"), numbers)
def warns(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("the sum is not used", FutureWarning, stacklevel=1)
    return x * 2


@case("Attempted to inline function marked as skipped", Mended("postpone"), numbers)
def writes_beside_a_bar(x: torch.Tensor) -> torch.Tensor:
    tqdm.write("seen")
    return x * 2


@case("Failed to trace builtin operator", Mended("postpone"), numbers)
def prints(x: torch.Tensor) -> torch.Tensor:
    print("sum:", x.sum())
    return x * 2


@case("Graph break under GenericContextWrappingVariable", Mended("postpone"), numbers, follows=True)
def prints_in_a_context(x: torch.Tensor) -> torch.Tensor:
    with Scaled(3) as factor:
        y = x * factor
        print("inside", y)
    return y + 1


class Scaled:
    """A context of the user's own."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __enter__(self) -> int:
        return self.factor

    def __exit__(self, *error: object) -> None:
        self.factor = 0


@case("Unsupported method call", Mended("postpone"), numbers)
def writes_to_stdout(x: torch.Tensor) -> torch.Tensor:
    sys.stdout.write("seen\n")
    return x * 2


@case("logging.Logger method not supported for non-export cases", Mended("postpone"), numbers)
def logs(x: torch.Tensor) -> torch.Tensor:
    logger.warning("largest %s", x.max())
    return x * 2


@case(
    "attempted to reorder a debugging function that can't actually be reordered",
    Mended("postpone"),
    numbers,
    settings={"reorderable_logging_functions": {print}},
)
def prints_an_object(x: torch.Tensor) -> torch.Tensor:
    print({"x": x}, [1, 2])
    return x * 2


@case("repr() on tensor", Mended("postpone"), numbers)
def prints_a_repr(x: torch.Tensor) -> torch.Tensor:
    print(f"{x=}")
    return x * 2


@case("graph break in loop", Mended("postpone"), numbers, follows=True)
def prints_in_a_loop(x: torch.Tensor) -> torch.Tensor:
    for step in range(3):
        x = x + step
        print(step, x)
    return x


@case(
    "Attempted to a str() method implemented in C/C++",
    Mended("substitute"),
    lambda: (torch.ones(3), datetime.date(2026, 1, 2)),
)
def shows_a_date(x: torch.Tensor, day: datetime.date) -> tuple[torch.Tensor, str]:
    return x * 2, str(day)

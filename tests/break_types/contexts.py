"""Context managers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from .cases import Left, Mended, case, none


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0),)


class Source:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@case("unsupported contextlib.* API", Mended("substitute"), lambda: (torch.ones(3), Source()))
def closes_a_source(x: torch.Tensor, source: Source) -> torch.Tensor:
    with contextlib.closing(source) as opened:
        y = x * (opened.closed + 2)
    return y * source.closed


@contextlib.contextmanager
def scaled(x: torch.Tensor) -> Iterator[torch.Tensor]:
    yield x * 2


@case(
    "attempted to trace contextlib.contextmanager",
    Mended("setting"),
    numbers,
    settings={"enable_trace_contextlib": False},
)
def enters_a_generator(x: torch.Tensor) -> torch.Tensor:
    with scaled(x) as y:
        return y + 1


@case("torch.profiler object escaped from compiled region", Mended("postpone"), numbers, follows=True)
def prints_under_a_profiler(x: torch.Tensor) -> torch.Tensor:
    with torch.profiler.profile() as profiler:
        y = x * 2
        print(y)
    del profiler
    return y + 1


@case(
    "record_function escaped from compiled region",
    Mended("postpone"),
    numbers,
    follows=True,
    settings={"capture_profiler_record_function": True},
)
def prints_in_a_record(x: torch.Tensor) -> torch.Tensor:
    with torch.profiler.record_function("scale"):
        y = x * 2
        print(y)
    return y + 1


@case(
    "Forced graph break on leaf function",
    Left("the setting asks for the break"),
    numbers,
    settings={"debug_force_graph_break_on_leaf_return": True},
)
def calls_a_leaf(x: torch.Tensor) -> torch.Tensor:
    return leaf(x) + 1


def leaf(x: torch.Tensor) -> torch.Tensor:
    return x * 2


none(
    "Attempted to reconstruct context manager's __enter__ method",
    "only Python 3.14 has the instruction that keeps `__enter__` on the stack",
)

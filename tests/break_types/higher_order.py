"""Higher-order operators: `checkpoint`, `cond`."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from .cases import Fails, Mended, case, none

COND = "`torch.cond` compiles its branches in eager too, with breaks as errors"


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0),)


@case("Encountered aliasing during higher order op tracing", Fails(COND), numbers, follows=True)
def cond_gives_its_input_back(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: x, lambda x: x * 2, (x,))


@case("Encountered input mutation during higher order op tracing", Fails(COND), numbers, follows=True)
def cond_changes_its_input(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: x.add_(1) * 2, lambda x: x * 2, (x,))


@case("torch.cond: differing branch outputs", Fails(COND), numbers, follows=True)
def cond_gives_different_things(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: (x * 2, x * 3), lambda x: (x * 2,), (x,))


none("torch.cond: unsupported branch return type", "`HOP body output unsupported` comes before it")


@case("torch.cond: unsupported branch return type (constant non-int)", Fails(COND), numbers, follows=True)
def cond_gives_nothing(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: None, lambda x: None, (x,))


class Counter:
    def __init__(self) -> None:
        self.count = 0
        self.seen: list[int] = []


def counted() -> tuple[Any, ...]:
    return torch.arange(1.0, 5.0), Counter()


@case("HOP: Unsafe side effect", Mended("substitute"), counted, grad=False)
def notes_in_a_checkpoint(x: torch.Tensor, counter: Counter) -> torch.Tensor:
    def body(x: torch.Tensor) -> torch.Tensor:
        counter.seen.append(1)
        return x * 2

    return checkpoint(body, x, use_reentrant=False) + 1


@case("HOP: Non-nullified side effect", Mended("substitute"), counted, grad=False)
def counts_in_a_checkpoint(x: torch.Tensor, counter: Counter) -> torch.Tensor:
    def body(x: torch.Tensor) -> torch.Tensor:
        counter.count += 1
        return x * 2

    return checkpoint(body, x, use_reentrant=False) + 1


@case("HOP body output unsupported", Fails(COND), numbers, follows=True)
def cond_gives_text(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: (x * 2, "a"), lambda x: (x * 2, "a"), (x,))


none(
    "nn.Module mutation in HigherOrderOp",
    "no program found: torch 2.13 traces into the modules that an operator's body changes",
)
none("torch.library.wrap_triton call with > 1 args", "needs triton, and eager takes one argument only")

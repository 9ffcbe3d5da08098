"""Where Python needs the value of a tensor."""

from __future__ import annotations

from typing import Any

import torch

from .cases import Mended, case


def numbers() -> tuple[Any, ...]:
    return (torch.tensor([1.0, 3.0, 2.0]),)


@case("Data dependent operator", Mended("check"), lambda: (torch.ones(3), torch.ones(3)))
def compares_all(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not torch.equal(x, y):
        raise ValueError("they differ")
    return x + y


@case("Dynamic shape operator", Mended("capture"), numbers)
def takes_positions(x: torch.Tensor) -> torch.Tensor:
    return torch.nonzero(x > 1) * 2


@case("Tensor.tolist() with non-integer tensor", Mended("speculate", speculates=True), numbers)
def makes_a_list(x: torch.Tensor) -> torch.Tensor:
    first, *_ = x.tolist()
    return x * first


@case("Unsupported Tensor.item() call with capture_scalar_outputs=False", Mended("capture"), numbers)
def takes_a_number(x: torch.Tensor) -> torch.Tensor:
    return x * x.max().item()


@case("Data-dependent branching", Mended("select"), numbers)
def branches(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x + 1
        y = y * 2
    else:
        y = x - 1
    return y


@case(
    "assert with non-string message",
    Mended("substitute"),
    numbers,
)
def raises_with_an_object(x: torch.Tensor) -> torch.Tensor:
    try:
        if x.dim() == 1:
            raise AssertionError({"dim": 1})
    except AssertionError:
        return x * 2
    return x * 3


@case(
    "sort with non-constant keys",
    Mended("substitute", speculates=True),
    numbers,
)
def sorts_rows(x: torch.Tensor) -> torch.Tensor:
    rows = sorted([x, x * 3, x * 2], key=lambda row: row.sum())
    return torch.stack(rows)

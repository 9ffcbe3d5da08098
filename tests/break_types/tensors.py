"""Methods and functions of tensors that Dynamo does not take."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterator
from typing import Any

import torch

from .cases import Left, Mended, case, none


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 7.0).reshape(2, 3),)


@case(
    "Failed to mutate tensor data attribute",
    Mended("substitute"),
    numbers,
)
def exchanges_data(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(0)
    y.data = x + 1
    return y * 3


@case("Inplace op on input tensor", Mended("substitute"), numbers)
def adds_a_dimension_to_an_input(x: torch.Tensor) -> torch.Tensor:
    torch.Tensor.unsqueeze_(x, 0)
    return x * 2


@case("Tensor.random_ op", Mended("substitute"), numbers)
def draws_integers(x: torch.Tensor) -> torch.Tensor:
    noise = torch.empty_like(x).random_(0, 10)
    return x + noise


@case("Tensor.uniform_ op called with `from` keyword", Mended("substitute"), numbers)
def draws_from_a_range(x: torch.Tensor) -> torch.Tensor:
    noise = torch.empty_like(x).uniform_(**{"from": -1.0, "to": 1.0})
    return x + noise


@case(
    "Unsupported Tensor.requires_grad_() call",
    Left("a graph that began without gradients would have to lead back to its input"),
    numbers,
)
def makes_an_input_a_leaf(x: torch.Tensor) -> torch.Tensor:
    x.requires_grad_()
    return x * 2


@case("setattr() on Tensor.requires_grad", Mended("substitute"), numbers)
def freezes_what_is_frozen(x: torch.Tensor) -> torch.Tensor:
    y = x.detach()
    y.requires_grad = False
    return y * 2


@case("Unsupported Tensor.resize_() call", Mended("substitute"), numbers)
def resizes_a_buffer(x: torch.Tensor) -> torch.Tensor:
    buffer = torch.zeros(2, 3)
    buffer.resize_(x.shape)
    return buffer + x


@case("Unsupported Tensor.resize_as_() call", Mended("substitute"), numbers)
def resizes_a_buffer_as(x: torch.Tensor) -> torch.Tensor:
    buffer = torch.zeros(2, 3)
    buffer.resize_as_(x)
    return buffer + x


@contextlib.contextmanager
def without_scalars() -> Iterator[None]:
    """As torch was before numbers could be tensors in a trace."""
    before = os.environ.get("TENSORIFY_PYTHON_SCALARS")
    os.environ["TENSORIFY_PYTHON_SCALARS"] = "0"
    # The answer is kept for good once somebody has asked.
    asked = torch._dynamo.utils._is_tensorify_enabled
    forget = getattr(asked, "cache_clear", lambda: None)
    forget()
    try:
        yield
    finally:
        del os.environ["TENSORIFY_PYTHON_SCALARS"]
        if before is not None:
            os.environ["TENSORIFY_PYTHON_SCALARS"] = before
        forget()


@case(
    "Attempted to call torch in-graph function on only torch.SymInt arguments",
    Mended("substitute"),
    numbers,
    dynamic=True,
    surroundings=without_scalars,
)
def adds_sizes(x: torch.Tensor) -> torch.Tensor:
    return x + torch.add(x.shape[0], x.shape[1])


@case("Shape mismatch with out= tensor variant", Mended("substitute"), numbers)
def resizes_out(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(0)
    torch.add(x, 1, out=out)
    return out * 2


@case("Shape mismatch with out= list of tensor variants", Mended("substitute"), numbers)
def resizes_outs(x: torch.Tensor) -> torch.Tensor:
    values, places = torch.empty(0), torch.empty(0, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    return values + places


@case(
    "Attempted to call op with non-contiguous `out=` tensor",
    Mended("substitute"),
    lambda: (torch.ones(2, 3), torch.zeros(3, 2).t()),
)
def writes_columns(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    torch.add(x, 1, out=out)
    return out * 2


@case(
    "Attempted to call op with non-contiguous `out=` list of tensors",
    Mended("substitute"),
    lambda: (torch.arange(6.0).reshape(2, 3), torch.zeros(2, 2)[:, 0], torch.zeros(2, 2, dtype=torch.int64)[:, 1]),
)
def writes_two_columns(x: torch.Tensor, values: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    torch.max(x, 1, out=(values, places))
    return values + places


none(
    "Unhandled tensor method",
    "a method that tensors lack raises AttributeError, in a trace too, before this is reached",
)


@case("torch.* op returned non-Tensor", Mended("substitute"), numbers)
def asks_torch(x: torch.Tensor) -> tuple[torch.Tensor, str]:
    return x * 2, torch.__config__.show()


@case(
    "Attempted to copy.deepcopy a tensor",
    Mended("substitute"),
    numbers,
)
def copies_a_tensor(x: torch.Tensor) -> torch.Tensor:
    y = copy.deepcopy(x)
    return y.add_(1) * x

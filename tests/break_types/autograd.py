"""Gradients inside of a compiled function, and autograd's own functions."""

from __future__ import annotations

from typing import Any

import torch

from .cases import Fails, Left, Mended, case


def leaf() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0).requires_grad_(),)


@case("Unsupported Tensor.backward() call", Mended("setting"), lambda: (torch.arange(1.0, 5.0),))
def goes_backward(x: torch.Tensor) -> Any:
    y = x.clone().requires_grad_()
    loss = (y * y).sum()
    loss.backward()
    return loss.detach(), y.grad


@case(
    "Unsupported Tensor.backward() call",
    Left("hooks on a leaf's accumulated gradient, DDP's among them, cannot be looked up"),
    leaf,
)
def goes_back_outside(x: torch.Tensor) -> torch.Tensor:
    loss = (x * x).sum()
    loss.backward()
    return loss.detach()


@case("using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`", Mended("setting"), leaf)
def takes_a_gradient(x: torch.Tensor) -> torch.Tensor:
    loss = (x * x).sum()
    (gradient,) = torch.autograd.grad(loss, x)
    return gradient * 2


class Multiply(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(one, other)
        return one * other

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        one, other = ctx.saved_tensors
        return gradients[0] * other, gradients[0] * one


@case(
    "autograd.Function.apply: duplicate tensor input",
    Left("a second tensor in its place is another object to the function, and its gradients are added elsewhere"),
    leaf,
)
def squares(x: torch.Tensor) -> torch.Tensor:
    return Multiply.apply(x, x) + 1


class Scale(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, *, factor: float) -> torch.Tensor:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0] * ctx.factor


@case("autograd_function_kwonly_args", Fails("`apply` takes no keyword arguments"), leaf)
def scales_by_keyword(x: torch.Tensor) -> torch.Tensor:
    return Scale.apply(x, factor=2.0)

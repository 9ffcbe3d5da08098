"""A tensor that is only shown leaves its graph without its history, and is shown with one that leads nowhere.

A graph's output that requires grad takes part in the graph's backward, whoever uses it: inputs that nothing else comes
of would get gradients of zeros where eager leaves None. In: such a value, and the name of what made it. Out: the same
numbers, in the same memory, that say of themselves what eager's would.
"""

import functools
from typing import Any

import torch

# The name of a history for which autograd does not allow to ask: that of a view which was made without gradients, of
# what was changed with them.
FORBIDDEN = ""


class ShownError(RuntimeError):
    """Raised where somebody calls `backward` on a tensor that an effect was given."""


def history_of(tensor: torch.Tensor) -> str | None:
    """The name that a tensor shows of what made it; None for a leaf."""
    try:
        made_by = tensor.grad_fn
    except RuntimeError:
        return FORBIDDEN
    if made_by is None:
        return None
    name = type(made_by).__name__
    return name if name != "CppFunction" else str(made_by.name()).rpartition("::")[2]


def with_history(tensor: torch.Tensor, name: str | None) -> torch.Tensor:
    """The tensor as one that requires grad, a leaf or made by what has this name."""
    with torch.inference_mode(False), torch.enable_grad():
        if name is None:
            return tensor.detach().requires_grad_()
        shown: torch.Tensor = _made_by(name).apply(tensor, torch.empty(0, requires_grad=True))
        return shown


@functools.cache
def _made_by(name: str) -> Any:
    class Shown(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
        @staticmethod
        def forward(ctx: Any, tensor: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
            return tensor.detach()

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            raise ShownError(
                "this tensor was given to a statement that graphmend runs after the graph; no gradients lead back"
            )

    # What is printed is the name of this class.
    Shown._backward_cls.__name__ = name
    return Shown

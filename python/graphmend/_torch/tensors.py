"""Tensors: the memory behind them, how near they must be, and values that hold them."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._C._dynamo.guards import compute_overlapping_tensors
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode


def memory_of(tensor: torch.Tensor) -> int:
    """The same number for tensors that share their memory."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    storage: int = tensor.untyped_storage()._cdata
    return storage


def is_copied_as_it_lies(tensor: torch.Tensor) -> bool:
    """Whether a copy has the same strides."""
    return bool(torch.empty_like(tensor).stride() == tensor.stride())


def has_symbols(tensor: torch.Tensor) -> bool:
    """Whether where a tensor lies in its memory hangs on the call."""
    places = (*tensor.shape, *tensor.stride(), tensor.storage_offset())
    return any(isinstance(each, torch.SymInt) for each in places)


def overlapping(tensors: list[torch.Tensor]) -> list[int]:
    """Which of some tensors that share their memory overlap with another, or may if they lie elsewhere in it."""
    if any(map(has_symbols, tensors)):
        return list(range(len(tensors)))
    return sorted(compute_overlapping_tensors(tensors, symbolic=False))


def version_of(tensor: torch.Tensor) -> int | None:
    """How often autograd knows the tensor to have been changed; of one that inference mode made it counts nothing."""
    return None if tensor.is_inference() else tensor._version


@contextlib.contextmanager
def changes_counted(tensor: torch.Tensor, count: int) -> Iterator[None]:
    """Autograd takes the tensor for one that was changed so often, whatever is done to it in here."""
    if tensor.is_inference():
        # Of which it counts nothing.
        yield
        return
    before = after = tensor._version
    try:
        yield
        after = before + count
    finally:
        torch._C._autograd._unsafe_set_version_counter((tensor,), (after,))


# Of torch's own generators.
RandomState = tuple[Any, Any]


def random_state() -> RandomState:
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None


def set_random_state(state: RandomState | None) -> None:
    if state is None:
        return
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state_all(state[1])


def tolerances(dtype: torch.dtype, rtol: float | None, atol: float | None) -> tuple[float, float]:
    """How far values of this dtype may differ, relatively and absolutely; what is None is torch's own choice."""
    chosen: tuple[float, float] = torch.testing._comparison.get_tolerances(dtype, rtol=rtol, atol=atol)
    return chosen


def leaves(value: Any) -> list[Any]:
    """What stands in a value of nested lists, tuples, dicts and what else torch knows to hold others."""
    found: list[Any] = torch.utils._pytree.tree_leaves(value)
    return found

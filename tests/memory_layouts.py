"""How results lie in memory, compared with eager. In: a function and its inputs. Out: the compiled twin."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graphmend._mending.compile import compile as mended_compile

# Why a place is left.
UNFIT = "no other call does the same with these operands"
VIEW = "an output is a view of an input that the graph changes"
BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])


def numbers() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def layouts(*tensors: torch.Tensor) -> Any:
    """How tensors lie in memory, and which of them share it."""
    memory = [each.untyped_storage().data_ptr() for each in tensors]
    shapes = [
        (each.shape, each.stride(), each.storage_offset(), each.untyped_storage().nbytes(), each.dtype)
        for each in tensors
    ]
    return shapes, [memory.index(each) for each in memory]


def same_layouts(function: Any, inputs: Any, backend: str = "eager") -> Any:
    """Asserts that results lie in memory as they do in eager, in two calls; returns the compiled twin."""
    compiled = mended_compile(function, backend=backend)
    for _ in range(2):
        args, others = inputs(), inputs()
        expected, seen = function(*args), compiled(*others)
        assert layouts(*seen, *others) == layouts(*expected, *args)
        for one, other in zip((*seen, *others), (*expected, *args), strict=True):
            assert torch.equal(one, other)
            assert vars(one) == vars(other)
    return compiled

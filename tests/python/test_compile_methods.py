"""Tests that call what has the name of a tensor's method, and is another's: it is called as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy
import torch
from compiled_calls import same_program

pytestmark = pytest.mark.filterwarnings("ignore")


class Near:
    """Has methods of the names that tensors have."""

    def __init__(self, to: Any) -> None:
        self.to = to

    def equal(self, other: Any) -> Any:
        return self.allclose(x=other)

    def allclose(self, x: Any, by: float = 0.1) -> Any:
        return ((x - self.to).abs() < by).all()


NEAR = Near(torch.ones(3))


def own_equal(x: Any) -> Any:
    if not NEAR.equal(x):
        raise ValueError("far")
    return x + 1


def own_allclose(x: Any) -> Any:
    assert NEAR.allclose(x=x, by=0.2), "far"
    return x + 1


def numpys_allclose(x: Any) -> Any:
    if not numpy.allclose(a=x.numpy(), b=NEAR.to.numpy(), atol=0.1):
        raise ValueError("far")
    return x + 1


def by_keywords(x: Any) -> Any:
    assert torch.allclose(input=x, other=NEAR.to, atol=0.1), "far"
    return x + 1


@pytest.mark.parametrize("function", [own_equal, own_allclose, numpys_allclose, by_keywords])
def test_a_test_by_what_has_the_name_of_a_tensors_method(function: Callable[..., Any]) -> None:
    calls = [(torch.full((3,), value),) for value in (1.0, 1.05, 5.0, 1.0)]
    same_program(function, calls, __file__, frames=False)

"""What Python raises and Dynamo computes all the same, raises in mended frames too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, same_program

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def divides_for_nothing(x: Any, n: int) -> Any:
    print("in", x.sum())
    try:
        1 // max(n - 1, 0)
    except ZeroDivisionError as error:
        print("caught", error, n)
    return x * 2


def divides_in_all_ways(x: Any, n: int) -> Any:
    print("in", x.sum())
    found = []
    try:
        found = [7 % n, divmod(7, n), 3 / n, 7 // n]
        n //= n
        n %= n - 1
    except ZeroDivisionError as error:
        print("caught", error, n)
    return x * 2, found, n


def divides_by_a_fraction(x: Any, f: float) -> Any:
    print("in", x.sum())
    try:
        found = 1 / f
    except ZeroDivisionError as error:
        print("caught", error)
        found = 0.0
    return x * 2, found


@pytest.mark.parametrize("program", [divides_for_nothing, divides_in_all_ways])
def test_a_divisor_that_changes_and_becomes_zero(program: Callable[..., Any]) -> None:
    calls = [(x, n) for (x,), n in zip(numbers(*range(7)), [3, 5, 4, 1, 0, 2, 0], strict=True)]
    same_program(program, calls, __file__)


def test_a_fraction_that_changes_and_becomes_zero() -> None:
    calls = [(x, f) for (x,), f in zip(numbers(*range(6)), [3.5, 5.5, 4.5, 0.0, 1.5, -0.0], strict=True)]
    same_program(divides_by_a_fraction, calls, __file__)


def divides_a_tensor(x: Any, f: float) -> Any:
    print("in", x.sum())
    return x / f


def test_a_tensor_divided_by_zeros_of_both_signs() -> None:
    calls = [(x, f) for (x,), f in zip(numbers(*range(5)), [4.0, 2.0, 0.0, -0.0, 0.0], strict=True)]
    assert same_program(divides_a_tensor, calls, __file__).report.mended


def test_a_divisor_that_becomes_zero_where_no_graph_may_break() -> None:
    def program(x: Any, n: int) -> Any:
        if x.sum() > 1000:
            raise ValueError("large")
        return x * (1 / n)

    calls = [(x, n) for (x,), n in zip(numbers(*range(4)), [4, 2, 0, 3], strict=True)]
    same_program(program, calls, __file__, frames=False, fullgraph=True)


def makes_an_array(x: Any) -> Any:
    if x.sum() > 1000:
        raise ValueError("large")
    try:
        x.numpy()
    except (TypeError, RuntimeError) as error:
        print("caught", error)
    return x.detach() + 1


@pytest.mark.parametrize(
    "x",
    [torch.ones(2), torch.ones(2, dtype=torch.bfloat16), torch.ones(2, requires_grad=True), torch.ones(2).long()],
    ids=["float", "bfloat16", "requires_grad", "long"],
)
def test_tensors_that_no_array_can_be(x: Any) -> None:
    same_program(makes_an_array, [(x,), (x.detach() * 2,)], __file__)

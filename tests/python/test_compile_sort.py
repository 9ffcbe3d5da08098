"""Sorting by tensors: the order is Python's own, ties and NaN included; the user's function is called once for each."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def row(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


def by_sum(x: torch.Tensor, seen: list[int]) -> Any:
    def key(pair: Any) -> torch.Tensor:
        seen.append(pair[0])
        return pair[1]

    pairs = [(i, x[i]) for i in range(4)]
    upward = sorted(pairs, key=key)
    downward = sorted(pairs, key=key, reverse=True)
    in_place = list(pairs)
    kept = in_place
    in_place.sort(key=lambda pair: pair[1] * 2)
    return [[i for i, _ in order] for order in (upward, downward, kept)], torch.stack([value for _, value in upward])


ORDERS = [row(3, 1, 2, 0), row(3, 1, 2, 0), row(1, 1, 0, 1), row(0.0, -0.0, 0.0, -1), row(5, 6, 7, 8)]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16, torch.uint8])
def test_the_order_is_python_s(backend: str, dtype: torch.dtype) -> None:
    calls: list[Any] = [(order.abs().to(dtype) if dtype == torch.uint8 else order.to(dtype), []) for order in ORDERS]
    compiled = same_program(by_sum, calls, __file__, backend=backend, speculate=True)
    assert compiled.report.left == []
    assert {entry.mend for entry in compiled.report.mended} == {"substitute"}


def plain_order(x: torch.Tensor) -> Any:
    order = sorted(range(3), key=lambda i: x[i])
    return order, x * 2


def test_no_number_has_no_place() -> None:
    nan = float("nan")
    compiled = same_program(plain_order, [(row(3, 2, 1),), (row(nan, 1, 0),)], __file__, speculate=True)
    assert compiled.report.misses == 1
    # From the first call on, there is nothing to predict.
    assert same_program(plain_order, [(row(nan, 1, 0),)] * 2, __file__, speculate=True).report.left


def test_without_predictions_it_is_left() -> None:
    compiled = same_program(plain_order, [(row(3, 2, 1),)] * 2, __file__, speculate=False)
    assert compiled.report.left


def mixed(x: torch.Tensor, y: torch.Tensor) -> Any:
    order = sorted([x, y], key=lambda each: each.sum())
    return [len(each) for each in order], x * 2


def test_keys_of_several_types_are_left() -> None:
    calls = [(row(1.5), row(1, 0, dtype=torch.int64))] * 2
    assert same_program(mixed, calls, __file__, speculate=True).report.left
    assert same_program(mixed, [(row(1.5), row(1, 0))] * 2, __file__, speculate=True).report.left == []


class Rows(list):  # type: ignore[type-arg]
    """Sorts in its own way."""

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        self.reverse()


def sorts_all(x: torch.Tensor, rows: Any) -> Any:
    names = ["b", "a"]
    names.sort()
    rows.sort(key=lambda each: each.sum()), names.sort(key=len)
    values = [x[0], x[1]]
    values.sort(), rows.sort()
    return names, torch.stack(values), len(rows)


def test_names_prove_nothing() -> None:
    for rows in ([row(2), row(1)], Rows([row(1), row(2)])):
        same_program(sorts_all, [(row(2, 1), rows)], __file__, speculate=True)


def looks_while_sorting(x: torch.Tensor, rows: list[torch.Tensor], seen: list[int]) -> Any:
    def key(each: torch.Tensor) -> torch.Tensor:
        seen.append(len(rows))
        return each

    rows.sort(key=key)
    return x * 2


def test_a_list_is_empty_while_it_is_sorted() -> None:
    calls: list[Any] = [(row(1), [row(2), row(1), row(3)], []) for _ in range(2)]
    compiled = same_program(looks_while_sorting, calls, __file__, speculate=True)
    assert compiled.report.left == []
    seen: list[int] = []
    assert compiled(row(1), [row(2), row(1), row(3)], seen).tolist() == [2.0]
    assert seen == [0, 0, 0]


def unsorted_gradient(x: torch.Tensor) -> torch.Tensor:
    first, *_ = sorted([x * 2, x * x], key=lambda each: each.sum())
    return first


def test_gradients_flow_through_the_items() -> None:
    compiled = same_program(unsorted_gradient, [(row(3, 2),)] * 2, __file__, speculate=True)
    assert reasons(compiled) == set()
    for values in ((3.0, 2.0), (0.5, 0.25)):
        one, other = row(*values).requires_grad_(), row(*values).requires_grad_()
        unsorted_gradient(one).sum().backward()
        compiled(other).sum().backward()
        assert one.grad is not None and other.grad is not None
        assert torch.equal(one.grad, other.grad)

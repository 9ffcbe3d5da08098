"""A branch gives one name to one tensor or another; what tells which of them it is finds the one that was meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import observe, same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns of gradients of what is no leaf.
pytestmark = pytest.mark.filterwarnings("ignore")


def by_id(x: Any, y: Any) -> Any:
    return id(y) == id(x)


def by_key(x: Any, y: Any) -> Any:
    return y in {x: 1}, (y, 1) in {(x, 1): 1}, len({x, y}), hash(y) == hash(x)


def by_attribute(x: Any, y: Any) -> Any:
    y.tag = "y"
    return getattr(x, "tag", None), hasattr(x, "tag")


def by_attribute_of_the_input(x: Any, y: Any) -> Any:
    x.tag = "x"
    return getattr(y, "tag", None), hasattr(y, "tag")


def by_base(x: Any, y: Any) -> Any:
    return y._base is x._base, y._is_view(), y.is_leaf


def by_gradient(x: Any, y: Any) -> Any:
    y.grad = torch.ones(3)
    return x.grad


def by_array(x: Any, y: Any) -> Any:
    array = y.detach().numpy()
    array += 1
    return x * 1


QUESTIONS = (by_id, by_key, by_attribute, by_attribute_of_the_input, by_base, by_gradient, by_array)


@pytest.mark.parametrize("speculate", [True, False])
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_tells_which_tensor_it_is(question: Callable[..., Any], speculate: bool) -> None:
    def asks(x: Any) -> Any:
        x.add_(1)
        y = x if x.sum() > 0 else x * 2
        return question(x, y), y + 1

    calls = [(torch.full((3,), value),) for value in (3.0, -3.0, 3.0)]
    compiled = same_program(asks, calls, __file__, speculate=speculate)
    assert not any(entry.mend == "select" for entry in compiled.report.mended)


def hook(x: Any) -> Any:
    y = x if x.sum() > 0 else x * 2
    y.register_hook(lambda gradient: gradient * 3)
    return y * 2 + x


def asked_for(x: Any) -> Any:
    y = x if x.sum() > 0 else x * 2
    return torch.autograd.grad((y * 2 + x).sum(), y)[0] + x


def asked_for_in_a_list(x: Any) -> Any:
    y = x if x.sum() > 0 else x * 2
    return torch.autograd.grad((y * 2 + x).sum(), inputs=[y])[0] + x


@pytest.mark.parametrize("function", [hook, asked_for, asked_for_in_a_list])
def test_gradients_of_the_tensor_that_it_is(function: Callable[..., Any]) -> None:
    def with_backward(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: Any) -> Any:
            call(x).sum().backward()
            return x.grad

        return run

    compiled = mended_compile(function, backend="eager")
    for value in (1.0, -1.0, 2.0):
        x, same = (torch.full((3,), value, requires_grad=True) for _ in range(2))
        expected = observe(with_backward(function), (x,), __file__)
        assert observe(with_backward(compiled), (same,), __file__) == expected and expected.error is None


def test_what_does_not_tell_is_joined() -> None:
    """Sizes, values and what is computed of them are the same, whichever it is."""

    def computes(x: Any) -> Any:
        y = x if x.sum() > 0 else x * 2
        return y.shape, y.dtype, y.requires_grad, y.is_contiguous(), y.detach() + 1, y.max()

    calls = [(torch.full((3, 3), value),) for value in (3.0, -3.0)]
    compiled = same_program(computes, calls, __file__)
    assert [entry.mend for entry in compiled.report.mended] == ["select"] and compiled.report.whole

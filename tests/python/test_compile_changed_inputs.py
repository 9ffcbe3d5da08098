"""Gradients of what is made of an input that the graph changes are those of eager, on backends with graphs for them."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def leaf() -> Any:
    return torch.full((2, 3), 0.5, requires_grad=True)


class Turned(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Only its backward needs the scale."""

    @staticmethod
    def forward(context: Any, x: Any, scale: Any) -> Any:
        context.save_for_backward(scale)
        return x.view_as(x)

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return -gradient * context.saved_tensors[0], None


def uses_after(x: Any, state: Any) -> Any:
    state.mul_(0.5)
    print("halved")
    return x * state


def uses_before(x: Any, state: Any) -> Any:
    twice = state * 2
    print("doubled")
    state.mul_(0.5)
    return x * twice


def uses_view_before(x: Any, state: Any) -> Any:
    view = state.view(3, 1)
    twice = (view * 2).view(3)
    print("doubled")
    view.mul_(0.5)
    return x * twice * state


def uses_between(x: Any, state: Any) -> Any:
    waves = state.sin()
    state.add_(x.detach().sum())
    more = state.cos()
    print("added")
    state.copy_(state / 2)
    return (x * waves).sin() * more * state


def uses_copy(x: Any, state: Any) -> Any:
    old = state.clone()
    if x.isnan().any():
        raise ValueError("not a number")
    state.add_(1)
    return x * old


def uses_statistics(x: Any, state: Any) -> Any:
    twice = state * 2
    print("doubled")
    torch.nn.functional.batch_norm(x.detach(), state, torch.ones(3), training=True)
    return x * twice


def uses_in_backward(x: Any, state: Any) -> Any:
    twice = state * 2
    print("doubled")
    state.mul_(0.5)
    return Turned.apply(x, twice)


def uses_in_hook(x: Any, state: Any) -> Any:
    twice = state * 2
    print("doubled")
    state.mul_(0.5)
    thrice = x * 3
    thrice.register_hook(lambda gradient: gradient * twice)
    return thrice


def uses_number(x: Any, state: Any) -> Any:
    number = (state * x.detach().sum().item()).sum().item()
    state.mul_(0.5)
    return x * number


def returns_it(x: Any, state: Any) -> Any:
    twice = state * 2
    print("doubled", state)
    return x * twice + x * state.add_(1), state


USES = [
    uses_after, uses_before, uses_view_before, uses_between, uses_copy, uses_statistics, uses_in_backward,
    uses_in_hook, uses_number, returns_it,
]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "backend"),
    [*((use, "aot_eager") for use in USES), (uses_copy, "inductor"), (uses_in_backward, "inductor")],
)
def test_what_was_made_of_an_input_before_its_change_counts_for_gradients(program: Any, backend: str) -> None:
    def gradients(call: Callable[..., Any]) -> Any:
        state, made = torch.arange(1.0, 4.0), []
        for _ in range(2):
            x = leaf()
            results = call(x, state)
            if isinstance(results, tuple):
                results, same = results
                assert same is state
            results.sum().backward()
            made += [x.grad, state.clone()]
        return made

    compiled = mended_compile(program, backend=backend)
    with redirect_stdout(io.StringIO()):
        torch.testing.assert_close(gradients(compiled), gradients(program))
    assert compiled.report.whole


def changes_what_has_a_copy(state: Any, x: Any) -> Any:
    old = state.clone()
    print("copied")
    state.add_(1)
    return x * old


def changes_it_twice(state: Any, x: Any) -> Any:
    state.mul_(x)
    print("multiplied")
    twice = state * 2
    state.add_(twice)
    return twice * state


def changes_by_what_it_was(state: Any, x: Any) -> Any:
    with torch.no_grad():
        twice = state * 2
    print("doubled")
    state.add_(x * twice)
    return state * twice


@pytest.mark.parametrize("program", [changes_what_has_a_copy, changes_it_twice, changes_by_what_it_was])
def test_an_input_with_a_history_that_is_changed_after_it_was_used(program: Any) -> None:
    def gradients(call: Callable[..., Any]) -> Any:
        x, y = leaf(), leaf()
        state = y * 1.5
        (call(state, x).sum() + state.cos().sum()).backward()
        return x.grad, y.grad, state.detach()

    compiled = mended_compile(program, backend="aot_eager")
    with redirect_stdout(io.StringIO()):
        torch.testing.assert_close([gradients(compiled), gradients(compiled)], [gradients(program)] * 2)
    assert compiled.report.whole


class Moved(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """A router that is given the type that it has, in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.router = torch.nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        self.router = self.router.to(torch.float32)
        scores = self.router(x)
        print("best", scores.argmax())
        return [scores] * (scores.argmax().item() + 1)


@pytest.mark.parametrize("grad", [False, True])
def test_a_module_that_is_moved_to_where_it_is(grad: bool) -> None:
    torch.manual_seed(0)
    model = Moved()
    compiled = mended_compile(model, backend="aot_eager")
    weight, version = model.router.weight, model.router.weight._version
    with torch.set_grad_enabled(grad):
        for x in (torch.ones(3), torch.ones(3), -torch.ones(3)):
            assert list(map(torch.Tensor.tolist, compiled(x))) == list(map(torch.Tensor.tolist, model(x)))
    assert compiled.report.whole and model.router.weight is weight and weight._version == version

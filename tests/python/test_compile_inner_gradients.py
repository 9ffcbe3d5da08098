"""Gradients that a compiled function takes itself: those of eager, with all hooks, or the graph breaks as it did."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_calls import reasons  # noqa: E402

from graphmend._mending.compile import compile as mended_compile  # noqa: E402

# torch warns on its own account; the settings are those of one version.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not hasattr(torch._dynamo.config, "trace_autograd_ops"), reason="needs a newer torch"),
]
BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])
OUTSIDE = "hooks on a leaf's accumulated gradient, DDP's among them, cannot be looked up"


def leaf() -> Any:
    return torch.arange(1.0, 5.0).requires_grad_()


def both(function: Callable[..., Any], compiled: Callable[..., Any], call: Callable[[Any], Any]) -> Any:
    """Asserts that a call of either shows the same, twice; returns what it shows."""
    for _ in range(2):
        expected, seen = call(function), call(compiled)
        assert seen == expected
    return seen


def penalty(x: Any, weight: Any) -> Any:
    loss = (x * x * weight).sum()
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    return (gradient * gradient).sum()


def gradient_of(x: Any, y: Any) -> Any:
    (gradient,) = torch.autograd.grad((x * y).sum(), x)
    return gradient * 2


@BACKENDS
def test_gradients_of_gradients(backend: str) -> None:
    def call(function: Any) -> Any:
        x, weight = leaf(), leaf()
        function(x, weight).backward()
        return x.grad.tolist(), weight.grad.tolist()

    compiled = mended_compile(penalty, backend=backend)
    both(penalty, compiled, call)
    assert compiled.report.left == []
    assert compiled.report.misses == 0
    assert {entry.mend for entry in compiled.report.mended} == {"setting"}


@BACKENDS
def test_hooks_are_called(backend: str) -> None:
    def plain(function: Any) -> Any:
        return function(leaf(), leaf()).tolist()

    def hooked(function: Any) -> Any:
        x, seen = leaf(), []

        def hook(gradient: Any) -> Any:
            seen.append(gradient.tolist())
            return gradient * 10

        x.register_hook(hook)
        return function(x, leaf()).tolist(), seen

    compiled = mended_compile(gradient_of, backend=backend)
    both(gradient_of, compiled, plain)
    assert compiled.report.misses == 0
    _, seen = both(gradient_of, compiled, hooked)
    assert seen
    assert compiled.report.misses == 2
    both(gradient_of, compiled, plain)
    assert compiled.report.left == []


@BACKENDS
def test_what_was_computed_outside_is_part_of_it(backend: str) -> None:
    def history(function: Any) -> Any:
        x = leaf()
        return function(x, x * x).tolist()

    compiled = mended_compile(gradient_of, backend=backend)
    both(gradient_of, compiled, lambda function: function(leaf(), leaf()).tolist())
    both(gradient_of, compiled, history)
    assert compiled.report.misses >= 1
    # From the first call on.
    both(gradient_of, mended_compile(gradient_of, backend=backend), history)


@BACKENDS
def test_hooks_on_what_is_saved(backend: str) -> None:
    def packed(function: Any) -> Any:
        seen: list[int] = []

        def pack(x: Any) -> Any:
            seen.append(1)
            return x

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x * 3):
            result = function(leaf(), leaf()).tolist()
        return result, len(seen)

    compiled = mended_compile(gradient_of, backend=backend)
    both(gradient_of, compiled, lambda function: function(leaf(), leaf()).tolist())
    both(gradient_of, compiled, packed)


def root(x: Any, y: Any) -> Any:
    (gradient,) = torch.autograd.grad((x.sqrt() * y).sum(), x)
    return gradient


def test_anomalies_are_found() -> None:
    def watched(function: Any) -> Any:
        with torch.autograd.detect_anomaly():
            try:
                return function(torch.zeros(2).requires_grad_(), torch.zeros(2)).tolist()
            except RuntimeError as error:
                return str(error).partition(" ")[0]

    compiled = mended_compile(root, backend="aot_eager")
    both(root, compiled, lambda function: function(torch.ones(2).requires_grad_(), torch.ones(2)).tolist())
    assert isinstance(both(root, compiled, watched), str)


def returns_the_loss(x: Any, retain: bool) -> Any:
    loss = (x * x).sum()
    (gradient,) = torch.autograd.grad(loss, x, retain_graph=retain)
    return loss, gradient


@BACKENDS
def test_a_loss_that_is_returned(backend: str) -> None:
    def call(function: Any, retain: bool) -> Any:
        x = leaf()
        loss, gradient = function(x, retain)
        try:
            loss.backward()
        except RuntimeError:
            return gradient.tolist(), "raised"
        return gradient.tolist(), x.grad.tolist()

    for retain in (True, False):
        compiled = mended_compile(returns_the_loss, backend=backend)
        shown = both(returns_the_loss, compiled, functools.partial(call, retain=retain))
        assert (shown[1] == "raised") is not retain
        assert (compiled.report.left == []) is retain


def attack(x: Any, model: Any) -> Any:
    y = x.detach().clone().requires_grad_()
    loss = model(y).sum()
    loss.backward()
    model(y * 2).sum().backward()
    gradient = y.grad
    y.grad = None
    return x + gradient.sign(), gradient, loss.detach()


def model(frozen: bool) -> Any:
    torch.manual_seed(3)
    made = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
    return made.requires_grad_(not frozen)


@BACKENDS
@pytest.mark.parametrize("frozen", [True, False])
def test_backward_to_what_was_made_inside(backend: str, frozen: bool) -> None:
    def call(function: Any) -> Any:
        holder = model(frozen)
        results = function(torch.arange(4.0), holder)
        gradients = [None if each.grad is None else each.grad.tolist() for each in holder.parameters()]
        return [each.tolist() for each in results], gradients

    compiled = mended_compile(attack, backend=backend)
    both(attack, compiled, call)
    assert (compiled.report.left == []) is frozen
    if not frozen:
        assert OUTSIDE in reasons(compiled)


def test_hooks_on_parameters_are_called_by_backward() -> None:
    def call(function: Any) -> Any:
        holder, seen = model(False), []
        for each in holder.parameters():
            each.register_post_accumulate_grad_hook(lambda parameter: seen.append(parameter.grad.sum().item()))
        function(torch.arange(4.0), holder)
        return seen

    assert both(attack, mended_compile(attack, backend="eager"), call)


def through_a_hook(x: Any) -> Any:
    x.register_hook(lambda gradient: gradient * 3)
    (gradient,) = torch.autograd.grad((x * x).sum(), x)
    return gradient + 1 if gradient[0].item() > 5 else gradient


def through_a_hook_for_a_while(x: Any) -> Any:
    handle = x.register_hook(lambda gradient: gradient * 3)
    (gradient,) = torch.autograd.grad((x * x).sum(), x)
    handle.remove()
    return gradient


def before_a_hook(x: Any) -> Any:
    (gradient,) = torch.autograd.grad((x * x).sum(), x)
    x.register_hook(lambda gradient: gradient * 3)
    return gradient * x


@BACKENDS
@pytest.mark.parametrize("function", [through_a_hook, through_a_hook_for_a_while, before_a_hook])
def test_hooks_that_are_put_on_an_input(function: Callable[..., Any], backend: str) -> None:
    def call(compiled: Any) -> Any:
        x = leaf()
        result = compiled(x)
        if result.requires_grad:
            result.sum().backward()
        return result.tolist(), None if x.grad is None else x.grad.tolist()

    compiled = mended_compile(function, backend=backend)
    both(function, compiled, call)
    reason = "a gradient goes through a hook that is put on an input meanwhile"
    assert (reason in reasons(compiled)) is (function is not before_a_hook)


def grad_then_backward(x: Any, weight: Any) -> Any:
    (gradient,) = torch.autograd.grad((x * weight).sum(), x)
    (gradient * weight).sum().backward()
    return gradient


def test_backward_after_a_gradient_is_refused_too() -> None:
    def call(function: Any) -> Any:
        x, weight, seen = leaf(), leaf(), []
        weight.register_post_accumulate_grad_hook(lambda each: seen.append(each.grad.tolist()))
        return function(x, weight).tolist(), weight.grad.tolist(), x.grad, seen

    compiled = mended_compile(grad_then_backward, backend="eager")
    both(grad_then_backward, compiled, call)
    assert OUTSIDE in reasons(compiled)


def test_the_user_s_own_setting_is_as_it_was() -> None:
    def loss(x: Any) -> Any:
        (x * x).sum().backward()
        return x.detach() + 1

    with torch._dynamo.config.patch(trace_autograd_ops=True):
        compiled = mended_compile(loss, backend="eager")
        x = leaf()
        compiled(x)
        assert x.grad.tolist() == [2.0, 4.0, 6.0, 8.0]
        assert compiled.report.left == []


def changes_and_takes(x: Any, weight: Any, other: Any) -> Any:
    x.add_(1)
    (gradient,) = torch.autograd.grad((weight * other).sum(), weight)
    return gradient


@BACKENDS
def test_a_change_shows_in_what_shares_the_memory(backend: str) -> None:
    def shared(function: Any) -> Any:
        x = leaf().detach()
        return function(x, leaf(), x.view(4)).tolist()

    compiled = mended_compile(changes_and_takes, backend=backend)
    both(changes_and_takes, compiled, lambda function: function(leaf().detach(), leaf(), leaf().detach()).tolist())
    assert compiled.report.misses == 0
    both(changes_and_takes, compiled, shared)
    assert compiled.report.left == []


def clipped(x: Any, weight: Any) -> Any:
    moved = x.detach().clone().requires_grad_(True)
    with torch.no_grad():
        fixed = moved * weight
    (gradient,) = torch.autograd.grad((moved * fixed).sum(), moved)
    if gradient.norm() > 4:
        print("clipped", int(gradient.norm()))
        return gradient * 2
    return gradient


def limited(x: Any, weight: Any) -> Any:
    count = int(weight.sum())
    weight.mul_(2)
    (gradient,) = torch.autograd.grad((x * x * weight).sum() * count, x)
    return torch.stack([gradient] * int(gradient.abs().max()))


@BACKENDS
@pytest.mark.parametrize("function", [clipped, limited])
def test_values_of_gradients_are_predicted(function: Callable[..., Any], backend: str) -> None:
    compiled = mended_compile(function, backend=backend)
    for size in (0.5, 0.5, 3.0, 0.5, 3.0, 3.0):
        made = []
        for each in (function, compiled):
            x, weight = leaf(), torch.full((4,), size)
            made.append((each(x, weight).tolist(), weight.tolist(), x.grad))
        assert made[0] == made[1]
    assert compiled.report.whole and compiled.report.misses < 6
    assert "speculate" in {entry.mend for entry in compiled.report.mended}


def test_values_of_gradients_under_hooks_are_read_by_python() -> None:
    packed: list[Any] = []

    def pack(tensor: Any) -> Any:
        packed.append(tensor.shape)
        return tensor

    seen = []
    for each in (clipped, mended_compile(clipped, backend="eager")):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            seen.append((each(leaf(), torch.full((4,), 3.0)).tolist(), len(packed)))
        packed.clear()
    assert seen[0] == seen[1]

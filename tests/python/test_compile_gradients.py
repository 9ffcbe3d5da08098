"""Gradients and random numbers of a mended program are those of eager, whatever a backend does with one whole graph."""

from __future__ import annotations

import io
import logging
import random
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending.compile import compile as mended_compile
from graphmend._mending.history import ShownError

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("subject")


def leaf() -> Any:
    return torch.full((2, 3), 0.5, requires_grad=True)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_is_only_shown_gets_no_gradient(backend: str) -> None:
    def shows(x: Any, y: Any) -> Any:
        half = x * 0.5
        print("half", half, "row", x[0], "all", x)
        logger.info("sum %s of %s", half.sum(), x.chunk(2)[0])
        return y * 2

    # The text says what made a value, as eager's does.
    compiled = same_program(shows, [(leaf(), leaf())] * 2, __file__, backend=backend, fullgraph=True)
    x, y = leaf(), leaf()
    compiled(x, y).sum().backward()
    assert compiled.report.whole and x.grad is None and y.grad is not None


def test_what_is_dropped_is_shown_as_a_product() -> None:
    def shows(x: Any) -> Any:
        y = torch.nn.functional.dropout(x, 0.5)
        print("dropped", y)
        return y * 2

    same_program(shows, [(leaf(),)] * 2, __file__, fullgraph=True)


class Shows(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, makes: Callable[..., Any]) -> None:
        super().__init__()
        self.makes = makes

    def forward(self, x: Any) -> Any:
        y = self.makes(x)
        print(y)
        return y * 2


def products(x: torch.Tensor) -> torch.Tensor:
    return x @ x.detach().transpose(1, 2)


def enlarged(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.interpolate(x, scale_factor=2.0, mode="linear")


def changed_since(x: torch.Tensor) -> torch.Tensor:
    y = torch.nn.functional.interpolate(x, scale_factor=2.0)
    y[0] = 1.0
    return y


@pytest.mark.parametrize(
    "makes",
    [torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3).eval(), products, enlarged, changed_since],
    ids=["trained", "normalised", "products", "enlarged", "changed"],
)
def test_what_is_shown_says_what_made_it_on_a_processor(makes: Callable[..., Any]) -> None:
    """While shapes alone are known these are other operators."""
    calls = [(torch.arange(24.0).reshape(2, 3, 4).requires_grad_(),)] * 2
    same_program(Shows(makes), calls, __file__, fullgraph=True)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_is_shown_in_inference_mode_has_no_history(backend: str) -> None:
    def shows(x: Any) -> Any:
        with torch.enable_grad():
            print("norm", x.norm())
        print("part", x[0, 0])
        return -x

    def called(x: Any) -> Any:
        with torch.inference_mode():
            return compiled(x)

    compiled: Any = shows
    seen = []
    for each in (shows, mended_compile(shows, backend=backend, fullgraph=True)):
        compiled = each
        with redirect_stdout(io.StringIO()) as out:
            called(leaf())
        seen.append(out.getvalue())
    assert seen[0] == seen[1] and "grad_fn" not in seen[0]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_nothing_made_in_inference_mode_has_a_history(backend: str) -> None:
    """AOTAutograd gives it one, inside of `enable_grad`."""

    def made(x: Any) -> Any:
        with torch.enable_grad():
            print("before")
            y = x * 2
        return y, y[0], x, x[0]

    x = leaf()
    with redirect_stdout(io.StringIO()), torch.inference_mode():
        expected, seen = made(x), mended_compile(made, backend=backend, fullgraph=True)(x)
    assert [each.requires_grad for each in expected] == [each.requires_grad for each in seen]
    assert [each.is_inference() for each in expected] == [each.is_inference() for each in seen]
    assert seen[2] is x
    assert seen[1].untyped_storage().data_ptr() == seen[0].untyped_storage().data_ptr()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_is_shown_twice_is_one_object(backend: str) -> None:
    kept: list[Any] = []

    class Keeps(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert isinstance(record.args, tuple)
            kept.extend(record.args)

    def shows(x: Any) -> Any:
        y = x * 2
        logger.warning("%s and %s", y, y)
        logger.warning("%s", y)
        z = y.detach().clone()
        logger.warning("%s and %s", z, z)
        z += 1
        return y.sum() + z.sum()

    handler = Keeps()
    logger.addHandler(handler)
    try:
        mended_compile(shows, backend=backend, fullgraph=True)(leaf())
    finally:
        logger.removeHandler(handler)
    first, *others, one, two = kept
    assert all(other is first for other in others) and one is two
    assert one.tolist() == first.tolist()


def test_what_an_effect_keeps_says_that_no_gradients_lead_back() -> None:
    kept: list[Any] = []

    class Keep(logging.Handler):
        def emit(self, record: Any) -> None:
            kept.append(record.args[0])

    def step(x: Any) -> Any:
        logger.error("value %s", x * 3)
        return x * 2

    handler = Keep()
    logger.addHandler(handler)
    try:
        mended_compile(step, backend="aot_eager", fullgraph=True)(leaf())
    finally:
        logger.removeHandler(handler)
    assert kept[0].requires_grad and not kept[0].is_leaf and kept[0].tolist() == [[1.5] * 3] * 2
    with pytest.raises(ShownError, match="no gradients lead back"):
        kept[0].sum().backward()


def unused(x: Any, weight: Any) -> Any:
    torch.nn.functional.dropout(x, 0.5)
    torch.empty(3).uniform_()
    torch.rand(2).mul_(2).add_(1)
    y = x + 1
    x = x * y
    y.copy_(torch.rand(4))
    return torch.nn.functional.dropout(x * weight, 0.5)


def shows_unused(x: Any, weight: Any) -> Any:
    print("sum", x.sum())
    return unused(x, weight)


@pytest.mark.parametrize("grad", [False, True])
def test_numbers_that_nothing_comes_of_are_drawn(grad: bool) -> None:
    calls = [(torch.ones(4), torch.ones(4, requires_grad=grad))] * 2
    compiled = same_program(shows_unused, calls, __file__, backend="aot_eager", fullgraph=True)
    assert compiled.report.misses == 0


def shown_between(x: Any) -> Any:
    y = torch.tanh(x)
    print("shape", y.shape)
    y.mul_(2)
    return y


def drawn_between(x: Any) -> Any:
    y = torch.tanh(x)
    drawn = torch.empty(2, 3).random_(3, 9)
    y.mul_(2)
    print("drawn", drawn)
    return y + drawn


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (shown_between, {"the backend fails on the whole graph (RuntimeError)"}),
        (
            drawn_between,
            {
                "the backend fails on the whole graph (RuntimeError)",
                "the backend fails on the mended frame (RuntimeError)",
            },
        ),
    ],
)
def test_breaks_are_left_where_the_backend_fails_without_them(function: Any, expected: set[str]) -> None:
    # What the backward of `tanh` needs is changed in place: in one graph AOTAutograd refuses that.
    compiled = same_program(function, [(leaf(),)] * 2, __file__, backend="aot_eager")
    assert compiled.report.mended == [] and reasons(compiled) == expected


class Counting(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, shows: bool) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.shows = shows

    def forward(self, x: Any) -> Any:
        x = x * 1.0
        torch._dynamo.graph_break()
        x.mul_(2)
        if self.shows:
            print("shape", x.shape)
        self.steps += 1
        return x - 0.5, x.min(), self.steps


@pytest.mark.parametrize("shows", [False, True])
def test_an_input_that_is_changed_and_returned_does_not_replace_another_output(shows: bool) -> None:
    model = Counting(shows)
    compiled = same_program(model, [(leaf(),)] * 2, __file__, backend="aot_eager")
    assert compiled.report.misses == 0
    assert compiled(leaf())[2] is compiled.steps


def shows_and_draws(x: Any) -> Any:
    print("sum", x.sum())
    return x * random.uniform(0, 1)


def test_a_number_that_was_drawn_comes_as_the_backend_was_told() -> None:
    def backend(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            # Code that is made for one type reads nonsense from another.
            told.append([each.dtype for each in inputs])
            given.append([each.dtype for each in args])
            return graph(*args)

        return run

    told: list[Any] = []
    given: list[Any] = []
    same_program(shows_and_draws, [(torch.ones(3),)] * 2, __file__, backend=backend)
    assert told == given and torch.float64 in given[0]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_what_is_shown_is_what_it_was_before_a_part_was_assigned(backend: str) -> None:
    def step(x: Any) -> Any:
        x[0] = 0.25
        print("now", x)
        x[0] = -1.0
        return x - 0.5

    same_program(step, [(torch.ones(3, 4),)] * 2, __file__, backend=backend, fullgraph=True)


def test_what_is_compared_twice_takes_no_part_in_the_backward() -> None:
    def bounded(x: Any, y: Any) -> Any:
        torch._dynamo.graph_break()
        if 100 < (x * x).sum() < 200:
            raise ValueError("between")
        return y * 2

    compiled = mended_compile(bounded, backend="aot_eager")
    x, y = leaf(), leaf()
    compiled(x, y).sum().backward()
    assert compiled.report.misses == 0 and x.grad is None and y.grad is not None


@pytest.mark.parametrize("bound", [0.0, 3.0])
def test_an_operand_that_draws_is_evaluated_where_python_does(bound: float) -> None:
    def bounded(x: Any) -> Any:
        if x.sum() > bound and (x > torch.rand(3) + 10).any():
            raise ValueError("large")
        return x * 2

    same_program(bounded, [(torch.ones(3),), (torch.ones(3) * 2,), (torch.zeros(3),)], __file__)


class Switched(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("on", torch.tensor(False))

    def forward(self, x: Any) -> Any:
        y = x * self.weight
        if self.on:
            y = y * 2
        return y


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_buffer_that_decides_may_change_before_the_backward(backend: str) -> None:
    original, twin = Switched(), Switched()
    compiled = mended_compile(twin, backend=backend, fullgraph=True)
    for on in (True, False, True):
        for model, call in ((original, original), (twin, compiled)):
            model.weight.grad = None
            result = call(torch.tensor([1.0, 2.0, 3.0]))
            model.on.fill_(on)
            result.sum().backward()
        assert torch.equal(original.weight.grad, twin.weight.grad)
    assert [entry.mend for entry in compiled.report.mended] == ["select"]


def test_what_is_shown_behind_a_break_says_by_what_side_it_was_made() -> None:
    def joins(x: Any) -> Any:
        x = x * 3
        if x.dtype == torch.float64:
            x = x + 1 if x.isnan().all() else x - 2
        print("now", x)
        x[0] = 1.5
        return x * x

    # When the branch is met first, the break is known.
    calls = [(torch.ones(3, dtype=each, requires_grad=True),) for each in (torch.float32, torch.float64, torch.float64)]
    compiled = same_program(joins, calls, __file__)
    assert compiled.report.left


def test_what_a_dropout_passes_on_is_shown_as_a_leaf_though_it_changes_later() -> None:
    def drops(x: Any) -> Any:
        x = torch.nn.functional.dropout(x, training=False)
        print("now", x)
        x.add_(1.0)
        return x * 2

    with torch.inference_mode():
        same_program(drops, [(leaf(),)] * 2, __file__)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_backward_does_not_go_through_what_the_result_does_not_hang_on(backend: str) -> None:
    def adds(x: Any) -> Any:
        y = torch.sigmoid(x)
        torch._dynamo.graph_break()
        y.add_(1.0)
        print("now", x.detach().sum())
        return x / 2

    compiled = mended_compile(adds, backend=backend)
    for _ in range(2):
        x = torch.ones(3, requires_grad=True)
        compiled(x * 2).sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_inductor_draws_what_decides_as_eager_does(dtype: torch.dtype) -> None:
    def decides(x: Any, p: Any) -> Any:
        if torch.bernoulli(p).any() | (torch.bernoulli(p, p=0.001).sum() > 3):
            raise ValueError("drawn")
        return x * 2

    def outcomes(function: Any) -> list[bool]:
        torch.manual_seed(0)
        raised = []
        for _ in range(40):
            try:
                function(torch.ones(3), torch.full((4,), 0.06, dtype=dtype))
                raised.append(False)
            except ValueError:
                raised.append(True)
        return raised

    expected = outcomes(decides)
    assert any(expected) and outcomes(mended_compile(decides, fullgraph=True)) == expected

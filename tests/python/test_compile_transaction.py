"""A check that fails and a graph that raises leave behind what the program would have left, and nothing else."""

from __future__ import annotations

import logging
import random
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("subject")
GOOD, BAD = torch.ones(4, 3), torch.full((4, 3), 1000.0)


class Everything(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Changes all that a call can change, before and after its checks."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.register_buffer("total", torch.zeros(3))
        self.steps = 0
        self.history: list[Any] = []
        self.table: dict[str, Any] = {}
        self.last: Any = None

    def forward(self, x: Any, given: list[Any]) -> Any:
        self.steps += 1
        print("begin", self.steps)
        self.history.append(self.steps)
        self.total += x.sum(0)
        y = self.norm(self.linear(x * 2))
        noise = torch.rand(3) * random.uniform(0, 1)
        logger.info("mean of %d rows: %.3f", len(x), x.mean().item())
        x.mul_(0.5)
        given.append(y.shape[0])
        if self.total.max() > 100:
            print("failing")
            raise ValueError("total", self.total.clone(), self.steps)
        self.table["noise"] = noise
        self.last = y
        logger.warning("end %d", self.steps)
        if torch.isnan(x).any():
            raise ValueError("a number is missing")
        return torch.nn.functional.dropout(y, 0.5) + noise


def arguments(*values: Any) -> list[tuple[Any, list[Any]]]:
    return [(value.clone(), [0]) for value in values]


@pytest.mark.parametrize(("backend", "train"), [("eager", True), ("eager", False), ("aot_eager", True)])
def test_a_failing_check_leaves_what_eager_leaves(backend: str, train: bool) -> None:
    model = Everything().train(train)
    compiled = same_program(model, arguments(GOOD, BAD, GOOD, BAD), __file__, backend=backend, fullgraph=True)
    assert compiled.report.whole
    assert (compiled.report.calls, compiled.report.misses) == (4, 3)


def test_calls_after_a_miss_are_compiled_again() -> None:
    class Limited(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def forward(self, x: Any) -> Any:
            if x.sum() > 100:
                raise ValueError("large")
            return x * 2

    compiled = same_program(Limited(), [(GOOD,), (BAD,), (GOOD,), (BAD,), (GOOD,)], __file__)
    assert (compiled.report.calls, compiled.report.misses, compiled.report.graphs) == (5, 2, 1)


def test_the_first_call_fails() -> None:
    compiled = same_program(Everything(), arguments(BAD, BAD, GOOD), __file__)
    assert compiled.report.misses == 3


def raises_in_the_graph(x: Any, index: Any, kept: list[Any]) -> Any:
    print("begin")
    x.add_(1)
    kept.append(x.shape[0])
    drawn = torch.rand(2)
    taken = x[index]
    print("taken", taken.sum().item())
    x.add_(1)
    return taken * drawn.sum()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_an_exception_in_the_graph(backend: str) -> None:
    calls: list[Any] = [(torch.arange(4.0), torch.tensor([i, 0]), []) for i in (1, 9, 2, -7, 3)]
    compiled = same_program(raises_in_the_graph, calls, __file__, backend=backend, fullgraph=True)
    assert compiled.report.misses == 2


def test_an_exception_that_the_caller_catches() -> None:
    def outer(x: Any) -> Any:
        try:
            return inner(x)
        except ValueError as error:
            print("caught", error, type(error.__context__))
            return x - 1

    def inner(x: Any) -> Any:
        print("inner")
        if x.sum() > 100:
            raise ValueError("large")
        return x + 1

    same_program(outer, [(GOOD,), (BAD,), (GOOD,)], __file__)


def test_chained_exceptions_know_nothing_of_the_miss() -> None:
    def chained(x: Any) -> Any:
        y = x * 2
        if y.sum() > 100:
            raise ValueError("second", y.shape) from KeyError("first")
        return y

    compiled = same_program(chained, [(GOOD,), (BAD,)], __file__)
    assert compiled.report.misses == 1


def test_an_input_that_is_no_leaf_keeps_its_gradient() -> None:
    def changes(x: Any) -> Any:
        x.mul_(3)
        print("sum", x.sum().item())
        if x.max() > 100:
            raise ValueError("large")
        return x * x

    def run(x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        middle = leaf * 2
        result = subject(middle)
        result.sum().backward()
        return leaf.grad, middle.detach(), result.detach()

    from graphmend._mending.compile import compile as mended_compile

    subject: Any = changes
    expected = run(GOOD)
    for backend in ("eager", "aot_eager"):
        subject = mended_compile(changes, backend=backend, fullgraph=True)
        for seen, wanted in zip(run(GOOD), expected, strict=True):
            assert torch.equal(seen, wanted)
        with pytest.raises(ValueError, match="large"):
            run(BAD)


def test_an_input_that_gets_a_history_and_a_leaf_that_may_not(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        print(weight.sum().item())
        x.add_(weight)
        return x * 2

    from graphmend._mending.compile import compile as mended_compile

    weight = torch.ones(3, requires_grad=True)
    compiled: Any = mended_compile(f, backend="eager")
    for _ in range(3):
        assert compiled(torch.ones(3), weight).requires_grad
    assert compiled(weight * 1, weight).requires_grad
    assert compiled.report.misses == 0
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        compiled(torch.ones(3, requires_grad=True), weight)
    assert capsys.readouterr().out == "3.0\n" * 5


def test_the_result_is_the_input_where_it_is_in_eager() -> None:
    def fill(x: Any, out: list[Any]) -> Any:
        x.add_(1)
        out.append(x)
        print("filled")
        if x.max() > 100:
            raise ValueError("large")
        return x

    from graphmend._mending.compile import compile as mended_compile

    compiled = mended_compile(fill, backend="eager")
    x = GOOD.clone()
    out: list[Any] = []
    assert compiled(x, out) is x and out[0] is x
    same_program(fill, [(GOOD.clone(), []), (BAD.clone(), []), (GOOD.clone(), [])], __file__)


def test_a_view_of_the_input_through_a_dropout_that_is_off() -> None:
    drop = torch.nn.Dropout(0.5).eval()

    def turned(x: Any) -> Any:
        x.add_(1)
        y = drop(x)
        if y.max() > 100:
            raise ValueError("large")
        y.mul_(2)
        return y.t()

    compiled = mended_compile(turned, backend="eager")
    for _ in range(2):
        x = torch.ones(2, 3)
        assert compiled(x).data_ptr() == x.data_ptr() and torch.equal(x, torch.full((2, 3), 4.0))


@pytest.mark.parametrize(
    ("backend", "dynamic"), [("eager", None), ("eager", True), ("aot_eager", None), ("inductor", None)]
)
def test_what_comes_through_a_dropout_that_is_off_is_the_input(backend: str, dynamic: bool | None) -> None:
    drop = torch.nn.Dropout(0.5).eval()

    def rectified(x: Any) -> Any:
        print("smallest", x.min())
        y = drop(x)
        torch.relu_(y)
        return y is x, drop(y), y * 2

    with torch.inference_mode():
        compiled = mended_compile(rectified, backend=backend, fullgraph=True, dynamic=dynamic)
        for _ in range(2):
            x = torch.tensor([-1.0, 2.0])
            same, passed_on, _ = compiled(x)
            assert same and passed_on is x and x.tolist() == [0.0, 2.0]


def test_aliased_inputs_and_views() -> None:
    def through(x: Any, y: Any) -> Any:
        x.add_(1)
        print("y", y.sum().item())
        if y.max() > 100:
            raise ValueError("large")
        return y * 2

    base = torch.zeros(2, 3)
    wide = torch.full((2, 3), 100.0)
    calls = [(base, base), (base, base[0]), (base[0], base), (wide, wide), (base.clone(), base.clone())]
    same_program(through, calls, __file__)


def test_a_buffer_that_is_exchanged() -> None:
    class Exchanges(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.mean: Any
            self.register_buffer("mean", torch.zeros(3))
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))

        def forward(self, x: Any) -> Any:
            self.count += 1
            self.mean = self.mean * 0.9 + x.mean(0) * 0.1
            print("count", self.count.item())
            if self.mean.max() > 50:
                raise ValueError("drifted", self.count.item())
            return x - self.mean

    compiled = same_program(Exchanges(), [(GOOD,), (BAD,), (GOOD,), (-BAD,), (GOOD,)], __file__, fullgraph=True)
    assert compiled.report.misses


def test_random_streams_go_on_where_eager_is() -> None:
    def draws(x: Any) -> Any:
        first = torch.rand(3)
        chosen = random.uniform(0, 1)
        print("first", first.sum().item())
        if x.max() > 100:
            raise ValueError("large")
        return x + torch.randn(3) * random.uniform(0, 1) * chosen

    compiled = same_program(draws, [(GOOD,), (BAD,), (GOOD,), (BAD,), (GOOD,)], __file__, fullgraph=True)
    assert compiled.report.misses == 2


def test_a_number_that_was_drawn_is_shown_as_one() -> None:
    def draws(x: Any) -> Any:
        print("chosen", random.uniform(0, 1))
        return x + 1

    compiled = same_program(draws, [(GOOD,), (GOOD,)], __file__)
    assert "drawn" in compiled.report.left[0].reason


def test_too_much_to_copy_keeps_its_break() -> None:
    from graphmend._mending import lift

    def large(x: Any, y: Any) -> Any:
        x.add_(1)
        print("sum", y.sum().item())
        return y + 1

    calls = [(GOOD.clone(), GOOD), (BAD.clone(), BAD), (GOOD.clone(), GOOD)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lift, "MAX_COPIED_BYTES", 0)
        compiled = same_program(large, calls, __file__)
    assert not compiled.report.whole and "copying" in compiled.report.left[0].reason


def test_what_is_shown_and_changed_later_shows_its_history() -> None:
    def step(x: Any) -> Any:
        y = x * 2
        print("now", y[0])
        y.mul_(3)
        print("then", y.sum())
        return y

    compiled = same_program(step, [(torch.ones(2, 2, requires_grad=True),)] * 2, __file__)
    (left,) = compiled.report.left
    assert "changed in place later" in left.reason
    assert same_program(step, [(torch.ones(2, 2),)] * 2, __file__, fullgraph=True).report.whole


def test_a_buffer_that_is_shown_and_changed_in_inference_mode() -> None:
    class Counting(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("steps", torch.zeros(4))

        def forward(self, x: Any) -> Any:
            logger.error("step %s", self.steps[0])
            self.steps[0] += 1
            return x * 2

    seen = []

    class Keep(logging.Handler):
        def emit(self, record: Any) -> None:
            seen.append(record.args[0].is_inference())

    handler = Keep()
    logger.addHandler(handler)
    compiled = mended_compile(Counting(), backend="eager", fullgraph=True)
    try:
        with torch.inference_mode():
            compiled(torch.ones(2))
    finally:
        logger.removeHandler(handler)
    assert seen == [False] and compiled.report.misses == 0


@pytest.mark.parametrize("value", [0.1, 7, True, torch.tensor(0.5)])
def test_what_is_constant_is_shown_once(value: Any) -> None:
    def step(x: Any, rate: Any) -> Any:
        print("rate", rate, 0.25, torch.tensor(0.5))
        return x * 2

    same_program(step, [(torch.ones(2), value)] * 3, __file__, fullgraph=True)


def test_an_inference_tensor_that_must_not_be_changed(capsys: pytest.CaptureFixture[str]) -> None:
    def step(x: Any, buffer: Any) -> Any:
        buffer.add_(x)
        print("seen", x.sum())
        return x * 2

    with torch.inference_mode():
        buffer = torch.zeros(2)
    compiled = mended_compile(step, backend="eager", fullgraph=True)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        compiled(torch.ones(2), buffer)
    assert capsys.readouterr().out == ""


ASSERTING = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps += 1
        assert (x < 4).all(){message}
        self.steps += 1
        return x * 2
"""


@pytest.mark.parametrize("message", ["", ", 'too large'", ", 7"])
def test_an_assert_raises_what_the_program_raises(message: str, tmp_path: Path) -> None:
    # In a file of its own: pytest rewrites the asserts of its tests.
    path = tmp_path / "asserting.py"
    path.write_text(ASSERTING.replace("{message}", message))
    space = runpy.run_path(str(path))
    compiled = same_program(space["Model"](), [(GOOD,), (BAD,), (GOOD,)], str(path), fullgraph=True)
    assert compiled.report.misses == 1


def tries_before_a_break(x: Any) -> Any:
    try:
        if x > 4.0:
            try:  # noqa: SIM105
                pass
            except ValueError:
                pass
        elif (x <= x).all():
            pass
    finally:
        x += x
    if x > 1.0:
        x.mul_(2.0)
    return x


def test_what_dynamo_fails_on_behind_a_break_is_as_without_mends() -> None:
    calls = [(torch.tensor(value),) for value in (-2.0, 3.0, 5.0)]
    same_program(tries_before_a_break, calls, __file__, frames=False)


def adds_to_both(x: Any, y: Any) -> Any:
    x.add_(0.25)
    print("added")
    return y + x


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("together", [0, 1])
def test_inputs_that_share_memory_in_some_calls(backend: str, together: int) -> None:
    compiled = mended_compile(adds_to_both, backend=backend)
    for call in range(4):
        x = torch.ones(2)
        y = x[:] if call % 2 == together else torch.full((2,), 5.0)
        expected = adds_to_both(x.clone(), y) if call % 2 != together else torch.full((2,), 2.5)
        assert torch.equal(compiled(x, y), expected)


def adds_behind_a_break(x: Any, y: Any) -> Any:
    print(f"at {x.mean().item():{6}.{2}}")
    x[0] += 1.0
    return torch.sigmoid(y)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_was_compiled_for_inputs_that_share_memory_is_for_those_alone(backend: str) -> None:
    compiled = mended_compile(adds_behind_a_break, backend=backend)
    misses = []
    for begin in [0, 0, 1, 3, *[None] * 30, 0, 1]:
        xs = [torch.arange(6.0), torch.arange(6.0)]
        ys = [torch.arange(3.0) if begin is None else x[begin : begin + 3] for x in xs]
        assert torch.equal(compiled(xs[0][:3], ys[0]), adds_behind_a_break(xs[1][:3], ys[1]))
        assert torch.equal(*xs)
        misses.append(compiled.report.misses)
    assert misses[1] == 0
    assert misses[-3] == misses[-4]


def doubles_and_compares(x: Any, y: Any) -> Any:
    x += x
    return y if torch.equal(y, torch.relu(x)) else y + y


def test_what_shares_memory_meets_in_no_graph_more_than_without_mends() -> None:
    graphs = []

    def backend(graph: torch.fx.GraphModule, example_inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled = mended_compile(doubles_and_compares, backend=backend)
    for _ in range(2):
        x = torch.ones(2)
        y = x[:]
        assert compiled(x, y) is y
    changing = [graph for graph in graphs if "+=" in graph.code]
    assert [len(graph.graph.find_nodes(op="placeholder")) for graph in changing] == [1]


def raises_at_random(x: Any) -> Any:
    if torch.rand(()) < 0.3:
        raise ValueError("injected")
    return x * 2


def drops_at_random(x: Any) -> Any:
    dropped = 0
    for _ in range(2):
        if torch.nn.functional.dropout(x, 0.5).sum() < 2:
            dropped += 1
            continue
        x = torch.relu(x + 1)
    return x, dropped


@pytest.mark.parametrize("program", [raises_at_random, drops_at_random])
def test_what_hangs_on_random_numbers_comes_as_often_as_in_eager(program: Any) -> None:
    # Inductor has random numbers of its own, and the original would draw others once the graph did not count.
    same_program(program, [(torch.ones(4),)] * 12, __file__, backend="inductor")

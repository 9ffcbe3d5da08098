"""A fault at any point of a transaction loses nothing and delivers nothing twice.

Either the call does what eager does, or it raises and has done nothing. There is no third way.
"""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal

import pytest

pytest.importorskip("torch")

import faulty_calls
import torch
from compiled_calls import differences, numbers, observe, same_program
from faulty_calls import InjectedError, Switch, failing

from graphmend._mending import effects, frames
from graphmend._mending.compile import compile as mended_compile
from graphmend._torch.modes import Modes

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("subject")
GOOD, BAD = torch.ones(3), torch.full((3,), 1000.0)


class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Two buffers and an input are changed, four effects, a check, random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("first", torch.zeros(3))
        self.register_buffer("second", torch.zeros(3))
        self.steps = 0

    def forward(self, x: Any) -> Any:
        self.steps += 1
        print("begin", self.steps)
        self.first += x
        logger.info("first %s", self.first.sum().item())
        x.mul_(2)
        y = x + torch.rand(3)
        print("middle", self.first.sum().item())
        if self.first.max() > 100:
            raise ValueError("too large", self.steps)
        self.second += y
        logger.warning("end %d", self.steps)
        return y


class Backend:
    """Runs the graph as it is, unless told otherwise."""

    def __init__(self) -> None:
        self.switch: Switch | None = None
        self.flag_fails = False

    def __call__(self, graph: Any, inputs: Any) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            results = (self.switch or graph.forward)(*args)
            if not self.flag_fails:
                return results
            # The flag is the last output.
            return (*results[:-1], Unreadable())

        self.graph = graph
        return run


class Unreadable:
    """A device that fails when it is read."""

    def __bool__(self) -> bool:
        raise InjectedError


class Pair(faulty_calls.Pair):
    """Captured whole, in one graph or two, also after a fault."""

    def __init__(self) -> None:
        self.backend = Backend()
        super().__init__(Model, __file__, backend=self.backend, fullgraph=True)
        # At the second value of a counter the graph is made anew, once.
        for _ in range(3):
            self.call(GOOD)

    def call(self, x: torch.Tensor, fault: Callable[[pytest.MonkeyPatch], None] = lambda _: None) -> bool:
        done = super().call(x, fault)
        assert self.compiled.report.whole and self.compiled.report.graphs <= 2
        return done

    def repair(self) -> None:
        """From a failed call, whose check stays failed, back to the start."""
        for model in (self.original, self.twin):
            for buffer in model.buffers():
                buffer.zero_()


@pytest.mark.parametrize("method", ["clone", "copy_"])
def test_copying_fails(method: str) -> None:
    pair = Pair()
    for nth in (1, 2, 3):
        for late in (False, True):
            for x in (GOOD, BAD, GOOD):
                pair.call(x, failing(method, nth, late))
                pair.repair()


def test_the_compiled_graph_fails() -> None:
    pair = Pair()
    for late in (False, True):
        for x in (GOOD, BAD, GOOD):

            def fault(patch: pytest.MonkeyPatch, late: bool = late) -> None:
                pair.backend.switch = Switch(pair.backend.graph.forward, late)
                pair.backend.switch.left = 1

            misses = pair.compiled.report.misses
            assert pair.call(x, fault)
            assert pair.compiled.report.misses == misses + 1
            pair.repair()


def test_reading_the_flag_fails() -> None:
    pair = Pair()
    for x in (GOOD, BAD, GOOD):
        assert pair.call(x, lambda patch: patch.setattr(pair.backend, "flag_fails", True))
        pair.repair()
    assert pair.compiled.report.misses == 3


def test_saving_the_random_state_fails() -> None:
    pair = Pair()
    for late in (False, True):
        for x in (GOOD, BAD, GOOD):
            pair.call(x, failing("get_rng_state", 1, late, torch))
            pair.repair()


@pytest.mark.parametrize(("owner", "name"), [(torch, "set_rng_state"), (Modes, "restore")])
@pytest.mark.parametrize("late", [False, True])
def test_putting_back_fails(owner: Any, name: str, late: bool) -> None:
    """The check has failed, and then what undoes the call does."""
    pair = Pair()
    for x in (GOOD, BAD, GOOD):
        assert pair.call(x, failing(name, 1, late, owner))
        pair.repair()


class Draws(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """A number of Python's, in front of a check."""

    def forward(self, x: Any) -> Any:
        y = x + random.random()
        if y.max() > 100:
            raise ValueError("too large")
        return y


@pytest.mark.parametrize("late", [False, True])
def test_putting_pythons_random_state_back_fails(late: bool) -> None:
    pair = faulty_calls.Pair(Draws, __file__, backend="eager", fullgraph=True)
    # While it compiles, Dynamo puts it back itself.
    for x in (GOOD, BAD, GOOD):
        assert pair.call(x)
    for x in (GOOD, BAD, GOOD):
        assert pair.call(x, failing("setstate", 1, late, random))


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_handing_over_an_effect_fails(nth: int) -> None:
    """The n-th effect cannot be delivered; what eager would have done up to there has been done, once."""
    pair = Pair()
    with pytest.MonkeyPatch.context() as patch:
        failing("deliver", nth, late=False, owner=effects)(patch)
        seen = observe(pair.compiled, (GOOD.clone(),), __file__, pair.twin)
    delivered = len(seen.printed.splitlines()) + len(seen.records)
    # All of them: its own code ran instead; or those before the fault.
    assert delivered == (4 if seen.error is None else nth - 1)
    assert seen.error is None or seen.error[0] == "InjectedError"
    after = observe(pair.compiled, (GOOD.clone(),), __file__, pair.twin)
    assert (len(after.printed.splitlines()), len(after.records)) == (2, 2)


class Warns(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.steps = 0

    def forward(self, x: Any) -> Any:
        self.steps += 1
        self.total += x
        print("before", self.steps)
        warnings.warn("careful", stacklevel=1)
        self.total += 10
        print("after", self.steps)
        self.steps += 10
        return x + 1


def test_an_effect_that_raises_by_itself() -> None:
    """A warning that is an error leaves what eager leaves."""
    original, twin = Warns(), Warns()
    compiled = mended_compile(twin, backend="eager", fullgraph=True)
    actions: list[Literal["ignore", "error"]] = ["ignore", "error", "ignore"]
    for action in actions:
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            expected = observe(original, (GOOD,), __file__, original)
            seen = observe(compiled, (GOOD,), __file__, twin)
        assert not differences(expected, seen)


def raises_on_a_later_line(x: torch.Tensor) -> torch.Tensor:
    print(
        "a",
        1 / (x[0].item() - 3),
    )
    return x + 1


def raises_in_a_comprehension(x: torch.Tensor) -> torch.Tensor:
    print("a", [1 / (v.item() - 3) for v in x])
    return x + 1


def raises_in_a_helper(x: torch.Tensor) -> torch.Tensor:
    return raises_on_a_later_line(x * 1.0) * 2


def raises_and_tells(x: torch.Tensor) -> torch.Tensor:
    try:
        print(f"{1 / (x[0].item() - 3)}")
    except ZeroDivisionError as error:
        raise ValueError("told") from error
    return x + 1


@pytest.mark.parametrize(
    "function", [raises_on_a_later_line, raises_in_a_comprehension, raises_in_a_helper, raises_and_tells]
)
def test_the_line_and_the_columns_of_what_raises_inside_of_an_effect(function: Callable[..., Any]) -> None:
    same_program(function, numbers(1.0, 3.0, 2.0), __file__, speculate=False)


def test_code_that_others_have_made_of_the_same_file() -> None:
    """While an effect raises, functions run mended code; one whose code cannot be looked up is passed over."""
    code = Warns.forward.__code__
    unhashable: Any = {}
    made = FunctionType(code.replace(co_consts=(*code.co_consts, unhashable)), globals())
    test_an_effect_that_raises_by_itself()
    assert made.__code__ != code


def test_an_interrupt_in_the_graph_passes() -> None:
    """Ctrl-C is no reason to run the program a second time."""
    pair = Pair()

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    before = {name: value.clone() for name, value in pair.twin.state_dict().items()}
    pair.backend.switch = Switch(interrupted)
    with pytest.raises(KeyboardInterrupt):
        pair.compiled(GOOD.clone())
    assert all(torch.equal(value, before[name]) for name, value in pair.twin.state_dict().items())
    pair.backend.switch = None
    assert pair.call(GOOD)


def test_a_graph_that_raises_in_another_mode() -> None:
    weight = torch.nn.Parameter(torch.ones(3))

    def read(i: Any) -> Any:
        with torch.no_grad():
            return weight[i].sum()

    def caught(x: Any, i: Any) -> Any:
        if x.max() > 100:
            raise ValueError("too much")
        try:
            found = read(i)
        except IndexError:
            found = 0
        return x * weight + found

    x = torch.ones(3)
    calls = [(x, torch.tensor([i])) for i in (0, 7, 1)]
    assert same_program(caught, calls, __file__).report.misses == 1
    assert torch.is_grad_enabled()


def test_looking_at_a_graph_leaves_the_thread_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    def inner_gradient(x: Any) -> Any:
        print("sum", x.sum())
        return torch.func.grad(lambda y: (y * 2).sum())(x)

    compiled = mended_compile(inner_gradient, backend="eager")
    assert compiled(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        assert torch.ones(1, requires_grad=True).exp().requires_grad
    assert capsys.readouterr().out == "sum tensor(3.)\n"


def test_an_operator_that_does_more_than_compute_does_it_once() -> None:
    with torch.library._scoped_library("graphmend_told", "DEF") as library:
        told: list[float] = []
        library.define("tell(Tensor x) -> ()")
        library.impl("tell", lambda x: told.append(x.max().item()), "CPU")
        library.impl("tell", lambda x: None, "Meta")
        library._register_effectful_op("graphmend_told::tell", torch._library.effects.EffectType.ORDERED)

        def tells(x: Any) -> Any:
            torch.ops.graphmend_told.tell(x)
            if x.max() > 5:
                raise ValueError("too much")
            return x + 1

        same_program(tells, numbers(1.0, 9.0, 2.0), __file__, frames=False)
        assert told == [1.0, 9.0, 2.0] * 2


def test_a_frame_on_which_graphmend_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def trial() -> None:
        raise InjectedError("inside of graphmend")

    def talks(x: torch.Tensor) -> torch.Tensor:
        print("sum", x.sum())
        return x + 1

    monkeypatch.setattr(frames, "trial", trial)
    compiled = mended_compile(talks, backend="eager")
    assert torch.equal(compiled(GOOD), GOOD + 1)
    assert not compiled.report.whole
    assert "left: graphmend could not trace it (InjectedError: inside of graphmend)" in str(compiled.report)


def test_a_mended_frame_on_which_graphmend_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def draws(x: torch.Tensor) -> torch.Tensor:
        share = random.random()
        print("sum", x.sum())
        return x * share

    monkeypatch.delattr("graphmend._torch.graphs.RandomValueSource")
    compiled = mended_compile(draws, backend="eager")
    random.seed(0)
    share = random.random()
    random.seed(0)
    assert torch.equal(compiled(GOOD), GOOD * share)
    assert "left: graphmend failed to mend it, which is a fault of its own (" in str(compiled.report)

"""A fault at any point of a transaction loses nothing and delivers nothing twice.

Either the call does what eager does, or it raises and has done nothing. There is no third way.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_calls import Seen, differences, observe, seed

from graphmend import _effects
from graphmend._compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("subject")
GOOD, BAD = torch.ones(3), torch.full((3,), 1000.0)


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    seed()
    yield
    torch._dynamo.reset()


class InjectedError(Exception):
    """What goes wrong."""


class Model(torch.nn.Module):  # type: ignore[misc,name-defined]
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


Fault = Callable[[pytest.MonkeyPatch], None]


class Switch:
    """A function that works until it is told to fail at its n-th call from now."""

    def __init__(self, original: Callable[..., Any], late: bool = False) -> None:
        self.original = original
        self.late = late
        self.left = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.left:
            return self.original(*args, **kwargs)
        self.left -= 1
        if self.left:
            return self.original(*args, **kwargs)
        if self.late:
            self.original(*args, **kwargs)
        raise InjectedError

    # A function on a class binds.
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else lambda *args, **kwargs: self(owner, *args, **kwargs)


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


def calls(model: Any, target: Any, inputs: list[Any]) -> list[Seen]:
    return [observe(target, (x.clone(),), __file__, model) for x in inputs]


def check(inject: Callable[[Backend], Callable[[], None]], inputs: list[Any], faulty: int) -> Any:
    """Runs calls of which one has a fault; it does what eager does, or nothing; the others do what eager does."""
    backend = Backend()
    model = Model()
    compiled = mended_compile(model, backend=backend, fullgraph=True)
    seed()
    seen = calls(model, compiled, inputs[:faulty])
    before = model.state_dict(), model.steps
    before = {name: value.clone() for name, value in before[0].items()}, before[1]
    repair = inject(backend)
    try:
        broken = calls(model, compiled, [inputs[faulty]])[0]
    finally:
        repair()
    did_nothing = broken.error is not None and broken.error[0] == "InjectedError"
    if did_nothing:
        assert (broken.printed, broken.records, model.steps) == ("", [], before[1])
        for name, value in model.state_dict().items():
            assert torch.equal(value, before[0][name])
    original = Model()
    kept = [x for i, x in enumerate(inputs) if i != faulty or not did_nothing]
    seen += [] if did_nothing else [broken]
    seen += calls(model, compiled, inputs[faulty + 1 :])
    seed()
    expected = calls(original, original, kept)
    found = [text for i, (one, two) in enumerate(zip(expected, seen, strict=True)) for text in differences(one, two, f"{i}")]
    assert not found, "\n" + "\n".join(found[:4])
    assert compiled.report.whole
    return compiled


@pytest.mark.parametrize("x", [GOOD, BAD], ids=["good", "bad"])
@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("method", ["clone", "copy_"])
def test_copying_fails(method: str, late: bool, nth: int, x: Any) -> None:
    def inject(backend: Backend) -> Callable[[], None]:
        patch = pytest.MonkeyPatch()
        # The harness clones an input before the call.
        switch = Switch(getattr(torch.Tensor, method), late)
        switch.left = nth + (method == "clone")
        patch.setattr(torch.Tensor, method, switch)
        return patch.undo

    check(inject, [GOOD, x, GOOD], faulty=1)


@pytest.mark.parametrize("x", [GOOD, BAD], ids=["good", "bad"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_the_compiled_graph_fails(late: bool, x: Any) -> None:
    def inject(backend: Backend) -> Callable[[], None]:
        backend.switch = Switch(backend.graph.forward, late)
        backend.switch.left = 1
        return lambda: None

    assert check(inject, [GOOD, x, GOOD], faulty=1).report.misses >= 1


@pytest.mark.parametrize("x", [GOOD, BAD], ids=["good", "bad"])
def test_reading_the_flag_fails(x: Any) -> None:
    def inject(backend: Backend) -> Callable[[], None]:
        backend.flag_fails = True

        def repair() -> None:
            backend.flag_fails = False

        return repair

    assert check(inject, [GOOD, x, GOOD], faulty=1).report.misses >= 1


def test_saving_and_restoring_random_state_fails() -> None:
    for name, x in (("get_rng_state", GOOD), ("set_rng_state", BAD)):

        def inject(backend: Backend, name: str = name) -> Callable[[], None]:
            patch = pytest.MonkeyPatch()
            switch = Switch(getattr(torch, name))
            switch.left = 1
            patch.setattr(torch, name, switch)
            return patch.undo

        if name == "get_rng_state":
            check(inject, [GOOD, x, GOOD], faulty=1)


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_handing_over_an_effect_fails(nth: int) -> None:
    """The n-th effect cannot be delivered; what eager would have done up to there has been done, once."""
    backend, model = Backend(), Model()
    compiled = mended_compile(model, backend=backend, fullgraph=True)
    compiled(GOOD.clone())
    with pytest.MonkeyPatch.context() as patch:
        switch = Switch(_effects.deliver)
        switch.left = nth
        patch.setattr(_effects, "deliver", switch)
        seen = calls(model, compiled, [GOOD])[0]
    delivered = len(seen.printed.splitlines()) + len(seen.records)
    # All of them: its own code ran instead; or those before the fault.
    assert delivered == (4 if seen.error is None else nth - 1)
    assert seen.error is None or seen.error[0] == "InjectedError"
    after = calls(model, compiled, [GOOD])[0]
    assert (len(after.printed.splitlines()), len(after.records)) == (2, 2)


class Warns(torch.nn.Module):  # type: ignore[misc,name-defined]
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
    for action in ("ignore", "error", "ignore"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)  # type: ignore[arg-type]
            expected = observe(original, (GOOD,), __file__, original)
            seen = observe(compiled, (GOOD,), __file__, twin)
        assert not differences(expected, seen)


def test_an_interrupt_in_the_graph_passes() -> None:
    """Ctrl-C is no reason to run the program a second time."""
    backend, model = Backend(), Model()
    compiled = mended_compile(model, backend=backend, fullgraph=True)
    compiled(GOOD.clone())

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    backend.switch = Switch(interrupted)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(KeyboardInterrupt):
        compiled(GOOD.clone())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    backend.switch = None
    original = Model()
    original.load_state_dict(before)
    original.steps = model.steps
    seed()
    expected = calls(original, original, [GOOD])
    seed()
    assert not differences(expected[0], calls(model, compiled, [GOOD])[0])

"""`graphmend.verify`: what it compares, what it finds, and that it leaves everything as it was."""

from __future__ import annotations

import logging
import random
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import graphmend

torch = pytest.importorskip("torch")

from graphmend._checking import worlds  # noqa: E402 - they need torch
from graphmend._mending import effects  # noqa: E402 - they need torch
from graphmend._mending.backend import MendedBackend  # noqa: E402 - they need torch
from graphmend._mending.marks import Marks  # noqa: E402 - they need torch
from graphmend._mending.transaction import Plan  # noqa: E402 - they need torch
from graphmend._reporting.report import Report  # noqa: E402 - they need torch

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("verified")
CALLS = 0
HISTORY: list[int] = []


class Noisy(torch.nn.Module):  # type: ignore[misc,name-defined]
    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(*layers)
        self.steps = 0

    def forward(self, x: Any, seen: Any, limit: float = 1e6) -> Any:
        global CALLS
        CALLS += 1
        HISTORY.append(CALLS)
        self.steps += 1
        print("step", self.steps, tuple(x.shape))
        y = self.layers(x) * 2
        logger.warning("mean %.3f", y.mean().item())
        warnings.warn("often", stacklevel=2)
        if y.abs().max() > limit:
            raise ValueError("too large", self.steps)
        seen.add_(1)
        return {"y": y, "steps": [self.steps, y.shape]}


def inputs() -> tuple[Any, ...]:
    return torch.randn(3, 4), torch.zeros(2)


def test_a_model_is_verified_and_left_as_it_was() -> None:
    model, seen = Noisy(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)), torch.zeros(2)
    states = {name: value.clone() for name, value in model.state_dict().items()}
    x = torch.randn(3, 4)
    streams = (torch.get_rng_state(), random.getstate())
    report = graphmend.verify(model, (x, seen), backend="eager")
    assert {entry.mend for entry in report.mended} == {"postpone", "check"}
    assert report.whole, report
    assert not seen.any()
    assert all(torch.equal(value, states[name]) for name, value in model.state_dict().items())
    assert (model.steps, CALLS, HISTORY) == (0, 0, [])
    assert len(states) == 7
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), streams[0])
    assert random.getstate() == streams[1]


def test_nothing_is_printed_or_logged(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    graphmend.verify(Noisy(), inputs(), backend="eager", calls=1)
    assert capsys.readouterr() == ("", "")
    assert not caplog.records


def test_a_call_that_raises_is_compared_too() -> None:
    with pytest.warns(UserWarning, match="raises in every call.*: "):
        report = graphmend.verify(Noisy(), inputs(), {"limit": -1.0}, backend="eager", calls=2)
    assert report.misses == 2


def test_inductor_may_round() -> None:
    def f(x: Any) -> Any:
        y = torch.nn.functional.dropout(torch.softmax(x, -1), 0.5)
        print("sum", y.sum())
        return y

    graphmend.verify(f, (torch.randn(4, 8, requires_grad=True),), calls=1)


def test_what_is_compiled_already_is_taken_with_its_backend() -> None:
    seen = []

    def backend(graph: Any, _: Any) -> Any:
        seen.append(graph)
        return graph.forward

    model = graphmend.compile(Noisy(), backend=backend)
    graphmend.verify(model, inputs(), calls=1)
    assert seen
    assert model.report.calls == 0
    graphmend.verify(torch.compile(plain, backend="eager"), (torch.ones(2),), calls=1)


def plain(x: Any) -> Any:
    print("x", x)
    return x * 2


counter = torch.zeros(())
shared_model = torch.nn.Linear(2, 2)


def step(x: Any) -> Any:
    counter.add_(1)
    y = shared_model(x)
    print("y", y.sum().item())
    return y


STEP = graphmend.compile(torch.nn.Linear(3, 3), backend="eager")


def calls_what_is_compiled(x: Any) -> Any:
    print("sum", x.sum())
    return STEP(x) + 1


class HoldsWhatIsCompiled(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.inner = graphmend.compile(torch.nn.Linear(3, 3), backend="eager")

    def forward(self, x: Any) -> Any:
        print("sum", x.sum())
        return self.inner(x) + 1


@pytest.mark.parametrize("make", [lambda: calls_what_is_compiled, HoldsWhatIsCompiled], ids=["global", "inside"])
def test_what_is_compiled_inside_is_compared_by_its_original(make: Any) -> None:
    graphmend.verify(make(), (torch.ones(3),), backend="eager")


def test_functions_find_copies_at_module_level_and_in_closures() -> None:
    inner = torch.zeros(())

    def around(x: Any) -> Any:
        inner.add_(1)
        return step(x) + inner

    graphmend.verify(around, (torch.ones(1, 2),), backend="eager")
    assert float(counter) == float(inner) == 0
    assert shared_model.weight.grad is None


def plant_output(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Plan.run

    def wrong(self: Any, compiled: Any, *args: Any) -> Any:
        return tuple(value + 1 if isinstance(value, torch.Tensor) else value for value in run(self, compiled, *args))

    monkeypatch.setattr(Plan, "run", wrong)


def plant_lost_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "deliver", lambda *_: None)


def plant_effect_with_other_text(monkeypatch: pytest.MonkeyPatch) -> None:
    deliver = effects.deliver
    monkeypatch.setattr(effects, "deliver", lambda *args: (print("also this"), deliver(*args)))


def plant_missed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    check: Callable[..., Any] = lambda site, value, predicted: predicted  # noqa: E731
    monkeypatch.setattr(Marks, "check", staticmethod(check))


def plant_mutation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Plan.run

    def wrong(self: Any, compiled: Any, *args: Any) -> Any:
        results = run(self, compiled, *args)
        with torch.no_grad():
            for i in self.mutated:
                args[i].add_(1)
        return results

    monkeypatch.setattr(Plan, "run", wrong)


def plant_random(monkeypatch: pytest.MonkeyPatch) -> None:
    deliver = effects.deliver
    monkeypatch.setattr(effects, "deliver", lambda *args: (torch.rand(1), deliver(*args)))


@pytest.mark.parametrize(
    ("plant", "limit", "where"),
    [
        (plant_output, 1e6, "the result['y']"),
        (plant_lost_effect, 1e6, "what it wrote, logged and warned"),
        (plant_effect_with_other_text, 1e6, "what it wrote, logged and warned[0]: stdout, line 1"),
        (plant_missed_check, -1.0, "the exception"),
        (plant_mutation, 1e6, "argument[2]"),
        (plant_random, 1e6, "random state of['torch']"),
    ],
)
def test_planted_bugs_are_found(monkeypatch: pytest.MonkeyPatch, plant: Any, limit: float, where: str) -> None:
    plant(monkeypatch)
    with pytest.raises(graphmend.VerificationError) as caught:
        graphmend.verify(Noisy(), inputs(), {"limit": limit}, backend="eager", calls=1)
    assert where in caught.value.difference.where
    assert "compiled with eager, call 1 of 1" in str(caught.value)
    assert "original:" in str(caught.value)
    assert isinstance(caught.value.report, Report)


def backend_that(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A backend that is wrong when graphmend uses it, and right for `torch.compile`."""

    def backend(graph: Any, _: Any) -> Any:
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") != MendedBackend.__module__:
            frame = frame.f_back
        if frame is None:
            return graph.forward
        return lambda *args: tuple(change(value) for value in graph(*args))

    return backend


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda y: y.detach().requires_grad_(False), "requires_grad of the result"),
        (lambda y: y.t().contiguous().t(), "strides of the result"),
        (lambda y: y.double(), "dtype of the result"),
        (lambda y: y[:1], "shape of the result"),
        (lambda y: y * 1.001, "the result"),
        (lambda y: y.detach() + (y - y.detach()) * 2, "gradient of argument[1]"),
    ],
)
def test_each_property_of_a_tensor_counts(change: Any, where: str) -> None:
    x = torch.randn(3, 4, requires_grad=True)
    with pytest.raises(graphmend.VerificationError) as caught:
        graphmend.verify(lambda x: torch.sin(x), (x,), backend=backend_that(change), calls=1)
    assert caught.value.difference.where == where
    graphmend.verify(lambda x: torch.sin(x), (x,), backend=backend_that(lambda y: y), calls=1)


def test_tolerances_can_be_set() -> None:
    args, wrong = (torch.ones(3),), backend_that(lambda y: y * 1.001)
    graphmend.verify(torch.exp, args, backend=wrong, rtol=0.01, calls=1)
    with pytest.raises(graphmend.VerificationError, match="3 of 3 differ"):
        graphmend.verify(torch.exp, args, backend=wrong, rtol=1e-5, calls=1)


def test_eager_must_still_run_the_users_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changing(Noisy):
        def forward(self, x: Any, seen: Any, limit: float = 1e6) -> Any:
            return super().forward(x, seen, limit)

    call = graphmend._mending.compile.MendedModule.__call__

    def break_eager(self: Any, *args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(Changing, "forward", lambda self, x, seen: x)
        return call(self, *args, **kwargs)

    monkeypatch.setattr(graphmend._mending.compile.MendedModule, "__call__", break_eager)
    with pytest.raises(graphmend.VerificationError, match="in eager, call 1 of 1"):
        graphmend.verify(Changing(), inputs(), backend="eager", calls=1)


def test_where_torch_compile_itself_differs_there_is_a_warning() -> None:
    def f(x: Any) -> Any:
        return x + 1

    def wrong(graph: Any, _: Any) -> Any:
        return lambda *args: tuple(value + 1 for value in graph(*args))

    with pytest.warns(UserWarning, match="torch.compile itself differs from eager"):
        graphmend.verify(f, (torch.ones(2),), backend=wrong, calls=1)


def test_what_cannot_be_copied_is_named() -> None:
    model = Noisy()
    model.lock = threading.Lock()
    with pytest.raises(graphmend.CopyError, match=r"the model \(Noisy\) cannot be copied"):
        graphmend.verify(model, inputs())
    made = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(graphmend.CopyError, match=r"argument 1 .*x\.detach\(\)"):
        graphmend.verify(plain, (made,))
    lock = model.lock
    with pytest.raises(graphmend.CopyError, match="`lock`, which the function uses"):
        graphmend.verify(lambda x: (x, lock), (torch.ones(1),))


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(TypeError, match=r"verify\(model, \(x,\)\)"):
        graphmend.verify(plain, torch.ones(2))
    with pytest.raises(TypeError, match="expected a module or a function, found int"):
        graphmend.verify(3)
    with pytest.warns(UserWarning, match=r"raises in every call.*TypeError: plain\(\) missing 1 required"):
        graphmend.verify(plain, (), backend="eager")


def test_worlds_keep_what_is_shared() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    model = torch.nn.Module()
    model.one = model.two = weight
    base = torch.zeros(4)
    world = worlds.World(model, (weight, base), {"part": base[1:]})
    assert world.model.one is world.model.two is world.args[0]
    assert world.args[0] is not weight
    world.kwargs["part"].fill_(1)
    assert world.args[1].tolist() == [0, 1, 1, 1]
    assert not base.any()


def test_importing_graphmend_imports_no_torch() -> None:
    code = "import sys, graphmend; graphmend.Report; dir(graphmend); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0

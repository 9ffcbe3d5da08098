"""Speculation that is killed at any point, and checks that fail for no reason, show in nothing that a call does.

Either the call does what eager does, or it raises the fault and has done nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from faulty_calls import Pair, failing

from graphmend._mending import speculate
from graphmend._mending.compile import compile as mended_compile
from graphmend._mending.shadow import Shadow
from graphmend._mending.transaction import Plan

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

INPUTS = [torch.tensor(numbers) for numbers in ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 1.0, 0.5], [0.0, 0.0, 2.0])]
# The values that the model below needs.
SITES = 4


class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """A length, a branch that changes state, a mask and a list are predicted, among changes, effects and chance."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("total", torch.zeros(3))
        self.steps = 0
        self.kind = ""

    def forward(self, x: Any) -> Any:
        self.steps += 1
        print("begin", self.steps)
        parts = [x.sin()] * int(x.max())
        if x.sum() > 4:
            self.kind = "large"
            self.seen += x
        else:
            self.kind = "small"
        y = x + torch.rand(3)
        names = ["chosen"] * len(x[x > 1])
        numbers = (x > 0.6).tolist()
        x.mul_(2)
        print("end", x.sum().item(), self.kind)
        self.total += y
        return torch.stack(parts).sum(0) + y, names, numbers


def new_pair() -> Pair:
    """Nothing compiled, nothing predicted."""
    speculate.sites.clear()
    torch._dynamo.reset()
    return Pair(Model, __file__, backend="eager")


def test_each_is_predicted() -> None:
    """Else the faults below would be at no check."""
    pair = new_pair()
    for x in INPUTS[:2]:
        pair.call(x)
    assert pair.compiled.report.whole and pair.compiled.report.misses == 0
    assert [site.hits for site in speculate.sites.values()] == [2] * SITES


def points() -> Iterator[tuple[Any, str]]:
    """Whatever is called for a prediction, while tracing and after the graph."""
    for name in ("predict", "hit", "missed", "python_value", "encode", "decode", "key_of"):
        yield speculate, name
    yield Shadow, "value"
    yield Shadow, "_run"
    yield Shadow, "_given"
    yield Plan, "_learn"


@pytest.mark.parametrize(("owner", "name"), list(points()), ids=[name for _, name in points()])
def test_a_fault_at_each_point(owner: Any, name: str) -> None:
    calls = 0

    def counted(patch: pytest.MonkeyPatch) -> None:
        function = getattr(owner, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            return function(*args, **kwargs)

        patch.setattr(owner, name, count)

    # A value that was predicted, and one that was not.
    for nth, late, inputs in ((1, False, INPUTS[1:]), (SITES, True, INPUTS[1:3])):
        pair = new_pair()
        for x in inputs:

            def fault(patch: pytest.MonkeyPatch, nth: int = nth, late: bool = late) -> None:
                failing(name, nth, late, owner)(patch)
                counted(patch)

            pair.call(x, fault)
    assert calls


@pytest.mark.parametrize("check", range(SITES + 1))
def test_each_check_fails_for_no_reason(check: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The flag is set, and the value of one check is another than was there; or of none, at the last."""
    pair = new_pair()
    run = Plan.run

    def tampered(self: Plan, compiled: Callable[..., Any], *args: Any) -> Any:
        def other(*given: Any) -> Any:
            results = list(compiled(*given))
            if self.flag is not None:
                results[self.flag] = torch.tensor(True)
                if check < len(self.seen):
                    value = results[self.seen[check].value]
                    results[self.seen[check].value] = ~value if value.dtype == torch.bool else value + 1
            return tuple(results)

        return run(self, other, *args)

    monkeypatch.setattr(Plan, "run", tampered)
    for x in INPUTS:
        assert pair.call(x)
    assert pair.compiled.report.misses > 0
    monkeypatch.undo()
    for x in INPUTS:
        assert pair.call(x)


def test_given_up_at_each_call() -> None:
    """What is given up while calls go on breaks the graph, and is the same program."""
    for after in range(4):
        pair = new_pair()
        for i, x in enumerate(INPUTS):
            if i == after:
                speculate.give_up(list(speculate.sites))
            # With breaks, where nothing is predicted any more.
            pair.compiled = mended_compile(pair.twin, backend="eager") if i == after else pair.compiled
            assert pair.call(x)

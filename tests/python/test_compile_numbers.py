"""Floats of the program's that change from call to call, and come out of a mended graph or are shown by it."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.ones(3)
# The first two values make Dynamo take the float for one that may change.
VALUES = (0.5, 0.25, -0.0, 0.0, 1e300, 7.5, math.inf, 3.0, 2.5, 1.5, 0.125, 4.0)


def shown(x: Any, s: float) -> Any:
    y = x * s
    print("sum", y.sum(), s, f"{s * 3:.3f}")
    return y + 1


def returned(x: Any, s: float) -> Any:
    y = x * s
    if y.sum() < -1:
        raise ValueError("small")
    return y, s / 3, [s * 2 + x.shape[0]]


def without_a_tensor(x: Any, s: float) -> Any:
    print(x.sum(), s)
    return x + 1, s - 1


def made_by_functions(x: Any, s: float) -> Any:
    print(x.sum() * s, math.sqrt(abs(s)), max(s, 1.0))
    return x * s


@pytest.mark.parametrize(
    ("function", "backend"),
    [(function, backend) for function in (shown, returned, without_a_tensor) for backend in ("eager", "aot_eager")]
    + [(returned, "inductor")],
)
def test_floats_that_change_stay_exact(function: Any, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    torch._dynamo.reset()
    compiled = mended_compile(function, backend=backend)
    for value in VALUES:
        expected = repr(function(X, value)), capsys.readouterr().out
        assert (repr(compiled(X, value)), capsys.readouterr().out) == expected
    # One for the first value, one for all others.
    assert (len(compiled.report.mended), len(compiled.report.left), compiled.report.graphs) == (1, 0, 2)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_functions_of_floats_that_change(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    torch._dynamo.reset()
    compiled = mended_compile(made_by_functions, backend=backend)
    for value in VALUES[:8]:
        expected = repr(made_by_functions(X, value)), capsys.readouterr().out
        assert (repr(compiled(X, value)), capsys.readouterr().out) == expected
    assert (len(compiled.report.mended), len(compiled.report.left)) == (1, 0)


def test_truths_of_numbers_that_meet_are_symbols() -> None:
    def program(x: Any) -> Any:
        total = x.sum().item()
        is_large = total > 1.0
        return x * 2, is_large & (total < 5.0), is_large == True, is_large | (total > 4.0)  # noqa: E712

    mended = mended_compile(program, backend="eager")
    for value in (1.0, 0.25, 0.5, 4.0, math.nan, 2.0, 7.0):
        x = torch.tensor([value, 0.5])
        assert repr(mended(x)) == repr(program(x))
    assert [entry.mend for entry in mended.report.breaks] == ["capture"]
    assert mended.report.misses == 0

"""What Dynamo makes something else of than Python does, in programs whose other breaks are mended."""

from __future__ import annotations

import functools
import logging
import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from torch._dynamo.variables.tensor import TensorVariable

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def afresh() -> None:
    torch._dynamo.reset()


def refuse(x: Any) -> None:
    if torch.isnan(x).any():
        raise ValueError("not a number")


def same(function: Callable[..., Any], *args: Any, calls: int = 3) -> Any:
    """The report, if the results are bit for bit those of eager."""
    compiled = mended_compile(function, backend="eager")
    for _ in range(calls):
        given = [[each.clone() if isinstance(each, torch.Tensor) else each for each in args] for _ in range(2)]
        torch.testing.assert_close(compiled(*given[0]), function(*given[1]), rtol=0, atol=0)
        torch.testing.assert_close(given[0], given[1], rtol=0, atol=0)
    return compiled.report


def added(p: Any, m: Any) -> Any:
    refuse(m)
    return p.add_(m, alpha=-0.1 * m.norm())


def multiplied(p: Any, m: Any) -> Any:
    refuse(m)
    return p.addcmul_(m, m, value=0.1)


def divided(p: Any, m: Any) -> Any:
    refuse(m)
    return p.addcdiv_(m, m.abs() + 0.1, value=m.sum())


def divided_apart(p: Any, m: Any) -> Any:
    refuse(m)
    return torch.addcdiv(p, m, m.abs() + 0.1, value=0.3), torch.addcdiv(p, m, m.abs() + 0.1, value=m.norm())


@pytest.mark.parametrize("function", [added, multiplied, divided, divided_apart])
def test_operators_round_as_they_do(function: Any) -> None:
    torch.manual_seed(0)
    report = same(function, torch.randn(256), torch.randn(256))
    assert report.whole
    assert report.mended


class Drawing:
    def __init__(self) -> None:
        self.stream = random.Random(1)

    def run(self, x: Any) -> Any:
        refuse(x)
        return x * self.stream.random()


def test_a_stream_of_ones_own_goes_on() -> None:
    compiled, plain = mended_compile(Drawing().run, backend="eager"), Drawing().run
    for _ in range(4):
        assert compiled(torch.ones(1)).item() == plain(torch.ones(1)).item()


MADE: list[int] = []


@functools.cache
def noise(n: int) -> Any:
    return torch.randn(n)


@functools.cache
def noted(n: int) -> Any:
    MADE.append(n)
    return torch.ones(n)


@functools.cache
def table(n: int) -> Any:
    return torch.arange(n) * 2


@functools.cache
def changed_table(n: int) -> Any:
    return torch.arange(n) * 2


def draws_once(x: Any) -> Any:
    refuse(x)
    return x + noise(2)


def notes_once(x: Any) -> Any:
    refuse(x)
    return x + noted(2)


def changes_what_is_kept(x: Any) -> Any:
    refuse(x)
    kept = changed_table(2)
    kept.add_(1)
    return x + kept


def only_computes(x: Any) -> Any:
    refuse(x)
    return x + table(2)


@pytest.mark.parametrize("function", [draws_once, notes_once, changes_what_is_kept, only_computes])
def test_caches_are_asked(function: Any) -> None:
    def results(run: Any) -> list[Any]:
        for each in (noise, noted, table, changed_table):
            each.cache_clear()
        MADE.clear()
        torch.manual_seed(0)
        return [run(torch.zeros(2)).tolist() for _ in range(3)]

    compiled = mended_compile(function, backend="eager")
    assert results(compiled) == results(function)
    assert len(MADE) == (function is notes_once)
    assert compiled.report.whole == (function is only_computes)


def softmax_of_what_may_be_whole(x: Any) -> Any:
    if x.sum() > 0:
        return x.clone()
    return torch.softmax(x, 0)


def less_of_what_may_be_true(x: Any) -> Any:
    y = x.int()
    if x.any():
        return y * 2
    y = x ^ True
    return y << 1


@pytest.mark.parametrize("x", [torch.tensor([3, 0, 2]), torch.tensor([3.0, 1.0])])
def test_a_side_that_is_not_meant_may_raise(x: Any) -> None:
    same(softmax_of_what_may_be_whole, x)
    same(less_of_what_may_be_true, x > 1)


def smallest(x: Any) -> Any:
    least, place = min([(each, place) for place, each in enumerate(x.tolist())])
    return x * 2, least, place


def test_the_least_of_several_tuples() -> None:
    report = same(smallest, torch.tensor([3, 1, 2, 2]))
    assert not [each for each in report.left if "fault of its own" in each.reason]


def add_arrays(kept: Any, x: Any) -> Any:
    kept += x.numpy()
    if x.sum() > 3:
        print("many")
    return x * 2


def test_an_array_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = mended_compile(add_arrays, backend="eager")
    kept = np.zeros((3,))
    for _ in range(2):
        compiled(kept, torch.tensor([1.0, 2.0, 3.0]).double())
    assert kept.tolist() == [2.0, 4.0, 6.0]
    assert capsys.readouterr().out == "many\nmany\n"
    assert compiled.report.whole


def test_what_torch_has_said_once_is_not_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", said.append)
    monkeypatch.setattr(logging.getLogger(TensorVariable.__module__), "handlers", [handler])
    TensorVariable._warn_capture_scalar_outputs.cache_clear()
    for function in (lambda x: x * len(str(x.sum().item())), lambda x: x + len(str(x.sum().item()))):
        mended_compile(function, backend="eager", speculate=False)(torch.ones(2))
    assert len([each for each in said if each.funcName == "_warn_capture_scalar_outputs"]) == 1


def test_nothing_is_written_of_a_graph_that_raises(capfd: pytest.CaptureFixture[str]) -> None:
    def run(x: Any) -> Any:
        refuse(x)
        return x * round(x.sum().item())

    compiled = mended_compile(run, backend="aot_eager")
    compiled(torch.ones(2))
    with pytest.raises(OverflowError):
        compiled(torch.tensor([1.0, torch.inf]))
    assert "FX-traced" not in capfd.readouterr().err

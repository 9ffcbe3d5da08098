"""Loops that ask for values: what they may cost to compile, and how often they may be predicted wrongly."""

from __future__ import annotations

import functools
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, reasons
from compiled_calls import same_program as same_program_as

from graphmend._mending import frame_breaks, frames, speculate

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

same_program = functools.partial(same_program_as, speculate=True)

GIVEN_UP = "its value was predicted wrongly too often"
TOO_OFTEN = "it is passed too often to be predicted each time"


def grows_until(x: Any, rounds: int = 100) -> Any:
    for _ in range(rounds):
        x = x * 1.01
        if (x > 100).all():
            break
    return x


def test_a_loop_of_many_rounds_is_left() -> None:
    compiled = same_program(grows_until, numbers(1, 2), __file__)
    assert reasons(compiled) == {TOO_OFTEN}


def test_a_loop_of_many_rounds_is_unrolled_where_no_graph_may_break() -> None:
    assert same_program(grows_until, numbers(1, 2), __file__, fullgraph=True).report.whole


def test_a_loop_of_few_rounds_is_unrolled() -> None:
    compiled = same_program(grows_until, [(x, 9) for (x,) in numbers(1, 2)], __file__, fullgraph=True)
    assert compiled.report.whole


def grown(x: Any) -> Any:
    x = x * 1.01
    if (x > 100).all():
        return x.tanh()
    return x


def goes_through_layers(x: Any) -> Any:
    for _ in range(speculate.MAX_ROUNDS + 2):
        x = grown(x)
    return x


def test_a_function_that_is_called_often_is_no_loop() -> None:
    compiled = same_program(goes_through_layers, numbers(1, 2), __file__, fullgraph=True)
    assert compiled.report.whole


def halves(x: Any) -> Any:
    rounds = 0
    while x.abs().sum() > 1 and rounds < 40:
        x = x / 2
        rounds += 1
    return x, rounds


def test_a_loop_that_ends_somewhere_else_each_time_is_given_up() -> None:
    # Each round's own prediction is wrong but once or twice.
    calls = [(torch.full((2,), 2.0 ** (1 + i * 7 % 30)),) for i in range(60)]
    compiled = same_program(halves, calls, __file__)
    assert reasons(compiled) == {GIVEN_UP}
    assert compiled.report.misses <= 12


def repeats(x: Any, count: Any) -> Any:
    return torch.stack([x + 1] * int(count)).sum(0)


def test_large_graphs_are_not_compiled_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Numbers are predicted also where a symbol would do.
    monkeypatch.setattr(frame_breaks, "capture_for", lambda place: None)
    monkeypatch.setattr(frame_breaks, "is_read", lambda place: False)
    calls = [(torch.ones(4), torch.tensor(2 + i % 3)) for i in range(24)]
    assert same_program(repeats, calls, __file__).report.whole
    monkeypatch.setattr(frames, "_MAX_OPS", 1)
    assert reasons(same_program(repeats, calls, __file__)) == {GIVEN_UP}

"""Frames that are left as they are written: also without the symbols that Dynamo's settings would make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program


def changes_the_larger(x: Any) -> Any:
    total = 0
    for _ in range(2):
        y = max(x[0], x[1])
        y.add_(1)
        total += int((x > 0).sum())
    return x * total


def numbers(log: list[str]) -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        log.append("closed")


def leaves_early(x: Any) -> Any:
    log: list[str] = []
    total = 0
    for _ in range(2):
        total += int((x > 0).sum())
        for _ in numbers(log):
            break
    return x * total, list(log)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (changes_the_larger, "what `max` or `min` of tensors gives is changed in place"),
        (leaves_early, "a generator is left early, and has something to do when Python closes it"),
    ],
)
def test_a_symbol_does_not_bring_it_together(program: Callable[..., Any], reason: str) -> None:
    calls = [(torch.tensor(row),) for row in ([1.0, 2.0, 3.0], [3.0, 1.0, -1.0], [5.0, 5.0, 5.0])]
    compiled = same_program(program, calls, __file__)
    assert reasons(compiled) == {reason}

"""What a logger answers about its levels is a constant of the trace, until they change."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending.compile import compile as mended_compile

pytestmark = pytest.mark.filterwarnings("ignore")

OUTER = logging.getLogger("levels")
INNER = logging.getLogger("levels.below.this")
ADAPTER = logging.LoggerAdapter(INNER, {})


class Own(logging.Logger):
    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        return level % 20 == 0


OWN = Own("own")


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    yield
    for logger in (OUTER, INNER):
        logger.setLevel(logging.NOTSET)
        logger.disabled = False
    logging.disable(logging.NOTSET)


def asks(x: Any) -> Any:
    if INNER.isEnabledFor(logging.DEBUG):
        x = x + 1
    if ADAPTER.isEnabledFor(logging.ERROR):
        x = x * 2
    return x * INNER.getEffectiveLevel()


def test_answers_change_with_the_levels() -> None:
    compiled = mended_compile(asks, backend="eager", fullgraph=True)
    x = torch.ones(2)

    def same() -> None:
        # Twice: compiled, and as it was compiled.
        for _ in range(2):
            assert torch.equal(compiled(x), asks(x))

    same()
    for level in (logging.DEBUG, logging.CRITICAL, logging.NOTSET):
        OUTER.setLevel(level)
        same()
    INNER.setLevel(logging.DEBUG)
    same()
    # What is above counts no more, and compiles nothing anew.
    before = compiled.report.graphs
    OUTER.setLevel(logging.ERROR)
    same()
    assert compiled.report.graphs == before
    logging.disable(logging.CRITICAL)
    same()
    logging.disable(logging.NOTSET)
    INNER.disabled = True
    same()
    assert not compiled.report.left


class Debugged(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.log = OUTER

    def forward(self, x: Any) -> Any:
        if self.log.isEnabledFor(logging.INFO):
            self.log.info("mean %s", x.mean())
        return x * 2


@pytest.mark.parametrize("level", [logging.INFO, logging.ERROR])
def test_the_usual_form(level: int) -> None:
    OUTER.setLevel(level)
    same_program(Debugged(), [(torch.ones(2),), (torch.zeros(2),)], __file__, fullgraph=True)


def test_a_logger_of_another_kind_is_asked_itself() -> None:
    def asks_own(x: Any) -> Any:
        return x + 1 if OWN.isEnabledFor(logging.WARNING) else x * 2

    compiled = mended_compile(asks_own, backend="eager")
    assert torch.equal(compiled(torch.ones(2)), asks_own(torch.ones(2)))
    assert reasons(compiled) == {"no other call does the same with these operands"}


def turns_up(x: Any) -> Any:
    OUTER.setLevel(logging.DEBUG)
    return x + 1 if OUTER.isEnabledFor(logging.DEBUG) else x * 2


def test_a_level_that_is_changed_on_the_way() -> None:
    compiled = mended_compile(turns_up, backend="eager")
    for _ in range(2):
        OUTER.setLevel(logging.ERROR)
        assert compiled(torch.tensor(3.0)).item() == 4.0
        assert OUTER.level == logging.DEBUG

"""`logger.warning_once` of transformers, which remembers what it said: mended, it says the same, as often."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from transformers.utils import logging as transformers_logging

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = transformers_logging.get_logger("transformers.subject")


class Kept(logging.Handler):
    """What was said, and where from."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[Any, ...]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append((record.levelname, record.getMessage(), record.funcName, record.lineno))


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler = Kept()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


def warns(x: Any, limit: int) -> Any:
    logger.warning_once("always the same")
    y = x * 2
    if x.shape[0] > limit:
        logger.warning_once(f"longer than {limit}: {x.shape[0]}")
    logger.warning_once(f"of {y.sum().item()}")
    return y + 1


def said(function: Callable[..., Any], kept: Kept) -> list[tuple[Any, ...]]:
    type(logger).warning_once.cache_clear()
    kept.seen.clear()
    for size, limit in ((3, 4), (3, 4), (6, 4), (6, 5), (6, 5), (3, 4)):
        function(torch.ones(size), limit)
    return list(kept.seen)


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_each_text_comes_once(kept: Kept, backend: str) -> None:
    compiled = mended_compile(warns, backend=backend)
    expected = said(warns, kept)
    assert [message for _, message, _, _ in expected] == [
        "always the same",
        "of 6.0",
        "longer than 4: 6",
        "of 12.0",
        "longer than 5: 6",
    ]
    assert said(compiled, kept) == expected
    assert compiled.report.whole and {entry.mend for entry in compiled.report.mended} == {"postpone"}
    # Compiled, and forgotten.
    assert said(compiled, kept) == expected


def test_what_was_said_in_eager_is_not_said_again(kept: Kept) -> None:
    type(logger).warning_once.cache_clear()
    warns(torch.ones(3), 4)
    kept.seen.clear()
    mended_compile(warns, backend="eager")(torch.ones(3), 4)
    assert kept.seen == []


def test_a_level_that_is_off_and_on_again(kept: Kept) -> None:
    compiled = mended_compile(warns, backend="eager")
    seen = []
    for function in (warns, compiled):
        type(logger).warning_once.cache_clear()
        kept.seen.clear()
        for level in (logging.ERROR, logging.WARNING, logging.WARNING):
            logger.setLevel(level)
            function(torch.ones(3) * level, 4)
        seen.append(list(kept.seen))
    assert seen[0] == seen[1] and len(seen[0]) == 1

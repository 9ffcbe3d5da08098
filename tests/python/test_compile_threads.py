"""Threads that share a model: what each call changes in place counts once, and each effect is delivered once."""

from __future__ import annotations

import io
import sys
import threading
import time
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from graphmend._mending.compile import compile as mended_compile

_THREADS, _CALLS = 4, 40
X = torch.ones(2, 3)


class Counter(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, tells: bool) -> None:
        super().__init__()
        self.tells = tells
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count += 1
        if self.tells:
            print("counted")
        if x.sum() > 1000:
            raise ValueError("large")
        return x + 1


class SlowLines(io.TextIOBase):
    """Writing takes its time, and another thread has its turn."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> int:
        time.sleep(0.0005)
        self.texts.append(text)
        return len(text)


def call_from_threads(model: Any) -> None:
    def work() -> None:
        for _ in range(_CALLS):
            model(X)

    threads = [threading.Thread(target=work) for _ in range(_THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("tells", [False, True], ids=["silent", "told"])
def test_what_a_call_changes_counts_once(backend: str, tells: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = SlowLines()
    monkeypatch.setattr(sys, "stdout", lines)
    model = Counter(tells)
    compiled = mended_compile(model, backend=backend)
    compiled(X)
    call_from_threads(compiled)
    calls = 1 + _THREADS * _CALLS
    assert model.count.item() == calls
    assert "".join(lines.texts).count("counted") == (calls if tells else 0)
    assert compiled.report.whole


class Meter(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.sum += x.sum()
        print("added")
        if self.sum > 10:
            raise ValueError("full")
        return x + 1


def test_a_guard_that_fires_on_what_another_thread_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The effects before it were delivered when the call began anew, and are not delivered again."""
    model = Meter()
    texts: list[str] = []

    class Interrupted(io.TextIOBase):
        def write(self, text: str) -> int:
            texts.append(text)
            if texts.count("added") == 2:
                # As another thread would, while this one is writing.
                model.sum.fill_(9.0)
            return len(text)

    monkeypatch.setattr(sys, "stdout", Interrupted())
    compiled = mended_compile(model, backend="eager")
    compiled(torch.ones(2))
    with pytest.raises(ValueError, match="full"):
        compiled(torch.ones(2))
    assert texts == ["added", "\n"] * 2 and model.sum.item() == 11.0

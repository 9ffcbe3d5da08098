"""A frame is traced again after a place was mended: each round moves on, and where none does, that ends."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, reasons, same_program

from graphmend._mending import frames
from graphmend._mending.frame_breaks import FrameBreaks

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def says(x: torch.Tensor) -> torch.Tensor:
    print("says", x.sum())
    return x + 1


def refuses(x: torch.Tensor) -> torch.Tensor:
    if x.max() > 100:
        raise ValueError("large")
    return x * 2


def chooses(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 3:
        return -x
    return x


def rounds_are_too_few(x: torch.Tensor) -> torch.Tensor:
    return chooses(refuses(says(x)))


def says_in_vain(x: torch.Tensor) -> torch.Tensor:
    print("in vain", x.sum())
    return x + 1


def says_and_refuses(x: torch.Tensor) -> torch.Tensor:
    print("first", x.sum())
    x = x + 1
    if x.max() > 100:
        raise ValueError("large")
    print("second", x.sum())
    return x - 1


def asked_for(monkeypatch: pytest.MonkeyPatch, mends: bool) -> list[Any]:
    """The places that `FrameBreaks` is asked to mend; unless it `mends`, it says that it has and does nothing."""
    asked: list[Any] = []
    mend_or_leave = FrameBreaks.mend_or_leave

    def noted(self: FrameBreaks, place: Any, code: Any) -> bool:
        asked.append((place.file, place.line))
        return mend_or_leave(self, place, code) if mends else True

    monkeypatch.setattr(FrameBreaks, "mend_or_leave", noted)
    return asked


def test_each_round_mends_another_place(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_for(monkeypatch, mends=True)
    compiled = same_program(says_and_refuses, numbers(1, 200, 2), __file__, fullgraph=True)
    assert 1 <= len(set(asked)) == len(asked) <= len(compiled.report.mended) == 3


def test_a_frame_with_more_places_than_there_are_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_MAX_ROUNDS", 2)
    compiled = same_program(rounds_are_too_few, numbers(1, 200, 2), __file__, frames=False)
    # What comes behind the break that stays is a frame of its own, with rounds of its own.
    assert [entry.function for entry in compiled.report.mended] == ["says", "refuses", "chooses"]
    assert compiled.report.graphs > 1
    assert reasons(compiled) == {"it was traced 2 times, and still broke"}


def test_rounds_in_which_nothing_moves_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_MAX_ROUNDS", 5)
    asked = asked_for(monkeypatch, mends=False)
    compiled = same_program(says_in_vain, numbers(1, 200), __file__, frames=False)
    assert len(asked) == 5 and not compiled.report.mended
    assert reasons(compiled) == {"it was traced 5 times, and still broke"}

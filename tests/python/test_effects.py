"""The table of effects against what torch says of its own operators."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

TABLE = Path(__file__).parents[2] / "src" / "facts" / "effects.def"
ENTRY = re.compile(r"(?:TORCH|TORCH_FUNCTION|TENSOR_METHOD|FUNCTIONAL)\((\w+), ([\w |]+)\)")


def names_with(tag: torch.Tag) -> set[str]:
    """Operators an overload of which has a tag."""
    packets = {name: getattr(torch.ops.aten, name) for name in dir(torch.ops.aten)}
    return {
        name
        for name, packet in packets.items()
        if hasattr(packet, "overloads") and any(tag in getattr(packet, each).tags for each in packet.overloads())
    }


def test_what_draws_random_numbers_is_known_to() -> None:
    entries = ENTRY.findall(TABLE.read_text(encoding="utf-8"))
    drawing = names_with(torch.Tag.nondeterministic_seeded)
    assert len(entries) > 500 and len(drawing) > 20
    assert [name for name, effects in entries if name in drawing and "Random" not in effects.split(" | ")] == []

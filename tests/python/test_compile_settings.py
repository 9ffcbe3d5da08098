"""Breaks that a setting of Dynamo's mends: the frame is compiled with it, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending.compile import compile as mended_compile


class Reader(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.inner = kind(3, 4, num_layers=2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _ = self.inner(x)
        return y * 2


@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM])
def test_recurrent_modules_are_captured(kind: Any) -> None:
    compiled = same_program(Reader(kind), [(torch.rand(2, 5, 3),)] * 2, __file__)
    assert compiled.report.left == []
    assert {entry.mend for entry in compiled.report.mended} == {"setting"}
    assert compiled.report.graphs == 1


@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM])
def test_recurrent_modules_under_autocast_are_left_to_eager(kind: Any) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        compiled = same_program(Reader(kind), [(torch.rand(2, 5, 3),)] * 2, __file__)
    assert reasons(compiled) == {"under autocast, torch's compilers give recurrent layers another type"}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM])
def test_dropouts_between_recurrent_layers_are_kept(kind: Any, backend: str) -> None:
    reader = Reader(kind)
    reader.inner.dropout = 0.5
    compiled = same_program(reader, [(torch.rand(2, 5, 3),)] * 2, __file__, backend=backend)
    assert reasons(compiled) == {"torch's compilers lose the dropout between recurrent layers"}
    # Where it is off, nothing is lost.
    compiled = mended_compile(reader.eval(), backend=backend)
    x = torch.rand(2, 5, 3)
    torch.testing.assert_close(compiled(x), reader(x))
    assert compiled.report.left == []


def test_settings_are_put_back() -> None:
    reader = Reader(torch.nn.GRU)
    x = torch.rand(2, 5, 3)
    compiled = mended_compile(reader, backend="eager")
    assert torch.equal(compiled(x), reader(x))
    assert compiled.report.left == []
    assert not torch._dynamo.config.allow_rnn

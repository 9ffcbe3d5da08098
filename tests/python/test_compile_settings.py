"""Breaks that a setting of Dynamo's mends: the frame is compiled with it, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import same_program

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


def test_settings_are_put_back() -> None:
    def takes_a_gradient(x: torch.Tensor) -> torch.Tensor:
        loss = (x * x).sum()
        return torch.autograd.grad(loss, x)[0]

    x = torch.ones(3, requires_grad=True)
    compiled = mended_compile(takes_a_gradient, backend="eager")
    assert torch.equal(compiled(x), takes_a_gradient(x))
    assert compiled.report.left == []
    assert not torch._dynamo.config.trace_autograd_ops
    assert not torch._dynamo.config.allow_rnn


class Step(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        loss = self.inner(x).pow(2).sum()
        loss.backward()
        print("loss", loss)
        return loss.detach()


def test_gradients_add_up_as_in_eager() -> None:
    compiled = same_program(Step(), [(torch.rand(2, 3),)] * 3, __file__)
    assert compiled.report.left == []


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_a_graph_that_is_used_up_stays_used_up() -> None:
    def gives_both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * x
        return y, torch.autograd.grad(y.sum(), x)[0]

    compiled = mended_compile(gives_both, backend="eager")
    x = torch.ones(3, requires_grad=True)
    y, gradient = compiled(x)
    assert torch.equal(gradient, 2 * x)
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()

"""What stands behind a check finds nothing out of range when that fails: on a GPU nothing could be done after that.

Without a GPU the processor passes for one, on which the graph must not raise then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

from graphmend._mending import marks_select
from graphmend._mending.compile import compile as mended_compile
from graphmend._torch import device_asserts
from graphmend._torch.tracing import assume_constant_result

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SETTINGS = [{"backend": "eager"}, {"backend": "inductor"}, *([{"mode": "reduce-overhead"}] if DEVICE == "cuda" else [])]


@pytest.fixture(autouse=True)
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    if DEVICE == "cpu":
        monkeypatch.setattr(
            device_asserts, "is_on_device", lambda node: isinstance(node.meta.get("example_value"), torch.Tensor)
        )
        monkeypatch.setattr(marks_select, "_has_device", assume_constant_result(lambda: True))
    torch._dynamo.reset()


def indexed(x: Any, i: Any) -> Any:
    if (i >= x.shape[0]).any() or (i < 0).any():
        raise IndexError("no such row")
    return x[i] * 2, x.sum()


def stored(x: Any, i: Any) -> Any:
    if i.max() >= x.shape[0]:
        raise IndexError("no such row")
    x = x.clone()
    x[i] = 1.0
    return x.scatter_add(0, i, torch.ones_like(i, dtype=x.dtype))


def gathered(x: Any, i: Any) -> Any:
    if i.max() >= x.shape[0]:
        raise IndexError("no such row")
    rows = x.reshape(1, -1).gather(1, i.reshape(1, -1)), x.index_select(0, index=i), x.take(i)
    return rows, functional.embedding(i, x.reshape(-1, 1))


def lost(x: Any, i: Any) -> Any:
    if not (i < x.shape[0]).all():
        raise ValueError("no such class")
    return functional.cross_entropy(x.expand(i.shape[0], -1), i)


def counted(x: Any, i: Any) -> Any:
    if i.min() < 0 or i.max() > 4:
        raise ValueError("out of range")
    return functional.one_hot(i, 5), x


def picked(x: Any, i: Any) -> Any:
    y = x[i] if i.max() < x.shape[0] else i * 0.5
    return y * 2


def predicted_first(x: Any, i: Any) -> Any:
    if i.max() >= x.shape[0]:
        raise IndexError("no such row")
    return [x] * int(x[i].max())


PROGRAMS = [indexed, stored, gathered, lost, counted, picked, predicted_first]
GOOD, BAD = [0, 2, 1], [1, 7, 0]


def outcome(function: Callable[..., Any], rows: list[int]) -> str:
    try:
        result = function(torch.arange(4.0, device=DEVICE), torch.tensor(rows, device=DEVICE))
    except Exception as error:
        result = error
    # Raises where the device is of no more use.
    return repr((result, torch.ones(2, device=DEVICE).sum().item()))


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("order", [(GOOD, GOOD, BAD, GOOD, BAD), (BAD, GOOD, BAD, GOOD)], ids=["good", "bad"])
def test_nothing_is_out_of_range(program: Callable[..., Any], settings: Any, order: Any) -> None:
    compiled = mended_compile(program, **settings)
    for rows in order:
        assert outcome(compiled, rows) == outcome(program, rows)
    # What hangs on what is out of range in the first call is not known ahead.
    assert compiled.report.whole or (program is predicted_first and order[0] is BAD)


@pytest.mark.parametrize("program", PROGRAMS[:5])
def test_the_graph_itself_does_not_fail(program: Callable[..., Any]) -> None:
    raised = []

    def backend(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            try:
                return graph.forward(*args)
            except Exception as error:
                raised.append(error)
                raise

        return run

    compiled = mended_compile(program, backend=backend)
    for rows in (GOOD, BAD, GOOD):
        assert outcome(compiled, rows) == outcome(program, rows)
    assert not raised and compiled.report.misses == 1


def spelled(x: Any, i: Any) -> Any:
    if i.max() >= x.shape[0]:
        raise IndexError("no such row")
    return x * len(str(int(x[i].sum())))


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_comes_behind_a_check_is_predicted_though_the_first_input_is_bad(settings: dict[str, Any]) -> None:
    compiled = mended_compile(spelled, **settings)
    for rows in ([0, 7], [9, 0], [0, 1], [1, 2], [5, 5], [2, 3]):
        assert outcome(compiled, rows) == outcome(spelled, rows)
    assert compiled.report.whole, compiled.report

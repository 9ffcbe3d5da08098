"""What a mended call does beside its graph: flags are few, and nothing is looked at that cannot have changed."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from graphmend._mending import transaction
from graphmend._mending.compile import compile as mended_compile
from graphmend._torch import flags
from graphmend._torch.modes import Modes

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def afresh() -> None:
    torch._dynamo.reset()


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor passes for a GPU."""
    monkeypatch.setattr(flags, "is_on_device", lambda node: isinstance(node.meta.get("example_value"), torch.Tensor))


def guarded(x: Any, y: Any) -> Any:
    h = x * 2
    if torch.isnan(h).any():
        raise ValueError("not a number")
    if not torch.isfinite(h + y).all():
        raise ValueError("not finite")
    if torch.isnan(y).any() or torch.isinf(y).any():
        raise ValueError("either")
    if y.max() > 50:
        raise ValueError("large")
    return h + y


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args).tolist()
    except ValueError as error:
        return str(error)


def with_one(number: float, row: int, column: int) -> Any:
    x = torch.ones(4, 64)
    x[row, column] = number
    return x


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_any_number_of_a_row_sets_the_flag(backend: str) -> None:
    compiled = mended_compile(guarded, backend=backend, fullgraph=True)
    good = torch.ones(4, 64)
    bad = [float("nan"), float("inf"), float("-inf"), 3e38, 51.0]
    calls = [(good, good.clone())]
    calls += [(with_one(number, row, column), good) for number in bad for row, column in ((0, 0), (3, 63), (2, 31))]
    calls += [(good, with_one(number, row, column)) for number in bad for row, column in ((0, 63), (3, 0))]
    for call in [*calls, calls[0]]:
        assert outcome(compiled, *call) == outcome(guarded, *call)
    assert compiled.report.graphs == 1


@pytest.mark.usefixtures("on_device")
def test_rows_are_reduced_one_by_one_and_then_all_at_once() -> None:
    seen: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        seen.append(graph)
        return graph

    mended_compile(guarded, backend=backend)(torch.ones(4, 64), torch.ones(4, 64))
    (graph,) = seen
    by_rows = [node for node in graph.graph.nodes if node.target in ("any", "all") and node.args[1:] == (-1,)]
    (together,) = graph.graph.find_nodes(op="call_function", target=torch.cat)
    assert len(by_rows) == len(together.args[0]) == 4


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("shape", [(), (64,), (4, 31), (0, 64), (4, 0)])
def test_what_has_no_rows_is_reduced_as_it_was(shape: tuple[int, ...]) -> None:
    def positive(x: Any) -> Any:
        if (x < 0).any():
            raise ValueError("negative")
        return x + 1

    compiled = mended_compile(positive, backend="eager", fullgraph=True)
    for x in (torch.ones(shape), -torch.ones(shape), torch.ones(shape)):
        assert outcome(compiled, x) == outcome(positive, x)


def changed_after(x: Any) -> Any:
    bad = torch.isnan(x).any()
    either = bad | torch.isinf(x).any()
    if either:
        raise ValueError("bad")
    bad.fill_(False)
    return x + 1


def changed_before(x: Any) -> Any:
    bad = torch.isnan(x).any()
    bad.logical_or_(torch.isinf(x).any())
    if bad:
        raise ValueError("bad")
    return x + 1


def changed_by_out(x: Any) -> Any:
    ok = (x < 100).all()
    torch.logical_and(ok, torch.isfinite(x).all(), out=ok)
    if not ok:
        raise ValueError("bad")
    return x + 1


def named(x: Any) -> Any:
    if torch.logical_not(input=torch.isfinite(x).all()):
        raise ValueError("bad")
    if torch.ne(x.sum(), other=0) and torch.isnan(x).any():
        raise ValueError("none")
    return x + 1


def many(x: Any) -> Any:
    bad = torch.isnan(x).any()
    for i in range(1200):
        bad = bad | (x == i + 9000).any()
    if bad:
        raise ValueError("bad")
    return x + 1


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("program", [changed_after, changed_before, changed_by_out, named, many])
def test_a_flag_is_what_it_was_when_it_was_asked_for(program: Any, backend: str) -> None:
    compiled = mended_compile(program, backend=backend)
    for x in (torch.ones(4, 64), with_one(float("nan"), 1, 2), with_one(float("inf"), 3, 63), torch.ones(4, 64)):
        assert outcome(compiled, x) == outcome(program, x)
    assert compiled.report.whole


@pytest.mark.parametrize(("dropped", "draws"), [(0.0, False), (0.5, True)])
def test_attention_that_drops_nothing_draws_nothing(
    dropped: float, draws: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(transaction, "random_state", lambda: asked.append(True))

    def attends(x: Any) -> Any:
        made = torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=dropped)
        if torch.isnan(made).any():
            raise ValueError("not a number")
        return made

    mended_compile(attends, backend="eager", fullgraph=True)(torch.randn(1, 2, 4, 8))
    assert bool(asked) == draws


def test_there_are_no_guards_on_the_marks() -> None:
    def positive(x: Any) -> Any:
        if (x < 0).any():
            raise ValueError("negative")
        return torch.sin(x)

    compiled = mended_compile(positive, backend="eager", fullgraph=True)
    compiled(torch.ones(3))
    (entry,) = _debug_get_cache_entry_list(positive.__code__)
    guards = str(entry.guard_manager)
    assert "marks_post'].check" not in guards
    assert "__graphmend__" not in guards
    # What the program reaches itself is guarded, by whatever way it was reached first.
    assert "sin" in guards


def test_modes_are_kept_where_one_may_be_switched(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def made() -> Modes:
        kept.append(Modes())
        return kept[-1]

    monkeypatch.setattr(transaction, "Modes", made)

    def positive(x: Any) -> Any:
        if (x < 0).any():
            raise ValueError("negative")
        return torch.sin(x) + torch.nn.functional.gelu(x).sum(0)

    def switching(x: Any) -> Any:
        with torch.no_grad():
            y = positive(x)
        return y + 1

    mended_compile(positive, backend="eager", fullgraph=True)(torch.ones(2, 3))
    assert not kept
    mended_compile(switching, backend="eager", fullgraph=True)(torch.ones(2, 3))
    assert kept


@torch.compiler.allow_in_graph  # type: ignore[untyped-decorator,unused-ignore]
def switches(x: Any) -> Any:
    torch.set_grad_enabled(False)
    return x * 2


def test_what_the_program_has_in_the_graph_may_switch_a_mode() -> None:
    def positive(x: Any) -> Any:
        made = x + 1
        other = switches(x)
        if (x > 5).any():
            raise ValueError(str(made.requires_grad))
        return other

    compiled = mended_compile(positive, backend="eager")
    texts = []
    for function in (positive, compiled):
        with torch.enable_grad():
            function(torch.ones(2))
        with torch.enable_grad():
            texts.append(outcome(function, torch.full((2,), 9.0, requires_grad=True)))
    torch.set_grad_enabled(True)
    assert texts == ["True", "True"]


def test_what_the_program_calls_of_other_modules_may_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def rooted(x: Any) -> Any:
        n = x.tolist()
        return x * math.sqrt(4.0), len(str(n))

    compiled = mended_compile(rooted, backend="eager")
    x = torch.tensor([[2.0, 1.0]])
    assert compiled(x)[0].tolist() == [[4.0, 2.0]]
    monkeypatch.setattr(math, "sqrt", lambda number: 100.0)
    assert compiled(x)[0].tolist() == [[200.0, 100.0]]


def test_what_the_program_calls_may_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def positive(x: Any) -> Any:
        if (x < 0).any():
            raise ValueError("negative")
        return torch.isnan(x), torch.sin(x)

    compiled = mended_compile(positive, backend="eager")
    assert compiled(torch.ones(1))[1].item() == torch.sin(torch.ones(1)).item()
    monkeypatch.setattr(torch, "sin", torch.cos)
    monkeypatch.setattr(torch, "isnan", torch.isfinite)
    assert compiled(torch.ones(1))[1].item() == torch.cos(torch.ones(1)).item()
    assert compiled(torch.ones(1))[0].item()

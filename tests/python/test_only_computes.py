"""What graphs do, told by what they call: never less than AOTAutograd's own analysis finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
import torch.nn.functional as functional

from graphmend._torch.graph_facts import GraphFacts, analysed
from graphmend._torch.graphs import may_draw
from graphmend._torch.only_computes import only_computes

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

NORM = torch.nn.BatchNorm1d(4)
SILENT_NORM = torch.nn.BatchNorm1d(4).eval()
WEIGHT = torch.randn(6, 4)


@torch.library.custom_op("graphmend_tests::twice", mutates_args=())  # type: ignore[untyped-decorator,unused-ignore]
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake  # type: ignore[untyped-decorator,unused-ignore]
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def computes(x: Any) -> Any:
    y = functional.layer_norm(torch.relu(x) @ x.T, (4,)).softmax(-1).sort(dim=-1).values
    return torch.where((y > 0) & (y < 1), y.float(), -y)[:, :2].sum().item(), x.shape, functional.max_pool1d(y, 2)


def makes_and_changes(x: Any) -> Any:
    made = torch.zeros_like(x)
    made[:2] = x[:2]
    made.add_(1).mul_(x)
    return functional.relu(made, inplace=True)


def without_dropout(x: Any) -> Any:
    attended = functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
    return functional.dropout(attended, 0.5, training=False), functional.embedding(torch.tensor([1]), WEIGHT)


def with_modes(x: Any) -> Any:
    with torch.no_grad(), torch.autocast("cpu"):
        return x @ x.T


def asks_for_a_number(x: Any) -> Any:
    n = x.long().abs().sum().item()
    torch._check(n >= 0)
    return torch.arange(4) * n


def evaluates(x: Any) -> Any:
    return SILENT_NORM(x)


def changes_input(x: Any) -> Any:
    x.add_(1)
    return x * 2


def changes_view(x: Any) -> Any:
    x.t()[0].mul_(2)
    return x.sum()


def changes_behind_autograd(x: Any) -> Any:
    x.data.add_(1)
    return x.sum()


def sets_item(x: Any) -> Any:
    x[0] = 1
    return x.sum()


def shifts(x: Any) -> Any:
    n = x.long()
    n <<= 1
    return n


def shifts_input(x: Any) -> Any:
    x >>= 1
    return x + 1


def writes_out(x: Any) -> Any:
    torch.add(x, 1, out=x)
    return x.sum()


def is_told_to(x: Any) -> Any:
    return functional.relu(x, True)


def keeps_statistics(x: Any) -> Any:
    return NORM(x)


def renorms(x: Any) -> Any:
    return functional.embedding(torch.tensor([1]), x, max_norm=0.5)


def draws(x: Any) -> Any:
    return x + torch.rand(4)


def draws_in_place(x: Any) -> Any:
    return torch.empty(4).uniform_() + x


def drops(x: Any) -> Any:
    return functional.dropout(x, 0.5)


def attends_and_drops(x: Any) -> Any:
    return functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], dropout_p=0.5)


def calls_an_operator(x: Any) -> Any:
    return twice(x)


def runs_a_function(x: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)


COMPUTING = [computes, makes_and_changes, without_dropout, with_modes, asks_for_a_number, evaluates, shifts]
DOING_MORE = [
    changes_input,
    changes_view,
    changes_behind_autograd,
    sets_item,
    writes_out,
    is_told_to,
    keeps_statistics,
    renorms,
    draws,
    draws_in_place,
    drops,
    attends_and_drops,
    runs_a_function,
]


def look_at(program: Callable[..., Any], given: Any) -> tuple[bool, GraphFacts]:
    """What is told of the first graph of a program, and what the analysis finds."""
    found = []

    def backend(graph: Any, inputs: Any) -> Any:
        found.append((only_computes(graph), analysed(graph)))
        return graph

    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        torch.compile(program, backend=backend)(given)
    return found[0]


def does_nothing(facts: GraphFacts) -> bool:
    return not (facts.mutated or facts.reshapes_inputs or facts.aliased_outputs or facts.draws or facts.draws_unseen)


@pytest.mark.parametrize("program", COMPUTING)
def test_what_only_computes_needs_no_analysis(program: Callable[..., Any]) -> None:
    told, facts = look_at(program, torch.randn(4, 4))
    assert told
    assert does_nothing(facts)


@pytest.mark.parametrize("program", DOING_MORE)
def test_what_does_more_is_analysed(program: Callable[..., Any]) -> None:
    told, facts = look_at(program, torch.randn(4, 4))
    assert not told
    assert not does_nothing(facts)


def test_shifts_in_place_are_analysed() -> None:
    told, facts = look_at(shifts_input, torch.arange(4))
    assert not told
    assert facts.mutated == (0,)


def test_what_is_not_known_is_analysed() -> None:
    told, _ = look_at(calls_an_operator, torch.randn(4, 4))
    assert not told


@pytest.mark.parametrize(("name", "may"), [("__eq__", True), ("eq", False), ("bernoulli", True)])
def test_what_may_draw_goes_by_operators_alone(name: str, may: bool) -> None:
    graph = torch.fx.Graph()
    given = graph.placeholder("x")
    assert may_draw(graph.call_method(name, (given, given))) is may

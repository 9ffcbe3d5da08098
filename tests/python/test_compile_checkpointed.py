"""What stands in the body of an activation checkpoint, which is run once more in the backward."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import observe, reasons, same_program, seed
from torch.utils.checkpoint import checkpoint

from graphmend import compile as mended_compile

pytestmark = pytest.mark.filterwarnings("ignore")


def fires(h: Any) -> Any:
    if h.max() > 50:
        raise ValueError(f"{h.max().item():.1f} is too large")
    return h.sin()


def drops(h: Any) -> Any:
    y = torch.nn.functional.dropout(h, 0.5)
    if y.max() > 50:
        raise ValueError("large")
    return y.sin()


def clamps(h: Any) -> Any:
    if (h > 20).any() or h.isnan().any():
        h = h.clamp(-20, 20)
    return h * h


def is_sparse(h: Any) -> Any:
    kept = h.detach() > 0
    if not kept.any():
        return h.exp()
    return h * kept.sum().item()


def checks_a_number(h: Any, limit: Any) -> Any:
    # What is given to it is checked, and what it makes.
    if (h > limit).all():
        raise ValueError("all of them")
    y = h * limit
    if y.sum().item() < -1e5:
        raise OverflowError(y.shape)
    return y


def as_often(h: Any) -> Any:
    return torch.stack([h.sin()] * int(torch.argmax(h.detach()) + 1))


def in_another(h: Any) -> Any:
    return checkpoint(clamps, h.sin() * 30, use_reentrant=False) + fires(h)


def fires_after_a_change(h: Any) -> Any:
    y = h * 1
    if y.max() > 50:
        raise ValueError("large")
    y.mul_(2)
    return y.sin()


def fires_at_what_changes(h: Any) -> Any:
    y = h.detach().clone()
    large = y > 50
    if large.any():
        raise ValueError("large")
    large.logical_not_()
    return h * large


def leads_back(body: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """A layer of a model, with a parameter, and its gradient."""

    def layer(x: Any, *others: Any) -> Any:
        h = x * 2
        return (checkpoint(body, h, *others, **settings) * h).sum()

    return layer


CALLS = [torch.tensor(row) for row in ([1.0, -2.0, 3.0], [30.0, -2.0, 3.0], [-1.0, -2.0, -3.0], [1.0, 60.0, 3.0])]


def steps(program: Callable[..., Any], others: tuple[Any, ...] = ()) -> list[Any]:
    """Calls and the gradients of them, with numbers that are drawn between."""
    seed()
    seen = []

    def step(x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        program(leaf, *others).backward()
        return leaf.grad, torch.rand(2)

    for x in [*CALLS, *CALLS[::-1]]:
        seen.append(observe(step, (x,), __file__))
        # Of exceptions: type and arguments. There are fewer frames where the layer is not the caller any more.
        error = seen[-1].error
        seen[-1].error = error and error[:2]
    return seen


WHOLE = [fires, clamps, is_sparse, in_another, fires_after_a_change]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("reentrant", [False, True], ids=["not_reentrant", "reentrant"])
@pytest.mark.parametrize("body", WHOLE, ids=lambda body: str(body.__name__))
def test_a_step_through_a_checkpoint(body: Any, reentrant: bool, backend: str) -> None:
    program = leads_back(body, use_reentrant=reentrant)
    compiled = mended_compile(program, backend=backend)
    assert steps(compiled) == steps(program)
    assert compiled.report.left == [] and compiled.report.graphs > 0


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_check_of_what_it_is_given(backend: str) -> None:
    calls = [(x, torch.tensor(limit)) for limit in (10.0, -100.0, 2e5) for x in CALLS]
    program = leads_back(checks_a_number, use_reentrant=False)
    compiled = same_program(program, calls, __file__, backend=backend, frames=False)
    assert compiled.report.left == [] and compiled.report.misses >= 2


def breaks_around_it(x: Any) -> Any:
    h = x * 2
    for i in range(2):
        h = checkpoint(torch.nn.functional.dropout, h.sin(), 0.5, use_reentrant=False).exp()
        if h.sum() > 100:
            print("large", i)
    return h.sum()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("program", [leads_back(drops, use_reentrant=False), breaks_around_it])
def test_what_is_drawn_there(program: Any, backend: str) -> None:
    compiled = mended_compile(program, backend=backend)
    assert steps(compiled) == steps(program)
    # As it is written, Python calls it where it breaks, and draws the same numbers in the backward.
    reason = "a checkpointed function draws random numbers, and this backend others once more"
    assert reasons(compiled) == ({reason} if backend == "eager" else set())


def changed_before(x: Any) -> Any:
    h = x * 2
    h.add_(1)
    y = h[1:]
    y.sub_(x[1:].detach())
    return checkpoint(as_often_as_it_says, h, y.detach(), use_reentrant=False).sum()


def as_often_as_it_says(h: Any, y: Any) -> Any:
    return torch.stack([h.sin() * y.sum()] * int(torch.argmax(y) + 1))


def counts_kinds(h: Any) -> Any:
    counts = torch.bincount((h.detach() > 0).long(), minlength=2).tolist()
    return sum(h.sin() * (i + 1) for i in range(counts[0] + 1))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "program",
    [leads_back(counts_kinds, use_reentrant=False), leads_back(as_often, use_reentrant=False), changed_before],
)
def test_what_is_predicted_there(program: Any, backend: str) -> None:
    compiled = mended_compile(program, backend=backend)
    assert steps(compiled) == steps(program)
    (entry,) = compiled.report.mended
    assert entry.mend == "speculate" and 0 < compiled.report.misses < 8 and not compiled.report.left


def tells(h: Any) -> Any:
    print("largest", h.max().item())
    return h.sin()


def test_what_is_told_stays() -> None:
    program = leads_back(tells, use_reentrant=False)
    compiled = mended_compile(program, backend="eager")
    assert steps(compiled) == steps(program)
    assert reasons(compiled) == {"it stands in a checkpointed function, which runs once more in the backward"}


def test_a_flag_that_is_changed_there_stays() -> None:
    program = leads_back(fires_at_what_changes, use_reentrant=False)
    compiled = mended_compile(program, backend="eager")
    assert steps(compiled) == steps(program)


class Normalizes(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def body(self, h: Any) -> Any:
        y = self.norm(h)
        if y.max() > 50:
            raise ValueError("large")
        return y.relu()

    def forward(self, x: Any) -> Any:
        return checkpoint(self.body, x.expand(2, 3) * torch.arange(1.0, 3.0)[:, None], use_reentrant=False).sum()


class Decays(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("limit", torch.tensor(100.0))

    def body(self, h: Any) -> Any:
        if h.max() > self.limit:
            raise ValueError("large")
        return h.sin() * self.limit

    def forward(self, x: Any) -> Any:
        y = checkpoint(self.body, x, use_reentrant=False)
        with torch.no_grad():
            self.limit.mul_(0.9)
        return y.sum()


class Draws(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def body(self, h: Any) -> Any:
        y = h * random.random()
        if y.max() > 50:
            raise ValueError("large")
        return y.sin()

    def forward(self, x: Any) -> Any:
        return checkpoint(self.body, x, use_reentrant=False).sum()


class Counts(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Nothing is mended but by a symbol."""

    def body(self, h: Any) -> Any:
        y = torch.nn.functional.dropout(h, 0.5)
        return y.sin() * int((y.detach() > 0).sum())

    def forward(self, x: Any) -> Any:
        return checkpoint(self.body, x, use_reentrant=False).sum()


class DrawsAnew(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def body(self, h: Any) -> Any:
        y = torch.nn.functional.dropout(h, 0.5).sin()
        if y.max() > 50:
            raise ValueError("large")
        return y

    def forward(self, x: Any) -> Any:
        return checkpoint(self.body, x, use_reentrant=False, preserve_rng_state=False).sum()


GIVEN = "a checkpointed function, which runs once more in the backward, is given what the graph changes"
OTHERS = "a checkpointed function draws random numbers, and this backend others once more"
PYTHONS = "a checkpointed function may draw from Python's `random`, and draw anew in the backward"


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    ("kind", "reason"), [(Normalizes, GIVEN), (Decays, GIVEN), (Draws, PYTHONS), (Counts, OTHERS), (DrawsAnew, OTHERS)]
)
def test_what_would_differ_in_the_backward_stays(kind: Any, reason: str, backend: str) -> None:
    model, twin = kind(), kind()
    compiled = mended_compile(twin, backend=backend)
    expected, seen = steps(model), steps(compiled)
    assert seen == expected
    assert {name: each.tolist() for name, each in twin.named_buffers()} == {
        name: each.tolist() for name, each in model.named_buffers()
    }
    # aot_eager draws the same once more.
    assert reasons(compiled) == (set() if kind is Counts and backend == "aot_eager" else {reason})

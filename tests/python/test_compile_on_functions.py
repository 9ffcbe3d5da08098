"""Operators that are given functions, `torch.cond` and `flex_attention` say: what is around them is mended."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def nearer(score: Any, batch: Any, head: Any, query: Any, key: Any) -> Any:
    return score - (query - key).abs()


def attends(x: Any) -> Any:
    print("sum", x.sum().item())
    x = x + 1
    if x.max() > 100:
        raise ValueError("large")
    rows = x.reshape(1, 1, 2, 3)
    return flex_attention(rows, rows, rows, score_mod=nearer)


def grows(x: Any) -> Any:
    return x * 2


def shrinks(x: Any) -> Any:
    return x / 2


def decides(x: Any) -> Any:
    print("sum", x.sum().item())
    x = torch.cond(x.sum() > 3, grows, shrinks, (x,))
    if x.max() > 100:
        raise ValueError("large")
    return x + 1


def goes_on(i: Any, x: Any) -> Any:
    return i < 3


def next_of(i: Any, x: Any) -> Any:
    return i + 1, x * 2


def loops(x: Any) -> Any:
    if x.max() > 100:
        raise ValueError("large")
    print("looping", x.sum().item())
    return while_loop(goes_on, next_of, (torch.tensor(0), x))[1]


def added(one: Any, other: Any) -> Any:
    return one + other


def carried(carry: Any, x: Any) -> Any:
    return carry + x, carry * x


def sums_up(x: Any) -> Any:
    print("sum", x.sum().item())
    last, made = scan(carried, torch.zeros(3), x)
    if x.max() > 100:
        raise ValueError("large")
    return last + associative_scan(added, made, 0, combine_mode="generic")


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("program", [attends, decides, loops, sums_up])
def test_what_is_around_them_is_mended(program: Any, backend: str) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    calls = [(x,), (x / 4,), (x * 100,), (x,)]
    compiled = same_program(program, calls, __file__, backend=backend, fullgraph=True)
    assert len(compiled.report.mended) == 2 and compiled.report.whole


def drops(x: Any) -> Any:
    return torch.nn.functional.dropout(x, 0.5)


def draws_on_one_side(x: Any) -> Any:
    x = torch.cond(x.sum() > 3, drops, shrinks, (x,))
    if x.isnan().any():
        raise ValueError("no number")
    return x


def test_what_they_draw_is_drawn_once() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    compiled = same_program(draws_on_one_side, [(x,), (x * torch.nan,), (x,)], __file__, frames=False)
    assert "a function that an operator is given may draw random numbers" in reasons(compiled)


def counts(x: Any, count: Any) -> Any:
    count.add_(1)
    return x.sin() * count


def shows_what_is_changed_inside(x: Any) -> Any:
    count = torch.zeros(3)
    print("before", count)
    result = checkpoint(counts, x, count, use_reentrant=False)
    print("behind", count)
    return result


def shows_an_input_that_is_changed_inside(x: Any, count: Any) -> Any:
    print("before", count)
    result = checkpoint(counts, x, count, use_reentrant=False)
    if result.sum() > 3:
        raise ValueError("large")
    return result


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_a_checkpointed_function_changes(backend: str) -> None:
    x = torch.ones(3)
    compiled = same_program(shows_what_is_changed_inside, [(x,), (x,)], __file__, backend=backend, fullgraph=True)
    assert compiled.report.whole
    count = torch.zeros(3)
    calls = [(x, count), (x, count), (x, count)]
    program = shows_an_input_that_is_changed_inside
    assert same_program(program, calls, __file__, backend=backend, fullgraph=True).report.whole


class Twice(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * ctx.saved_tensors[0]


def moves(x: Any) -> Any:
    return Twice.apply(x).abs() + 1


def moves_at_random(x: Any) -> Any:
    return moves(torch.nn.functional.dropout(x, 0.5))


def moves_inside(x: Any) -> Any:
    return checkpoint(moves, x, use_reentrant=False) * x


def counted(y: Any) -> Any:
    return torch.stack([y] * (int(y.detach().sum()) % 5 + 1)) * torch.rand(3)


def behind_a_derivative_of_its_own(x: Any) -> Any:
    return counted(Twice.apply(x))


def behind_what_is_computed_again(x: Any) -> Any:
    return counted(checkpoint(moves, x, use_reentrant=False))


def behind_what_is_chosen(x: Any) -> Any:
    return counted(torch.cond(x.sum() > 3, grows, shrinks, (x,)))


def behind_all_of_them(x: Any) -> Any:
    return counted(checkpoint(moves_inside, x, use_reentrant=False))


def behind_what_is_drawn_again(x: Any) -> Any:
    return counted(checkpoint(moves_at_random, x, use_reentrant=False))


def energy(x: Any) -> Any:
    return (x * x.sin()).sum()


def behind_a_transform(x: Any) -> Any:
    slopes = torch.func.vmap(torch.func.grad(energy))(torch.stack([x, x * 2]))
    return counted(torch.func.grad(lambda y: energy(y) * slopes.norm())(x))


_BEHIND = [
    behind_a_derivative_of_its_own,
    behind_what_is_computed_again,
    behind_what_is_chosen,
    behind_all_of_them,
    behind_a_transform,
]


@pytest.mark.parametrize(
    ("program", "backend"),
    [
        *[(program, backend) for program in _BEHIND for backend in ("eager", "aot_eager")],
        # On backend eager torch draws other numbers in the backward, mended or not.
        (behind_what_is_drawn_again, "aot_eager"),
    ],
)
def test_a_value_behind_them_is_predicted(program: Any, backend: str) -> None:
    compiled = mended_compile(program, backend=backend)
    for i in (1, 1, 3, 1, 1, 3, 3):
        made = []
        for function in (program, compiled):
            torch.manual_seed(i)
            x = torch.full((3,), float(i), requires_grad=True)
            result = function(x)
            result.sum().backward()
            made.append((result.tolist(), x.grad.tolist(), torch.rand(1).item()))
        assert made[0] == made[1]
    assert compiled.report.whole
    assert "speculate" in {entry.mend for entry in compiled.report.mended}


def adds(y: Any) -> Any:
    total = (y * y).sum()
    if total.detach() > 3:
        print("large")
        total = total * 2
    return total


def inside_a_level(x: Any) -> Any:
    return torch.func.grad(adds)(x)


def behind_a_curve(x: Any) -> Any:
    curved = torch.func.hessian(energy)(x)
    return torch.stack([x] * (int(curved.sum()) % 3 + 1))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (inside_a_level, "a transform of `torch.func` is around it"),
        (behind_a_curve, "it hangs on derivatives that are taken forward"),
    ],
)
def test_a_value_of_a_level_is_left_to_python(program: Any, reason: str) -> None:
    calls = [(torch.full((3,), i),) for i in (1.0, 1.0, 3.0, 0.5)]
    assert f"its value is not known ahead: {reason}" in reasons(same_program(program, calls, __file__))


def spelled_behind_a_check(x: Any) -> Any:
    y = while_loop(goes_on, next_of, (torch.tensor(0), x))[1]
    if torch.isnan(y).any():
        raise ValueError("not a number")
    return torch.stack([y] * int(y.sum()))


def test_a_value_that_hangs_on_functions_is_not_tried_again_and_again() -> None:
    calls = [(torch.ones(3),) for _ in range(3)]
    compiled = same_program(spelled_behind_a_check, calls, __file__)
    (entry,) = compiled.report.left
    assert entry.reason == "its value is not known ahead: it hangs on what an operator does with functions"
    assert [entry.mend for entry in compiled.report.mended] == ["check"]

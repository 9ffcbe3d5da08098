"""Outputs that are given and data that are exchanged: who shares memory with whom stays what it is in eager."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program
from memory_layouts import BACKENDS, UNFIT, VIEW, numbers, same_layouts

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


class Holder:
    def __init__(self) -> None:
        self.out: Any = None


def fills_an_empty_one(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    holder, cell = Holder(), [out]
    holder.out = out

    def later() -> torch.Tensor:
        return out

    by_name = {"out": out}
    result = torch.add(x, 1, out=out)
    torch.mul(x, 2, out=cell[0])
    same = (result is out, cell[0] is out, holder.out is out, later() is out, by_name["out"] is out)
    return out, same, holder.out.shape, later() + 1, by_name["out"].sum(), cell[0] * 2


@BACKENDS
def test_an_empty_output_becomes_the_result(backend: str) -> None:
    compiled = same_program(fills_an_empty_one, [(numbers(),)] * 2, __file__, backend=backend)
    assert compiled.report.left == []


def keys_that_change(x: torch.Tensor) -> Any:
    out, y = torch.empty(0), torch.empty(0)
    names, kept = {out: "out", y: "y", x: "x"}, {out, y, x}
    torch.add(x, 1, out=out)
    y.data = x * 2
    x.unsqueeze_(0)
    kept.update([out, y, x])
    names[x] = "again"
    return len(kept), names[out], names[y], names[x], len(names), out, y


@BACKENDS
def test_a_key_is_found_again(backend: str) -> None:
    calls = [(numbers(),), (numbers(),)]
    compiled = same_program(keys_that_change, calls, __file__, backend=backend)
    assert compiled.report.left == []


def fills_in_inference_mode(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    with torch.inference_mode():
        torch.add(x, 1, out=out)
    return (out,)


def exchanges_what_is_of_inference(x: torch.Tensor) -> Any:
    with torch.inference_mode():
        y = torch.empty(0)
    y.data = x + 1
    return (y,)


def test_what_was_made_in_inference_mode_stays_so() -> None:
    for function in (fills_in_inference_mode, exchanges_what_is_of_inference):
        compiled = same_layouts(function, lambda: (numbers(),))
        assert reasons(compiled) == {UNFIT}
        assert compiled(numbers())[0].is_inference() == function(numbers())[0].is_inference()


def fills_two(x: torch.Tensor) -> Any:
    values, places = x.new_empty(0), torch.zeros(0, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    return values, places


@BACKENDS
def test_two_empty_outputs(backend: str) -> None:
    assert same_layouts(fills_two, lambda: (numbers(),), backend).report.left == []


def fills_what_was_used(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    view = out.view(0)
    torch.add(x, 1, out=out)
    return out, view


def fills_what_was_changed(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    same = out.zero_()
    torch.add(x, 1, out=out)
    return out, same


def fills_the_wrong_type(x: torch.Tensor) -> Any:
    out = torch.empty(0, dtype=torch.float64)
    torch.add(x, 1, out=out)
    return (out,)


def fills_with_a_product(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    torch.matmul(x, x.t(), out=out)
    return (out,)


def fills_with_columns(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    torch.add(x.t(), 1, out=out)
    return (out,)


def fills_an_input(x: torch.Tensor, out: torch.Tensor) -> Any:
    torch.add(x, 1, out=out)
    return (out,)


def fills_with_a_factor(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    torch.add(x, x, alpha=3, out=out)
    return (out,)


@pytest.mark.parametrize(
    "function",
    [
        *(fills_what_was_used, fills_what_was_changed, fills_the_wrong_type, fills_with_a_product),
        *(fills_with_columns, fills_with_a_factor),
    ],
)
def test_outputs_that_are_left(function: Any) -> None:
    assert reasons(same_layouts(function, lambda: (numbers(),))) == {UNFIT}


def test_an_input_is_not_exchanged() -> None:
    assert reasons(same_layouts(fills_an_input, lambda: (numbers(), torch.empty(0)))) == {UNFIT}


def writes_columns(x: torch.Tensor, out: torch.Tensor) -> Any:
    result = torch.sub(x, 1, out=out)
    return result is out, out * 2


@BACKENDS
def test_what_lies_in_columns_is_written(backend: str) -> None:
    calls = [(numbers(), torch.zeros(3, 2).t()), (numbers(), torch.zeros(2, 6)[:, ::2])]
    for call in calls:
        compiled = same_program(writes_columns, [call, call], __file__, backend=backend)
        assert compiled.report.left == []
        assert compiled.report.misses == 0
    # What shares memory with an operand, or with itself, is refused or written as eager does it.
    memory = torch.arange(12.0)
    shared = [(memory[:6].view(2, 3), memory[3:9].view(3, 2).t()), (memory[:6].view(2, 3), memory[6:].view(3, 2).t())]
    same_program(writes_columns, [*calls, *shared, *calls], __file__, frames=False, backend=backend)
    itself = (numbers(), torch.zeros(2, 1).expand(2, 3))
    gradients = (numbers().requires_grad_(), torch.zeros(3, 2).t())
    whole = (numbers(), torch.zeros(3, 2, dtype=torch.int64).t())
    for call in (itself, gradients, whole):
        for function in (writes_columns, mended_compile(writes_columns, backend=backend)):
            with pytest.raises(RuntimeError):
                function(*call)
            assert not call[1].any()


def writes_its_own(x: torch.Tensor) -> Any:
    y = x * 2
    torch.add(y[:, :2], 1, out=y[:, :2].t())
    return y


def writes_over_itself(x: torch.Tensor) -> Any:
    y = torch.cat([x, x[:1]])
    torch.neg(y, out=y.t())
    return y


def test_an_output_that_overlaps_an_operand_is_left() -> None:
    for function in (writes_its_own, writes_over_itself):
        compiled = same_program(function, [(numbers(),)] * 2, __file__, frames=False)
        assert UNFIT in reasons(compiled)


def writes_with_parameters(x: torch.Tensor, weight: torch.Tensor) -> Any:
    out = torch.zeros(3, 2).t()
    with torch.no_grad():
        torch.mul(x, weight, out=out)
    return out.requires_grad, out + 1


@BACKENDS
def test_parameters_without_gradients(backend: str) -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    compiled = same_program(writes_with_parameters, [(numbers(), weight)] * 2, __file__, backend=backend)
    assert compiled.report.left == []


def exchanges(x: torch.Tensor) -> Any:
    y = torch.empty(0)
    kept = [y]
    z = x * 2
    y.data = z
    z.add_(1)
    return y, kept[0], z


def exchanges_with_an_input(x: torch.Tensor, other: torch.Tensor) -> Any:
    y = x.detach()
    y.data = other
    y.add_(1)
    return y, x * 2


@BACKENDS
def test_exchanged_data_are_shared(backend: str) -> None:
    assert same_layouts(exchanges, lambda: (numbers(),), backend).report.left == []
    compiled = same_layouts(exchanges_with_an_input, lambda: (numbers(), torch.ones(4)), backend)
    assert reasons(compiled) == {VIEW}


def exchanges_what_was_used(x: torch.Tensor) -> Any:
    y = torch.ones(2, 3)
    z = y * 2
    y.data = x + 1
    return y, z


def exchanges_another_type(x: torch.Tensor) -> Any:
    y = torch.empty(0)
    y.data = x.double()
    return (y,)


def test_data_that_are_left() -> None:
    assert reasons(same_layouts(exchanges_what_was_used, lambda: (numbers(),))) == {UNFIT}
    compiled = same_program(exchanges_another_type, [(numbers(),)], __file__, frames=False)
    assert UNFIT in reasons(compiled)


def test_data_of_what_has_a_gradient_are_left() -> None:
    def trains(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y.data = x.detach() + 1
        return (y * y).sum()

    compiled = mended_compile(trains, backend="eager")
    one, other = (numbers().requires_grad_() for _ in range(2))
    trains(one).backward()
    compiled(other).backward()
    assert one.grad is not None and other.grad is not None
    assert torch.equal(one.grad, other.grad)
    assert UNFIT in reasons(compiled)

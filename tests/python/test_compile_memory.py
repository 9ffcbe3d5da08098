"""Outputs that are given, data that are exchanged, copies: who shares memory with whom stays what it is in eager."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

UNFIT = "no other call does the same with these operands"
VIEW = "an output is a view of an input that the graph changes"
BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])


def numbers() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def layouts(*tensors: torch.Tensor) -> Any:
    """How tensors lie in memory, and which of them share it."""
    memory = [each.untyped_storage().data_ptr() for each in tensors]
    shapes = [
        (each.shape, each.stride(), each.storage_offset(), each.untyped_storage().nbytes(), each.dtype)
        for each in tensors
    ]
    return shapes, [memory.index(each) for each in memory]


def same_layouts(function: Any, inputs: Any, backend: str = "eager") -> Any:
    """Asserts that results lie in memory as they do in eager, in two calls; returns the compiled twin."""
    compiled = mended_compile(function, backend=backend)
    for _ in range(2):
        args, others = inputs(), inputs()
        expected, seen = function(*args), compiled(*others)
        assert layouts(*seen, *others) == layouts(*expected, *args)
        for one, other in zip((*seen, *others), (*expected, *args), strict=True):
            assert torch.equal(one, other)
            assert vars(one) == vars(other)
    return compiled


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


def copies(x: torch.Tensor) -> Any:
    return copy.deepcopy(x), copy.deepcopy(x * 2), x


@BACKENDS
def test_copies_of_what_is_whole(backend: str) -> None:
    for make in (numbers, lambda: torch.ones(3, 2).t(), lambda: torch.tensor(3)):
        compiled = same_layouts(copies, lambda make=make: (make(),), backend)
        assert compiled.report.left == []
        assert compiled.report.misses == 0


class Keeps(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x: torch.Tensor) -> Any:
        before = copy.deepcopy(self.total)
        self.total.add_(x)
        return before, self.total * 2


@BACKENDS
def test_copies_of_buffers(backend: str) -> None:
    compiled = same_program(Keeps(), [(numbers(),)] * 3, __file__, backend=backend)
    assert compiled.report.left == []
    assert compiled.report.misses == 0


def changes_and_copies(x: torch.Tensor, y: torch.Tensor) -> Any:
    x.add_(1)
    made = copy.deepcopy(y)
    return made, y


def changes_and_fills(x: torch.Tensor, y: torch.Tensor) -> Any:
    out = torch.empty(0)
    x.add_(1)
    torch.add(y, 1, out=out)
    return out, y


def changes_and_reshapes(x: torch.Tensor, y: torch.Tensor) -> Any:
    x.unsqueeze_(0)
    x.add_(1)
    return y * 2, y


@BACKENDS
@pytest.mark.parametrize("function", [changes_and_copies, changes_and_fills, changes_and_reshapes])
def test_a_change_shows_in_what_shares_the_memory(backend: str, function: Any) -> None:
    calls = []
    for is_shared in (False, True, False, True):
        x = numbers()
        calls.append((x, x.view(2, 3) if is_shared else numbers()))
    compiled = same_program(function, calls, __file__, backend=backend)
    assert compiled.report.left == []
    assert compiled.report.misses == 2


def test_copies_of_parts_are_those_of_their_memory() -> None:
    for make in (lambda: numbers()[:, 1:], lambda: numbers()[1], lambda: torch.ones(1).expand(3)):
        same_layouts(copies, lambda make=make: (make(),))

    def of_a_view(x: torch.Tensor) -> Any:
        y = x * 2
        return copy.deepcopy(y[1]), copy.deepcopy(y[:1]), y

    assert reasons(same_layouts(of_a_view, lambda: (numbers(),))) == {UNFIT}


def test_attributes_are_copied() -> None:
    def tagged() -> tuple[torch.Tensor]:
        x = numbers()
        x.tag = [3]
        return (x,)

    same_layouts(copies, tagged)

    def tags(x: torch.Tensor) -> Any:
        y = x * 2
        y.tag = 4
        return copy.deepcopy(y), x

    compiled = mended_compile(tags, backend="eager")
    assert [vars(each) for each in compiled(numbers())] == [vars(each) for each in tags(numbers())] == [{"tag": 4}, {}]


def test_other_tensors_are_left() -> None:
    def of_a_list(x: torch.Tensor) -> Any:
        one, other = copy.deepcopy([x, x])
        return one, other

    def has_gradient() -> tuple[torch.Tensor]:
        return (torch.nn.Parameter(numbers()),)

    compiled = same_layouts(of_a_list, lambda: (numbers(),))
    assert compiled.report.left
    compiled = mended_compile(copies, backend="eager")
    with torch.no_grad():
        made, *_ = compiled(*has_gradient())
    assert type(made) is torch.nn.Parameter
    assert made.requires_grad
    assert UNFIT in reasons(compiled)


def reshapes(x: torch.Tensor, columns: torch.Tensor, held: dict[str, torch.Tensor]) -> Any:
    view, before = x.view(-1), x.shape
    same = x.unsqueeze_(0)
    columns.t_()
    torch.Tensor.transpose_(held["z"], 0, 1)
    held["x"] = x
    return same is x, x, view, before, columns * 2, held["z"] + 1, x.shape, [x]


@BACKENDS
def test_inputs_get_another_shape(backend: str) -> None:
    calls = [(torch.arange(3.0), numbers(), {"z": torch.ones(2, 4)}) for _ in range(3)]
    compiled = same_program(reshapes, calls, __file__, backend=backend)
    assert compiled.report.left == []
    assert compiled.report.graphs == 1
    assert compiled.report.misses == 0
    x = torch.arange(3.0)
    assert compiled(x, numbers(), {"z": torch.ones(2, 4)})[1] is x


def reshapes_and_changes(x: torch.Tensor) -> Any:
    view = x.view(-1)
    same = x.unsqueeze_(0)
    x.add_(1)
    return same is x, x, view


@BACKENDS
def test_what_could_not_be_undone_is_left(backend: str) -> None:
    compiled = same_program(reshapes_and_changes, [(numbers(),)] * 2, __file__, backend=backend)
    assert reasons(compiled) == {VIEW}


class Counter:
    def __init__(self) -> None:
        self.count = 0


def fails_after(x: torch.Tensor, counter: Counter, places: torch.Tensor) -> Any:
    counter.count += 1
    x.add_(1)
    made = copy.deepcopy(x)
    counter.count += 10
    return made[places]


@BACKENDS
def test_what_happened_before_a_failure_has_happened(backend: str) -> None:
    shown: list[Any] = []
    for call in (fails_after, mended_compile(fails_after, backend=backend)):
        counter = Counter()
        for place in (1, 9, 2, 9):
            x = torch.arange(3.0)
            try:
                call(x, counter, torch.tensor([place]))
            except IndexError as error:
                shown.append(str(error))
            shown.append((x.tolist(), counter.count))
    assert shown[: len(shown) // 2] == shown[len(shown) // 2 :]


def tells(x: torch.Tensor) -> Any:
    print(x.shape, x)
    x.unsqueeze_(0)
    x.add_(1)
    print(x.shape, x)
    if x.sum() < 0:
        raise ValueError(x.shape)
    return x * 2


@BACKENDS
def test_what_is_told_has_the_shape_that_it_had(backend: str) -> None:
    calls = [(torch.arange(3.0),), (-torch.arange(5.0),), (torch.arange(3.0),)]
    compiled = same_program(tells, calls, __file__, backend=backend)
    assert compiled.report.left == []
    assert compiled.report.misses == 1


def test_what_is_of_inference_mode_is_not_reshaped_outside(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for call in (tells, mended_compile(tells, backend="eager")):
        call(torch.arange(3.0))
        with torch.inference_mode():
            x = torch.arange(3.0)
        with pytest.raises(RuntimeError, match="inference"):
            call(x)
        shown.append((x.shape, capsys.readouterr().out))
    assert shown[0] == shown[1]


def reshapes_one_of_two(one: torch.Tensor, other: torch.Tensor) -> Any:
    one.t_()
    return one.shape, other.shape, other * 2, one is other


def only_reshapes(x: torch.Tensor) -> None:
    x.unsqueeze_(0)


def reshapes_twice(x: torch.Tensor) -> Any:
    x.unsqueeze_(0)
    x.transpose_(0, 1)
    return x * 2


def reshapes_what_was_changed(x: torch.Tensor) -> Any:
    same = x.add_(1)
    x.unsqueeze_(0)
    return same.shape, x * 2


@BACKENDS
def test_an_input_that_came_twice(backend: str) -> None:
    both = numbers()
    for inputs in ((both, both), (both, both.view(2, 3)), (numbers(), numbers())):
        compiled = same_program(reshapes_one_of_two, [inputs], __file__, backend=backend)
        assert compiled.report.left == []
    for function in (only_reshapes, reshapes_twice, reshapes_what_was_changed):
        same_program(function, [(numbers(),)] * 2, __file__, backend=backend)


def multiplies(x: torch.Tensor, weight: torch.Tensor) -> Any:
    x.unsqueeze_(0)
    return (x * weight).sum()


def multiplies_before(x: torch.Tensor, weight: torch.Tensor) -> Any:
    y = (x * weight).sum()
    x.unsqueeze_(0)
    return y


@BACKENDS
def test_gradients_see_what_was_saved(backend: str) -> None:
    for function in (multiplies, multiplies_before):
        shown = []
        for call in (function, mended_compile(function, backend=backend)):
            weight = torch.ones(3, requires_grad=True)
            loss = call(torch.arange(3.0), weight)
            try:
                loss.backward()
            except RuntimeError:
                shown.append("raised")
            else:
                assert weight.grad is not None
                shown.append(weight.grad.tolist())
        assert shown[0] == shown[1]


def test_the_shape_of_a_parameter_is_left() -> None:
    with torch.no_grad():
        inputs = (torch.nn.Parameter(numbers()), numbers())
        compiled = same_program(reshapes_one_of_two, [inputs], __file__)
    assert UNFIT in reasons(compiled)

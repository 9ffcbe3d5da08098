"""Copies, and inputs that are seen in another shape: who shares memory with whom stays what it is in eager."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program
from memory_layouts import BACKENDS, UNFIT, VIEW, numbers, same_layouts

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


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

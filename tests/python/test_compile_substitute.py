"""Calls that are traced as others: what fits does the same, what does not is left, and names alone prove nothing."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

import numpy as np
import torch
from compiled_calls import reasons, same_program
from torch.utils.checkpoint import checkpoint

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

UNFIT = "no other call does the same with these operands"


def numbers() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def random_forms(x: Any, whole: Any, columns: Any) -> Any:
    x.random_()
    whole.random_(7)
    y = torch.empty_like(x).random_(3, 9)
    z = torch.empty_like(x).random_(-50, 70)
    return x, whole, y, z, columns


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int16, torch.bfloat16, torch.int8])
def test_the_same_random_numbers(backend: str, dtype: torch.dtype) -> None:
    tensors = (torch.zeros(3, 4, dtype=dtype), torch.zeros(2, 5, dtype=dtype), torch.zeros(4, 3).t())
    compiled = same_program(random_forms, [tensors] * 2, __file__, backend=backend)
    assert compiled.report.left == []


def wide(x: Any) -> Any:
    y = torch.empty_like(x).random_(-100, 100)
    return y + x


def test_ranges_that_do_not_fit_are_left() -> None:
    assert same_program(wide, [(torch.ones(5, dtype=torch.int16),)], __file__).report.left == []
    assert reasons(same_program(wide, [(torch.ones(50, dtype=torch.int8),)], __file__)) == {UNFIT}


def fills(columns: Any) -> Any:
    columns.random_(0, 9)
    return columns * 2


def test_random_numbers_in_another_order_are_left() -> None:
    compiled = same_program(fills, [(torch.zeros(4, 3).t(),)], __file__)
    assert reasons(compiled) == {UNFIT}


class Buffer:
    """Has methods of the same names, which do something else."""

    def __init__(self) -> None:
        self.sizes: list[Any] = []

    def resize_(self, *size: int) -> int:
        self.sizes.append(size)
        return len(size)


def resizes(x: torch.Tensor, buffer: Any) -> Any:
    y = torch.zeros(2, 3)
    factor = buffer.resize_(2, 3) + y.resize_(2, 3).sum()
    return x * factor, buffer.sizes


def test_names_prove_nothing() -> None:
    compiled = same_program(resizes, [(numbers(), Buffer())], __file__)
    assert compiled.report.left == []

    def groupby(items: Any, key: Any) -> Any:
        return [(0, items)]

    def groups(x: torch.Tensor) -> Any:
        for _, group in groupby([x, x], None):
            x = x + sum(group)
        for _, group in itertools.groupby([1, 1, 2], abs):
            x = x * sum(group)
        return x

    compiled = mended_compile(groups, backend="eager")
    assert torch.equal(compiled(numbers()), groups(numbers()))
    assert compiled.report.left == []


def groups_halfway(x: torch.Tensor, seen: list[Any]) -> Any:
    def key(item: int) -> int:
        seen.append(item)
        return item // 3

    kept = []
    for number, group in itertools.groupby(iter([0, 1, 2, 3, 4, 8]), key):
        kept.append((number, next(group), group))  # noqa: B031 - that is what is tested
        seen.append("next")
        if number == 1:
            break
    return x * len(kept), [list(group) for _, _, group in kept]


def test_groups_are_as_lazy_as_they_are() -> None:
    compiled = same_program(groups_halfway, [(numbers(), [])], __file__)
    assert compiled.report.left == []


def groups_of_no_number(x: torch.Tensor, nan: float) -> Any:
    sizes = []
    for _, group in itertools.groupby([nan, nan], lambda item: item):
        sizes.append(len(list(group)))
    count = 0
    for _ in itertools.groupby([nan, nan, 1.0], lambda item: item):
        count += 1
    return x * count, sizes


def test_the_same_object_is_one_group() -> None:
    nan = float("nan")
    compiled = mended_compile(groups_of_no_number, backend="eager")
    for call in (groups_of_no_number, compiled):
        y, sizes = call(numbers(), nan)
        assert torch.equal(y, numbers() * 2)
        assert sizes == [2]
    assert compiled.report.left == []
    assert "substitute" in {entry.mend for entry in compiled.report.mended}


def noted(x: torch.Tensor, seen: list[int]) -> Any:
    def body(x: torch.Tensor) -> torch.Tensor:
        seen.append(1)
        return (x * x).sin()

    return checkpoint(body, x, use_reentrant=False) + 1


def test_checkpoints_with_gradients_are_left() -> None:
    seen: list[int] = []
    compiled = mended_compile(noted, backend="eager")
    compiled(numbers().requires_grad_(), seen).sum().backward()
    assert seen == [1, 1]
    assert UNFIT in reasons(compiled)
    with torch.no_grad():
        compiled(numbers(), seen)
    assert seen == [1, 1, 1]


def test_a_second_compile_reports_the_same() -> None:
    found = []
    for _ in range(2):
        compiled = mended_compile(resizes, backend="eager")
        compiled(numbers(), Buffer())
        found.append([(entry.line, entry.mend) for entry in compiled.report.mended])
    assert found[0] == found[1] != []


class ToldError(AssertionError):
    """A class of the program's own."""


def asserts(x: torch.Tensor, kind: type[AssertionError]) -> Any:
    kept = []
    try:
        raise AssertionError({"dim": x.dim()}, x)
    except AssertionError as error:
        kept.append(error.args[0])
        y = error.args[1] * 2
    try:
        raise kind(x.shape[0])
    except AssertionError as error:
        kept.append(error.args)
    made = AssertionError([x])
    return y, kept, type(made) is AssertionError, made.args[0][0] is x


def test_an_assertion_error_is_made_of_anything() -> None:
    compiled = same_program(asserts, [(numbers(), ToldError)] * 2, __file__)
    assert compiled.report.left == []


def asserts_and_leaves(x: torch.Tensor) -> Any:
    y = x * 2
    if x.dim() == 2:
        raise AssertionError({"dim": x.dim()})
    return y


def test_an_assertion_error_leaves_as_it_is() -> None:
    same_program(asserts_and_leaves, [(numbers(),), (numbers()[0],)] * 2, __file__, frames=False)


def returns_the_error(x: torch.Tensor) -> Any:
    return AssertionError({"factor": 2}, 3), x * 2


def test_an_assertion_error_that_is_returned_is_one() -> None:
    compiled = mended_compile(returns_the_error, backend="eager")
    for _ in range(2):
        error, y = compiled(numbers())
        assert type(error) is AssertionError
        assert error.args == ({"factor": 2}, 3)
        assert torch.equal(y, numbers() * 2)
    assert compiled.report.left == []


def reduces(rows: Any) -> Any:
    largest = np.maximum.reduce(rows)
    smallest = np.minimum.reduce(rows, axis=1)
    total = np.add.reduce(rows, axis=-1)
    return rows - largest, smallest, total


def bare(arrays: Any) -> Any:
    return [(type(each), each.dtype, each.strides, each.tolist()) for each in arrays]


def test_reductions_of_whole_numbers() -> None:
    rows = np.array([[3, 1, 2], [0, 5, -2]])
    for array, is_whole in ((rows, True), (np.stack([rows, rows * 2]), True), (rows.astype("float32"), False)):
        compiled = mended_compile(reduces, backend="eager")
        for _ in range(2):
            assert bare(compiled(array)) == bare(reduces(array))
        assert (compiled.report.left == []) is is_whole
    # A sum of narrow numbers is wider, a column's is no array but a number, and the layout is the operand's.
    for array in (rows.astype("int16"), np.asfortranarray(np.stack([rows, rows * 2]))):
        compiled = mended_compile(reduces, backend="eager")
        assert bare(compiled(array)) == bare(reduces(array))
        assert UNFIT in reasons(compiled)


def reduces_a_row(row: Any) -> Any:
    return np.maximum.reduce(row), row * 2


def test_a_reduction_to_a_number_is_left() -> None:
    compiled = mended_compile(reduces_a_row, backend="eager")
    assert type(compiled(np.array([1, 2]))[0]) is type(reduces_a_row(np.array([1, 2]))[0])
    assert reasons(compiled) == {UNFIT}


def draws(x: Any) -> Any:
    if random.random() < 0.5:
        x = x * random.random()
    return x + random.random(), random.random()


def test_numbers_that_python_draws() -> None:
    compiled = same_program(draws, [(torch.ones(2),)] * 6, __file__)
    assert not any("random.random" in entry.message for entry in compiled.report.left)


def scales(x: Any) -> Any:
    print("scaled", x.sum())
    y = x * random.uniform(0.5, 1.0)
    print("by a number")
    return y


@pytest.mark.parametrize("x", [torch.tensor(2.0), torch.arange(3), torch.tensor(2.0, dtype=torch.float16)], ids=str)
def test_a_drawn_number_does_not_decide_the_type(x: torch.Tensor) -> None:
    compiled = same_program(scales, [(x,)] * 3, __file__)
    assert [entry.gb_type for entry in compiled.report.left] == ["A number of `random` decides a type"]


def test_a_drawn_number_and_a_row() -> None:
    compiled = same_program(scales, [(torch.ones(3),)] * 3, __file__)
    assert compiled.report.left == []


def drops_layers(x: Any, drawn_inside: bool = False) -> Any:
    share = random.random()

    def layer(x: Any, share: Any = 1.0) -> Any:
        return (x * 2).abs() * share

    y = checkpoint(layer, x, share, use_reentrant=False) if drawn_inside else checkpoint(layer, x, use_reentrant=False)
    print("layer", y.sum())
    return y * share if share > 0.01 else y


@pytest.mark.parametrize("drawn_inside", [False, True])
def test_a_drawn_number_and_a_checkpoint(drawn_inside: bool) -> None:
    compiled = same_program(drops_layers, [(torch.ones(3), drawn_inside)] * 3, __file__)
    assert compiled.report.left == []


def test_a_drawn_number_does_not_decide_the_type_inside_of_a_checkpoint() -> None:
    compiled = same_program(drops_layers, [(torch.arange(3), True)] * 3, __file__)
    assert "A number of `random` decides a type" in [entry.gb_type for entry in compiled.report.left]


def marks_addresses(x: Any) -> Any:
    cache, other = torch.zeros(2, 3), torch.ones(2, 3)
    torch._dynamo.mark_static_address(cache)
    torch._dynamo.mark_static_address(x, guard=True)
    torch._dynamo.mark_static_address(other, True)
    cache.add_(x)
    return cache, other * 2


# Plain `torch.compile` raises there.
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_tensors_marked_for_dynamo(backend: str) -> None:
    compiled = mended_compile(marks_addresses, backend=backend)
    for _ in range(3):
        x, y = numbers(), numbers()
        (cache, other), (expected_cache, expected_other) = compiled(x), marks_addresses(y)
        assert torch.equal(cache, expected_cache) and torch.equal(other, expected_other)
        assert [each.__dict__ for each in (cache, other, x)] == [
            each.__dict__ for each in (expected_cache, expected_other, y)
        ]
    assert compiled.report.whole
    assert {each.mend for each in compiled.report.mended} == {"substitute"}


def marks_anything(x: Any, marked: Any) -> Any:
    torch._dynamo.mark_static_address(marked)
    return x + 1


def test_what_cannot_be_marked_raises_as_in_eager() -> None:
    compiled = mended_compile(marks_anything, backend="eager")
    with pytest.raises(TypeError, match="mark_static_address expects a tensor but received"):
        compiled(numbers(), 3)
    assert torch.equal(compiled(numbers(), numbers()), numbers() + 1)

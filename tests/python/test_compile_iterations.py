"""What `for` goes through, and generators that are closed: objects from outside, as each call finds them."""

from __future__ import annotations

import array
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

UNFIT = "no other call does the same with these operands"
BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])


def numbers() -> torch.Tensor:
    return torch.arange(1.0, 4.0)


def through(x: torch.Tensor, values: Any) -> Any:
    for value in values:
        x = x * 2 + value
    later = [x + value for value in values]
    return x, later


def same(compiled: Any, values: Any) -> None:
    """Asserts that a call gives what eager gives, with the very same values."""
    expected, seen = through(numbers(), values), compiled(numbers(), values)
    for one, other in zip((expected[0], *expected[1]), (seen[0], *seen[1]), strict=True):
        assert torch.equal(one, other)
        assert one.dtype == other.dtype


@BACKENDS
def test_arrays_are_read_anew(backend: str) -> None:
    compiled = mended_compile(through, backend=backend)
    whole = array.array("i", [1, 2])
    same(compiled, whole)
    assert compiled.report.left == []
    whole[0] = 7
    same(compiled, whole)
    whole.append(5)
    same(compiled, whole)
    same(compiled, array.array("d", [1.5, -0.0]))
    same(compiled, array.array("b", [1, 2]))
    same(compiled, array.array("i"))
    assert compiled.report.left == []


def test_bytes_that_change() -> None:
    compiled = mended_compile(through, backend="eager")
    values = bytearray(b"ab")
    same(compiled, values)
    values[1] = 3
    same(compiled, values)
    assert compiled.report.left == []


def test_graphs_are_found_again() -> None:
    compiled = mended_compile(through, backend="eager")
    for _ in range(20):
        same(compiled, array.array("i", [1, 2]))
    assert compiled.report.graphs == 1


class Twice(array.array):  # type: ignore[type-arg]
    """Goes through its numbers in its own way."""

    def __iter__(self) -> Iterator[Any]:
        return iter([each * 2 for each in self.tolist()])


def test_classes_of_the_program_go_their_own_way() -> None:
    same(mended_compile(through, backend="eager"), Twice("i", [1, 2]))


class Rows(set):  # type: ignore[type-arg]
    pass


@BACKENDS
def test_sets_of_tensors_in_their_own_order(backend: str) -> None:
    compiled = mended_compile(through, backend=backend)
    kept = []
    for i in range(6):
        values = {torch.full((3,), float(i + k)) for k in range(3)}
        kept.append(values)
        same(compiled, values)
    assert compiled.report.left == []
    assert compiled.report.graphs == 1
    values.pop()
    same(compiled, values)
    values.add(torch.ones(1, dtype=torch.float64))
    same(compiled, values)
    same(compiled, values)
    assert compiled.report.left == []


def test_other_sets() -> None:
    for values in ({torch.ones(3), 2}, Rows([torch.ones(3)]), set(), frozenset([torch.ones(3)])):
        compiled = mended_compile(through, backend="eager")
        same(compiled, values)
        same(compiled, values)


@BACKENDS
def test_what_is_in_a_set_is_an_input_like_others(backend: str) -> None:
    def adds(x: torch.Tensor, values: set[torch.Tensor]) -> Any:
        found = []
        for value in values:
            with torch.no_grad():
                value.add_(1)
            found.append(value is x)
            x = x * value
        return x.sum(), found

    shown = []
    for function in (adds, mended_compile(adds, backend=backend)):
        weight, x = torch.nn.Parameter(torch.ones(3) * 3), numbers()
        total, found = function(x, {weight})
        total.backward()
        again, same_one = function(x, {x})
        shown.append((total.item(), found, weight.tolist(), weight.grad, again.item(), same_one, x.tolist()))
    one, other = shown
    assert torch.equal(one[3], other[3])
    assert one[:3] == other[:3]
    assert one[4:] == other[4:]


def closes(x: torch.Tensor, values: Any) -> Any:
    y = x * 2
    values.close()
    return y + 1


def steps(seen: list[str]) -> Iterator[int]:
    try:
        yield 1
    finally:
        seen.append("closed")


def test_only_what_has_ended_is_closed_in_a_graph() -> None:
    compiled = mended_compile(closes, backend="eager")
    seen: list[str] = []
    ended = steps(seen)
    assert list(ended) == [1]
    for _ in range(2):
        assert torch.equal(compiled(numbers(), ended), closes(numbers(), ended))
    assert compiled.report.left == []
    assert seen == ["closed"]
    begun = steps(seen)
    next(begun)
    assert torch.equal(compiled(numbers(), begun), closes(numbers(), ended))
    assert seen == ["closed", "closed"]
    assert next(begun, None) is None
    waiting = steps(seen)
    compiled(numbers(), waiting)
    assert next(waiting, None) is None
    assert seen == ["closed", "closed"]
    assert reasons(compiled) == {UNFIT}


class Source:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_other_things_are_closed_as_they_are() -> None:
    def closes_both(x: torch.Tensor, values: Any, source: Source) -> Any:
        if values.close() is None:
            source.close()
        return x * source.closed

    compiled = mended_compile(closes_both, backend="eager")
    ended, source = steps([]), Source()
    list(ended)
    assert torch.equal(compiled(numbers(), ended, source), numbers())
    assert source.closed == 1
    assert compiled.report.left == []


def gives(x: torch.Tensor, held: dict[str, Any]) -> Any:
    made = {"a": x, "b": x + 1}
    return x * 2, iter(made.items()), made, iter(held), iter(held.values())


@BACKENDS
def test_iterators_that_leave_a_graph(backend: str) -> None:
    compiled = mended_compile(gives, backend=backend)
    for _ in range(2):
        for function in (gives, compiled):
            held = {"c": 1, "d": 2}
            _, items, made, keys, values = function(numbers(), held)
            assert [type(each).__name__ for each in (items, keys, values)] == [
                *("dict_itemiterator", "dict_keyiterator", "dict_valueiterator")
            ]
            name, first = next(items)
            assert name == "a"
            assert torch.equal(first, numbers())
            made["c"] = 3
            with pytest.raises(RuntimeError):
                next(items)
            held["d"] = 5
            assert list(values) == [1, 5]
            assert list(keys) == ["c", "d"]
    assert compiled.report.left == []


def gives_one_begun(x: torch.Tensor) -> Any:
    values = {"a": 1, "b": 2}.values()
    it = iter(values)
    return x * next(it), it


def gives_one_that_is_void(x: torch.Tensor) -> Any:
    made = {"a": 1, "b": 2}
    it = iter(made.values())
    made["c"] = 3
    return x * 2, it


def gives_one_of_what_is_changed(x: torch.Tensor, held: dict[str, int]) -> Any:
    held["e"] = 4
    return x * 2, iter(held)


def gives_one_twice(x: torch.Tensor) -> Any:
    both = x * 2
    return both, (it := iter({"a": 1, "b": 2})), it


def test_iterators_that_were_used() -> None:
    def rest(given: Any) -> Any:
        try:
            return list(given)
        except RuntimeError as error:
            return str(error)

    for function in (gives_one_begun, gives_one_that_is_void):
        compiled = mended_compile(function, backend="eager")
        for _ in range(2):
            expected, seen = function(numbers()), compiled(numbers())
            assert torch.equal(expected[0], seen[0])
            assert rest(expected[1]) == rest(seen[1])
    compiled = mended_compile(gives_one_of_what_is_changed, backend="eager")
    for _ in range(2):
        one, other = {"a": 1}, {"a": 1}
        expected, seen = gives_one_of_what_is_changed(numbers(), one), compiled(numbers(), other)
        assert rest(expected[1]) == rest(seen[1]) == ["a", "e"]
        assert one == other
    compiled = mended_compile(gives_one_twice, backend="eager")
    _, one_it, other_it = compiled(numbers())
    assert one_it is other_it

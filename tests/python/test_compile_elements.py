"""Elements at positions that tensors say, values that are counted, and operands that decide: as Python has them."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = [
    [[1.0, -2.0, 3.0, 0.5], [0.0, 1.0, 2.0, 2.0]],
    [[4.0, 1.0, 1.0, 1.0], [9.0, 0.0, -2.0, 2.0]],
    [[1.0, 1.0, 1.0, 7.0], [0.0, 0.0, 0.0, 0.0]],
]
CALLS = [(torch.tensor(rows),) for rows in (*ROWS, ROWS[0])]


def best_row(x: Any) -> Any:
    return x[x.sum(1).argmax()], x[x.sum(1).argmin().to(torch.int32)] * 2


def best_of_each(x: Any) -> Any:
    i, j = x.sum(1).argmax(), x.sum(0).argmax()
    return x[:, j], x[i, j], x[1, j], x[None, :, j], x[i, 1:], x[i][j], x[..., j], x[i, ...], x[None, ..., i, None, j]


def sets_an_element(x: Any) -> Any:
    y = x.clone()
    y[x.sum(1).argmax()] = 7
    y[x.sum(1).argmin()] += 1
    return y


def sets_elements_of_each(x: Any) -> Any:
    y, z = x.clone(), torch.zeros(2, 2, 4, dtype=torch.float64)
    i, j = x.sum(1).argmax(), x.sum(0).argmax()
    y[:, j] = 7
    y[i, 1:] = x[i, 1:] * 2
    y[..., j] -= x[i, j]
    y[i, j] += 0.5
    z[i] = x
    z[..., i, j] = torch.ones(1, 1, 2)
    z[:, i, :3] *= 3
    return y, z


def shows_an_element(x: Any) -> Any:
    best = x.sum(1).argmax()
    print("best", best.item(), x[best])
    if x[best].max() > 8:
        raise ValueError("large")
    return x[best]


@pytest.mark.parametrize("function", [best_row, best_of_each, sets_an_element, sets_elements_of_each, shows_an_element])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_elements_at_positions_of_tensors(function: Any, backend: str) -> None:
    compiled = same_program(function, CALLS, __file__, frames=False, backend=backend, fullgraph=True, speculate=False)
    # A position is a symbol: there is one graph for all.
    assert compiled.report.graphs == 1


def sets_what_has_a_history(x: Any) -> Any:
    number = x.sum().item()
    i = x[0].argmax()
    y = torch.zeros(4, 4)
    y[:, i] = x.sum(0)
    print("parts", x[i % 2, 1:], x[i % 2, ..., None], x[None, :, i])
    return (y * 2 if y.requires_grad else y), number


def test_what_is_set_has_the_history_of_its_parts() -> None:
    calls = [(x.clone().requires_grad_(),) for (x,) in CALLS]
    same_program(sets_what_has_a_history, calls, __file__, fullgraph=True)


def test_an_element_is_a_view() -> None:
    compiled = mended_compile(lambda x: x[x.sum(1).argmax()], backend="eager", fullgraph=True)
    for (x,) in CALLS:
        row = compiled(x)
        assert row.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        assert row.storage_offset() == 4 * int(x.sum(1).argmax())


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_of_elements(backend: str) -> None:
    def loss(x: Any) -> Any:
        return (x[x.sum(1).argmax()] * x[:, x.sum(0).argmax()].sum()).sum()

    compiled = mended_compile(loss, backend=backend, fullgraph=True)
    for (x,) in CALLS:
        ours, theirs = (x.clone().requires_grad_() for _ in range(2))
        compiled(ours).backward()
        loss(theirs).backward()
        assert torch.equal(ours.grad, theirs.grad)


def of_lists_too(x: Any) -> Any:
    i = x.sum(1).argmax()
    rows = [x, x + 1]
    return rows[i], x[i], torch.stack(rows)[i, 1:], {0: "first", 1: "second"}[int(i)], x[x > 0][i]


def test_a_position_that_python_needs_is_predicted() -> None:
    compiled = same_program(of_lists_too, [*CALLS, *CALLS[:2]], __file__)
    assert not reasons(compiled)


def too_far(x: Any) -> Any:
    return x[x.long().max()]


def test_a_position_that_is_not_there_raises_as_in_eager() -> None:
    calls = [(torch.tensor([0.0, 1.0, 1.0]),), (torch.tensor([0.0, 5.0, 1.0]),), (torch.tensor([2.0, -3.0, 0.0]),)]
    same_program(too_far, calls, __file__)


def of_each_kind(x: Any) -> Any:
    kinds = x.long()
    means = [x[kinds == kind].mean() for kind in kinds.unique()]
    for kind in torch.unique(kinds): means.append(kind * 2)  # fmt: skip  # noqa: E701
    return means


def with_counts(x: Any) -> Any:
    values, places, counts = torch.unique(x.long(), return_inverse=True, return_counts=True)
    again, times = (x > 0).unique(True, False, True)
    return {int(value): int(count) for value, count in zip(values, counts)}, values[places], list(again), times.tolist()  # noqa: B905


def in_a_row(x: Any) -> Any:
    values, counts = torch.unique_consecutive(x, return_counts=True)
    runs, places = x[1].unique_consecutive(return_inverse=True)
    return [v.item() for v in values], counts.tolist(), len(runs), [r + 1 for r in runs], places


def histogram(x: Any) -> Any:
    counts = torch.bincount(x.abs().long().flatten())
    return [count * 2 for count in counts.tolist()], list(x[1].abs().long().bincount(minlength=6))


@pytest.mark.parametrize("function", [of_each_kind, with_counts, in_a_row, histogram])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_values_that_are_counted(function: Any, backend: str) -> None:
    compiled = same_program(function, CALLS, __file__, backend=backend)
    assert not reasons(compiled)


def test_a_histogram_of_negative_numbers_raises_as_in_eager() -> None:
    def counts(x: Any) -> Any:
        return torch.bincount(x).tolist()

    calls = [(torch.tensor([1, 2, 2]),), (torch.tensor([1, -2, 2]),), (torch.tensor([1, 2, 0]),)]
    same_program(counts, calls, __file__, frames=False)


def operands(x: Any, given: Any = None) -> Any:
    kept = given or x.max() > 3 or x.sum()
    both = x.sum() > 2 and x.max() > 3 and "both"
    neither = not (x.sum() > 2 or x.max() > 3)
    return kept, both, neither, x.sum() > 2 and [x.min()], (x.min() < -1) or "none"


def test_operands_that_decide() -> None:
    compiled = same_program(operands, [*CALLS, (CALLS[0][0], "given")], __file__)
    assert not reasons(compiled)


def evaluates_what_it_must(x: Any, told: Any) -> Any:
    first = (x.sum() > 5 and told.append("and")) or told.append("or")
    return first, not (x.sum() > 5) or told.append("last")


def test_what_is_not_reached_is_not_evaluated() -> None:
    compiled = mended_compile(evaluates_what_it_must, backend="eager")
    for (x,) in CALLS:
        ours: list[str] = []
        theirs: list[str] = []
        assert compiled(x, ours) == evaluates_what_it_must(x, theirs) and ours == theirs
    assert not reasons(compiled)


def functions_of_numbers(x: Any) -> Any:
    return x[:, : math.ceil(x.max() / 4)], math.sqrt(x.sum().abs()), math.floor(x.mean()), math.gcd(x.long().max(), 4)


def test_functions_of_numbers_that_are_tensors() -> None:
    compiled = same_program(functions_of_numbers, CALLS, __file__)
    assert not reasons(compiled)


def on_one_line(x: Any) -> Any:
    while x.sum() < 20: x = x * 2 + 1  # fmt: skip  # noqa: E701
    return x


def test_a_loop_on_one_line() -> None:
    assert not reasons(same_program(on_one_line, CALLS, __file__))


def reads_beyond(x: Any, i: Any) -> Any:
    i = i + 0
    return x + 1, x[i] * 2, x.select(1, int(i) - 1), x[0][i.item()]


def reads_beyond_in_vain(x: Any, i: Any) -> Any:
    x[i + 0]
    torch.select(x, 1, int(i * 1))
    return x + 1


def sets_beyond(x: Any, i: Any) -> Any:
    y = x.clone()
    y[i + 0] = 5
    y[:, i + 0] = 6
    return y


def reads_from_the_end(x: Any, i: Any) -> Any:
    return x[-1 - int(i * 1)] + x[-(i + 1)]


@pytest.mark.parametrize("function", [reads_beyond, reads_beyond_in_vain, sets_beyond, reads_from_the_end])
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_position_that_is_none_of_the_tensor(function: Any, backend: str) -> None:
    calls = [(torch.arange(4.0).reshape(2, 2), torch.tensor(i)) for i in (0, 1, 2, -1, -2, -3, 5, 1)]
    compiled = same_program(function, calls, __file__, frames=False, backend=backend)
    assert compiled.report.whole or (function is sets_beyond and backend == "inductor"), compiled.report


class Asked:
    def __getitem__(self, key: Any) -> Any:
        return key.start, key.stop


def slices_of_tensors(x: Any, count: Any, end: Any) -> Any:
    number = int(count)
    to_the_end, between = slice(end), slice(number, end)
    print("between", between.start, between.stop)
    return x * number, to_the_end, between, between.stop, x[to_the_end], (x * 2)[between], Asked()[:end], Asked()[end:]


def test_slices_have_what_they_were_given() -> None:
    compiled = mended_compile(slices_of_tensors, backend="eager", fullgraph=True)
    for count, end in ((1, 3), (2, 2), (0, 4), (1, -1)):
        given = (torch.arange(6.0), torch.tensor(count), torch.tensor(end))
        assert repr(compiled(*given)) == repr(slices_of_tensors(*given))
    assert compiled.report.whole


def between_marks(words: Any) -> Any:
    """Which words belong together, and how far behind a mark each of them stands."""
    count = words.shape[1]
    found = torch.nonzero((words == 9) | (words == 8))
    together = torch.eye(count).bool().repeat(words.shape[0], 1, 1)
    places = torch.zeros(words.shape)
    before = 0
    for k in range(found.shape[0]):
        row, column = found[k]
        if column == 0 or column == count - 1:
            together[row, column, column] = True
            places[row, column] += 1
        else:
            together[row, before + 1 : column + 1, before + 1 : column + 1] = True
            places[row, before + 1 : column + 1] = torch.arange(0, column - before)
        before = column
    return together, places


def test_what_is_written_at_positions_that_python_asks_for() -> None:
    words = [[[9, 1, 2, 8, 3, 9]], [[9, 1, 8, 2, 3, 9]]]
    compiled = same_program(between_marks, [(torch.tensor(words[k % 3 == 2]),) for k in range(9)], __file__)
    assert compiled.report.whole and compiled.report.misses <= 5


class Written(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.kept = torch.zeros(4)

    def forward(self, x: Any, key: Any) -> Any:
        last = x.argmax()
        known = {last: "tensor"}
        known[key] = "key"
        counts = [0, 0, 0, 0]
        if last > 1:
            counts[last] = 1
        self.kept[last] = x.sum()
        y = x.clone()
        y[x.argmax(0, keepdim=True)] = 7
        y[x > 2] = -1
        y[[x.argmin()]] = 0.5
        return y, counts * last, [type(each).__name__ for each in known], known[key], self.kept.clone()


def test_what_is_written_where_a_tensor_says() -> None:
    key = torch.tensor(0)
    for speculate in (True, False):
        compiled, original = mended_compile(Written(), backend="eager", speculate=speculate), Written()
        for row in ([1.0, 0.0, 5.0, 2.0], [1.0, 0.0, 5.0, 2.0], [3.0, 0.0, 1.0, 2.0], [1.0, 4.0, 5.0, 9.0]):
            x = torch.tensor(row)
            assert str(compiled(x, key)) == str(original(x, key))


def has_sizes(x: Any, lengths: Any) -> Any:
    longest = lengths.max()
    y = x[: longest + 1, None].repeat(1, 2)
    if list(y.size()) != [longest + 1, 2]:
        raise ValueError(f"not {longest}")
    return y * 2, y.shape[:1] == (longest,), (lengths.min() + 1, 2) != y.shape


def test_sizes_that_are_compared_as_a_list() -> None:
    calls = [(torch.ones(4), torch.tensor(row)) for row in ([1, 1], [1, 2], [1, 2], [1, 2], [0, 2], [0, 1])]
    assert same_program(has_sizes, calls, __file__).report.whole


def has_others(x: Any, lengths: Any) -> Any:
    least = lengths.min()
    return x * 2, [least.to(torch.int8), 2] == [300, 2], [least, "a"] != [16777216.0, "a"], [lengths] == [lengths]


def test_what_else_is_compared_as_a_list() -> None:
    same_program(has_others, [(torch.ones(2), torch.tensor([n])) for n in (44, 44, 16777217, 16777217)], __file__)

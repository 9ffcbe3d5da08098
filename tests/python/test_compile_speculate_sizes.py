"""Tensors where torch wants numbers, sizes above all, and where Python asks a tensor's elements one by one."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_tensor_among_the_sizes_of_what_has_no_name() -> None:
    class Odd:
        """Not a tensor: what it is given stays what it is."""

        def view(self, *sizes: Any, **named: Any) -> Any:
            return [type(each).__name__ for each in (*sizes, *named.values())]

    def chunked(x: Any) -> Any:
        n = torch.div(x.size(0), 2, rounding_mode="trunc")
        rows = (
            (x + 1)
            .t()
            .reshape(
                3,
                n,
                -1,
            )
        )
        return rows, (x * 2).view((n, -1)), x.sin().view(size=[n, -1]), Odd().view(n, named=n)

    calls = [(torch.arange(3.0 * n).reshape(n, 3),) for n in (4, 8, 10)]
    assert same_program(chunked, calls, __file__).report.whole


def test_a_tensor_among_the_sizes_of_a_function() -> None:
    def padded(x: Any, step: Any) -> Any:
        paddings = (step, torch.ceil(x.shape[-1] / step).to(torch.int64) * step - x.shape[-1])
        longest = max(*paddings)
        more = 0
        if x.shape[-1] <= longest:
            more = longest - x.shape[-1] + 1
            x = torch.nn.functional.pad(x, (0, more))
        ends = torch.nn.functional.pad(x, pad=paddings, mode="reflect")
        return ends[..., : ends.shape[-1] - more], torch.nn.functional.pad(x, paddings, "constant", 2)

    calls = [(torch.arange(float(n)).reshape(1, 1, n), torch.tensor(2)) for n in (9, 9, 10, 2)]
    assert same_program(padded, calls, __file__).report.whole


def test_sizes_that_an_image_gets() -> None:
    def scaled(image: Any, masks: Any) -> Any:
        heights, widths = masks[:, :, 0].sum(1), masks[:, 0, :].sum(1)
        sized = [torch.nn.functional.interpolate(image, size=(h, w)) for h, w in zip(heights, widths, strict=True)]
        return sized, torch.nn.functional.interpolate(image, (heights[0], 2), mode="nearest")

    masks = [torch.zeros(2, 4, 4, dtype=torch.int64) for _ in range(3)]
    for mask, n in zip(masks, (2, 2, 3), strict=True):
        mask[:, :n, :4] = 1
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert same_program(scaled, [(image, mask) for mask in masks], __file__).report.whole


def test_positions_that_are_not_wanted_as_a_tuple() -> None:
    def found(x: Any) -> Any:
        rows = x.nonzero(as_tuple=False)
        return [row + 1 for row in rows], rows.stride(), len(torch.nonzero(x, as_tuple=False).tolist())

    calls = [(torch.tensor(row),) for row in ([1, 0, 2], [1, 0, 2], [0, 0, 3], [0, 0, 0])]
    assert same_program(found, calls, __file__).report.whole


def test_a_tensor_among_the_sizes_of_what_is_filled() -> None:
    def masks(positions: Any) -> Any:
        rows, columns = positions.shape[0], positions[-1] + 1
        full = torch.full((rows, columns), fill_value=-1.0)
        return full, torch.full(size=[columns], fill_value=1), torch.full([columns], columns, dtype=torch.int64)

    calls = [(torch.arange(n, dtype=torch.int32),) for n in (3, 3, 5)]
    assert same_program(masks, calls, __file__).report.whole


def test_sizes_that_a_name_holds() -> None:
    def strided(x: Any) -> Any:
        n = torch.div(x.size(0), 2, rounding_mode="trunc")
        size, stride = [n, 2], (2, 1)
        return x.as_strided(size=size, stride=stride) + 1, size[0], x.reshape(size)

    assert same_program(strided, [(torch.arange(float(n)),) for n in (4, 8, 10)], __file__).report.whole


def test_a_step_that_is_a_fraction() -> None:
    def coordinates(mask: Any) -> Any:
        return torch.arange(0, 1 - 1e-6, 1 / mask.sum()), torch.linspace(0, 1 / mask.sum(), 3)

    masks = [torch.tensor([True] * n + [False] * (9 - n)) for n in (7, 7, 3, 1)]
    assert same_program(coordinates, [(mask,) for mask in masks], __file__).report.whole


@pytest.mark.parametrize("name", ["any", "all"])
def test_truths_of_a_tensor_one_by_one(name: str) -> None:
    def some(x: Any) -> Any:
        if not any(x):
            x[0] = 1
        return x * 2, any(x), all(x)

    def every(x: Any) -> Any:
        return [x + 1] if all(x) else x - 1

    rows = [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [2.0, math.nan], [-0.0, -0.0]]
    calls = [(torch.tensor(row),) for row in rows]
    assert same_program({"any": some, "all": every}[name], calls, __file__).report.whole
    # Rows of more than one element have no truth.
    same_program(every, [(torch.ones(2, 2),), (torch.ones(2, 1),)], __file__)


def test_what_is_left_is_told_by_every_report() -> None:
    def failing(x: Any) -> Any:
        count = int(x.max())
        # Of this, behind a number that is traced, Dynamo says that it cannot be; of the rest after a break it does not.
        return torch.zeros(count) + torch.as_tensor([x.sum()])

    reports = []
    for _ in range(2):
        torch._dynamo.reset()
        reports.append(same_program(failing, [(torch.ones(3),)], __file__).report)
    assert [[entry.line for entry in report.left] for report in reports] == [[failing.__code__.co_firstlineno + 1]] * 2


def test_a_slice_that_is_left_inside_of_a_mode() -> None:
    """Of a slice that crosses a break inside of a mode, Dynamo forgets the bounds."""

    def sliced(x: Any) -> Any:
        print("shape", x.shape)
        x.mul_(0.5)
        return (x * 1)[:, : (x[0] > 0.5).sum()]

    def on_the_cpu(function: Any) -> Any:
        with torch.device("cpu"):
            return [function(torch.full((3, 4), value)).shape for value in (0.7, -1.0, 1.5)]

    assert on_the_cpu(sliced) == on_the_cpu(mended_compile(sliced, backend="eager"))


def trims(x: Any, lengths: Any) -> Any:
    return (x[:, : lengths.max()] * 2).sum(0), x.new_ones(lengths.min(), 2)


def one_after_the_other(x: Any, lengths: Any) -> Any:
    ends = lengths.cumsum(0)
    result, start = torch.zeros_like(x), torch.zeros((), dtype=torch.long)
    for i in range(2):
        result[start : ends[i]] = x[start : ends[i]] * (i + 1)
        start = ends[i]
    return result


def as_many_times(x: Any, lengths: Any) -> Any:
    return [x * 2] * lengths.max(), x[: lengths.min()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [trims, one_after_the_other])
def test_sizes_that_change_become_symbols(function: Any, backend: str) -> None:
    torch.manual_seed(0)
    calls = [(torch.randn(16, 16), torch.randint(2, 9, (2,))) for _ in range(24)]
    compiled = same_program(function, calls, __file__, backend=backend)
    assert compiled.report.whole and compiled.report.mended
    # Each miss is a call before they did.
    assert compiled.report.graphs <= 5 and compiled.report.misses <= 8


def test_what_needs_a_number_that_changes_breaks() -> None:
    calls = [(torch.ones(16), torch.tensor([n % 3, 2 + n % 7])) for n in range(40)]
    compiled = same_program(as_many_times, calls, __file__)
    assert {entry.reason for entry in compiled.report.left} == {"its value was predicted wrongly too often"}

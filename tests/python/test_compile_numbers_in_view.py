"""Lists that are read from tensors of whole numbers: symbols, and those that were made in view are read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_calls import same_program  # noqa: E402

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

SHAPES = [(torch.ones(n, 8),) for n in (3, 5, 4, 7, 9, 8, 10, 11, 12, 6)]


def shape_as_list(x: Any) -> Any:
    height, width = torch.as_tensor(x.shape).tolist()
    return x.reshape(height, width // 2, -1), [height, width]


def rows_of_a_table(x: Any) -> Any:
    shapes = torch.as_tensor([(x.shape[0], 2), (2, 3)], dtype=torch.long)
    parts = x.new_ones(x.shape[0] * 2 + 6).split([int(h) * int(w) for h, w in shapes])
    return parts, shapes.sum()


def last_of_a_row(x: Any) -> Any:
    return x.new_zeros(torch.tensor([[1, x.size(0)]])[0][-1].item() + 1)


@pytest.mark.parametrize("program", [shape_as_list, rows_of_a_table, last_of_a_row])
def test_numbers_in_view_are_read_back(program: Callable[..., Any]) -> None:
    compiled = same_program(program, SHAPES, __file__, speculate=False, fullgraph=True)
    # One for the first shape, and one for all others.
    assert (compiled.report.graphs, compiled.report.misses) == (2, 0)
    assert {entry.mend for entry in compiled.report.mended} == {"capture"}


def added_to(x: Any) -> Any:
    sizes = torch.tensor([x.shape[0], 3])
    sizes += 1
    return x.new_ones(int(sizes[0])), sizes.tolist()


def stored_into(x: Any) -> Any:
    sizes = torch.tensor([x.shape[0], 3])
    sizes[0] = 7
    return x.new_ones(int(sizes[0])), sizes.tolist()


def changed_through_a_view(x: Any) -> Any:
    sizes = torch.tensor([x.shape[0], 3])
    sizes[1:].add_(x.shape[0])
    return sizes.tolist(), int(sizes[1])


def changed_behind_autograd(x: Any) -> Any:
    one, two = torch.tensor(x.shape[0]), torch.tensor([x.shape[0], 2])
    one.data.add_(1)
    two.data[0] = 9
    two.view(2, 1).data[1, 0] += 1
    return one.item(), two.tolist(), int(two[0])


def of_several_dimensions(x: Any) -> Any:
    return torch.tensor([x.shape[0]]).item(), torch.tensor([[x.shape[0]]])[0].item(), int(torch.tensor([[x.shape[0]]]))


def of_several_elements(x: Any) -> Any:
    try:
        return torch.tensor([x.shape[0], 3]).item(), x
    except RuntimeError as error:
        return str(error), x


def rounded(x: Any) -> Any:
    sizes = torch.tensor([x.shape[0] + 0.5, 2**24 + 1])
    return sizes.tolist(), torch.tensor([x.shape[0]], dtype=torch.int8).tolist()


@pytest.mark.parametrize(
    "program",
    [
        added_to,
        stored_into,
        changed_through_a_view,
        changed_behind_autograd,
        of_several_dimensions,
        of_several_elements,
        rounded,
    ],
)
def test_what_is_no_longer_in_view(program: Callable[..., Any]) -> None:
    same_program(program, SHAPES, __file__)


def split_by_a_list(x: Any, sizes: Any) -> Any:
    return [part.sum() for part in x.split(sizes.tolist())]


def sliced_by_a_list(x: Any, sizes: Any) -> Any:
    first, second = sizes.tolist()
    return x[:first], x[first:], first * second


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize("program", [split_by_a_list, sliced_by_a_list])
def test_a_list_of_sizes_needs_no_prediction(program: Callable[..., Any], backend: str) -> None:
    calls = [(torch.arange(8.0), torch.tensor([n, 8 - n])) for n in (2, 3, 5, 4, 6)]
    compiled = same_program(program, calls, __file__, speculate=False, fullgraph=True, backend=backend)
    assert (compiled.report.graphs, compiled.report.misses) == (1, 0)

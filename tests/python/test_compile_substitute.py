"""Calls that are traced as others: what fits does the same, what does not is left, and names alone prove nothing."""

from __future__ import annotations

import copy
import itertools
import sys
import types
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program
from torch.utils.checkpoint import checkpoint

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

UNFIT = "no other call does the same with these operands"


def numbers() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def copies(x: Any) -> Any:
    kept = copy.deepcopy(x)
    for each in kept if isinstance(kept, list) else [kept]:
        each.add_(1)
    return kept


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_copies_share_what_the_originals_share(backend: str) -> None:
    x = numbers()
    compiled = same_program(copies, [([x, x, x + 1],), ([x + 2, x],)], __file__, backend=backend)
    assert compiled.report.left == []
    kept = compiled([x, x])
    assert kept[0] is kept[1]


@pytest.mark.parametrize("kind", ["view", "attribute", "gradient"])
def test_copies_that_show_more_are_left(kind: str) -> None:
    x = numbers()[1:] if kind == "view" else numbers().requires_grad_(kind == "gradient")
    if kind == "attribute":
        x.note = "mine"
    compiled = mended_compile(copy_of, backend="eager")
    made = compiled(x)
    assert UNFIT in reasons(compiled)
    assert made.storage_offset() == copy_of(x).storage_offset()
    assert vars(made) == vars(x)
    assert made.requires_grad == x.requires_grad


def copy_of(x: Any) -> Any:
    return copy.deepcopy(x)


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


def tries(x: torch.Tensor) -> torch.Tensor:
    try:
        import comes_later_perhaps  # type: ignore[import-not-found]
    except ImportError:
        return x * 2
    return x * comes_later_perhaps.factor


def test_a_module_that_comes_later_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = mended_compile(tries, backend="eager")
    assert torch.equal(compiled(numbers()), numbers() * 2)
    assert compiled.report.left == []
    module = types.ModuleType("comes_later_perhaps")
    module.factor = 5  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "comes_later_perhaps", module)
    assert torch.equal(compiled(numbers()), numbers() * 5)


def known_output(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    kept = [out]
    torch.add(x, 1, out=out)
    return out * 2, kept


def drawn_output(x: torch.Tensor) -> Any:
    out = torch.empty(0)
    torch.bernoulli(x / 6, out=out)
    return out * 2


def test_outputs_that_others_know_are_left() -> None:
    assert same_program(known_output, [(numbers(),)], __file__).report.left
    assert same_program(drawn_output, [(numbers(),)], __file__).report.left


@torch.compiler.disable  # type: ignore[untyped-decorator,unused-ignore]
def opaque(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def given_behind_a_break(x: torch.Tensor) -> Any:
    y = torch.empty(0)
    y.data = x + 1
    z = torch.empty(0)
    z.data = opaque(x)
    return y + z, z


def test_data_is_given_behind_a_break() -> None:
    compiled = same_program(given_behind_a_break, [(numbers(),)] * 2, __file__)
    assert len(compiled.report.left) == 1


class Three(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, c: Any) -> Any:
        ctx.save_for_backward(a, b, c)
        return a * b * c

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        a, b, c = ctx.saved_tensors
        return gradients[0] * b * c, gradients[0] * a * c * 3, gradients[0] * a * b * 7


def twice(x: torch.Tensor, y: torch.Tensor) -> Any:
    return (Three.apply(x, x, y) + x * 0.3).sin() + x.exp()


def thrice(x: torch.Tensor) -> Any:
    return Three.apply(x, x, x)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_of_duplicates_come_in_the_same_order(backend: str) -> None:
    compiled = mended_compile(twice, backend=backend)
    gradients = []
    for function in (twice, compiled):
        x, y = torch.rand(50, generator=torch.Generator().manual_seed(3)).requires_grad_(), torch.rand(50)
        y = torch.linspace(0, 1, 50)
        function(x, y).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(gradients[0], gradients[1])
    assert compiled.report.left == []
    compiled = same_program(thrice, [(numbers().requires_grad_(),)], __file__)
    assert reasons(compiled) == {UNFIT}


def in_order(*rows: torch.Tensor) -> Any:
    found = sorted(rows, key=lambda row: row.sum(), reverse=True)
    return torch.stack(found)


def test_another_order_is_sorted_anew() -> None:
    a, b, c = torch.ones(2), torch.zeros(2), torch.full((2,), 3.0)
    calls = [(a, b, c), (a, b, c), (c, b, a), (b, b, a), (a, a, a)]
    compiled = same_program(in_order, calls, __file__, speculate=True)
    assert compiled.report.left == []
    assert same_program(in_order, calls, __file__, speculate=False).report.left


def test_a_second_compile_reports_the_same() -> None:
    found = []
    for _ in range(2):
        compiled = mended_compile(resizes, backend="eager")
        compiled(numbers(), Buffer())
        found.append([(entry.line, entry.mend) for entry in compiled.report.mended])
    assert found[0] == found[1] != []

"""A number that is read from a tensor and only computed with is traced as a symbol: exact, and never wrong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, same_program

from graphmend._torch.formats import as_format

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("fullgraph", [True, False])
def test_arithmetic(backend: str, fullgraph: bool) -> None:
    def loss(x: Any) -> Any:
        count = (x > 0).sum().item()
        return x.sum() / max(1, count), count

    compiled = same_program(loss, numbers(3, 4, 5, -1), __file__, backend=backend, fullgraph=fullgraph)
    assert compiled.report.whole and compiled.report.misses == 0 and compiled.report.graphs == 1
    (entry,) = compiled.report.mended
    assert entry.mend == "capture"


@pytest.mark.parametrize("value", [0.1, 1e300, float("inf"), float("nan"), -0.0])
def test_a_float_has_pythons_precision(value: float) -> None:
    def scaled(x: Any) -> Any:
        factor = x.max().item()
        return x * (factor * 3 + 1e-17), factor

    x = torch.full((2,), value, dtype=torch.float64)
    compiled = same_program(scaled, [(x,), (x / 3,)], __file__)
    assert compiled.report.whole and compiled.report.graphs == 1


def test_a_step_of_training_that_returns_its_loss() -> None:
    class Step(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            loss = self.linear(x).pow(2).mean()
            return loss, loss.item()

    compiled = same_program(Step(), [(torch.ones(3),), (torch.zeros(3),)], __file__)
    assert compiled.report.whole


def test_a_number_that_python_needs_is_predicted_instead() -> None:
    def picked(x: Any) -> Any:
        names = ["a", "b", "c"]
        return x * 2, names[int(x.max())]

    compiled = same_program(picked, numbers(1, 1, 2, 2, 2), __file__, speculate=True)
    (entry,) = compiled.report.mended
    assert entry.mend == "speculate" and compiled.report.whole


def test_without_speculation_the_break_stays() -> None:
    def picked(x: Any) -> Any:
        names = ["a", "b", "c"]
        return x * 2, names[int(x.max())]

    compiled = same_program(picked, numbers(1, 1, 2), __file__, speculate=False)
    assert compiled.report.left and not compiled.report.mended


def test_a_graph_that_raises() -> None:
    def takes(x: Any) -> Any:
        print("begins")
        n = x.max().item()
        return torch.arange(4).index_select(0, x.max().long().reshape(1)) * n

    compiled = same_program(takes, numbers(1, 9, 2), __file__)
    assert compiled.report.whole and compiled.report.misses == 1


def divided_in_vain(x: Any) -> Any:
    n = (x > 0.7).sum().item()
    10 // n
    return x + n


def divided_and_caught(x: Any) -> Any:
    n = int((x > 0.7).sum())
    try:
        math.sqrt(n - 1) + 10 % max(n - 1, 0)
    except (ZeroDivisionError, ValueError) as error:
        return x - 1, str(error)
    return x + 1, n // 2 * 0


def made_whole_in_vain(x: Any) -> Any:
    value = x.max().item()
    int(value / 0.5)
    return x * value


@pytest.mark.parametrize("program", [divided_in_vain, divided_and_caught, made_whole_in_vain])
def test_what_is_computed_in_vain_raises_all_the_same(program: Callable[..., Any]) -> None:
    same_program(program, numbers(3, 3, -1, 2, float("inf"), float("nan"), 3), __file__)


def halved_in_vain(x: Any) -> Any:
    n = (x > 0.7).sum().item()
    n // 2 + 1
    return x + n


def test_what_cannot_raise_may_be_computed_in_vain() -> None:
    compiled = same_program(halved_in_vain, numbers(3, -1, 2), __file__, fullgraph=True)
    assert [entry.mend for entry in compiled.report.mended] == ["capture"]


def test_shown_and_captured() -> None:
    def shown(x: Any) -> Any:
        n = x.max().item()
        print("largest", n, f"{n:.2f}")
        return x * n

    compiled = same_program(shown, numbers(1, 2.5, 2, 2), __file__)
    assert compiled.report.whole and compiled.report.graphs == 1


# Tensors whose sizes hang on values.


def chosen_sum(x: Any, mask: Any) -> Any:
    return x[mask].sum() / max(1, mask.sum().item())


def chosen_shown(x: Any, mask: Any) -> Any:
    chosen = x.masked_select(mask)
    print("chosen", chosen, chosen.numel())
    return chosen * 2, chosen.shape


def distinct(x: Any, mask: Any) -> Any:
    return torch.unique(x.masked_fill(mask, 0.0)), len(mask.nonzero())


def squeezed(x: Any, mask: Any) -> Any:
    return x[mask].squeeze(), torch.nonzero(mask).squeeze(), x[mask].view(1, -1).squeeze()


def one_or_many(x: Any, mask: Any) -> Any:
    found = mask.nonzero().squeeze()
    if found.dim() == 0:
        found = found.unsqueeze(0)
    return x[found] * 2, found.shape


def written_back(x: Any, mask: Any) -> Any:
    result = torch.zeros_like(x)
    result[mask] = x[mask] * 2
    return result


def added(x: Any, mask: Any) -> Any:
    # With one element chosen it is broadcast, with another number than three it raises.
    return x[mask] + torch.arange(3.0)


def guarded(x: Any, mask: Any) -> Any:
    chosen = x[mask]
    x.add_(1.0)
    if chosen.sum() > 9.0:
        raise ValueError(chosen)
    return chosen


def masked_calls(counts: Sequence[int]) -> list[tuple[Any, Any]]:
    masks = [torch.arange(6) < count for count in counts]
    return [(torch.arange(6.0) + i, mask) for i, mask in enumerate(masks)]


@pytest.mark.parametrize(
    "program", [chosen_sum, chosen_shown, distinct, squeezed, one_or_many, written_back, added, guarded]
)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_sizes_that_hang_on_values(program: Callable[..., Any], backend: str) -> None:
    compiled = same_program(program, masked_calls([3, 1, 0, 6, 2, 1, 0]), __file__, backend=backend, fullgraph=True)
    assert {entry.mend for entry in compiled.report.mended} >= {"capture"}
    # Where one is chosen, the program itself runs: Dynamo takes it for granted that sizes are not one.
    assert compiled.report.misses == 2 or program in (added, guarded, distinct)


def divided_by_sizes(x: Any, mask: Any) -> Any:
    try:
        1 // max(x[mask].shape[0] - 2, 0)
    except ZeroDivisionError as error:
        return x + 1, str(error)
    return x + 2, x[mask].shape[0] / 3, x[mask].shape[0] % 4


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_what_a_size_divides_may_raise_though_nobody_wants_it(backend: str) -> None:
    compiled = same_program(divided_by_sizes, masked_calls([3, 2, 0, 6, 4]), __file__, backend=backend, fullgraph=True)
    assert {entry.mend for entry in compiled.report.mended} == {"capture"}


def test_a_size_that_python_needs_is_predicted_instead() -> None:
    def some(x: Any, mask: Any) -> Any:
        return x + 1 if len(x[mask]) > 2 else x - 1

    compiled = same_program(some, masked_calls([3, 3, 3]), __file__)
    assert {entry.mend for entry in compiled.report.mended} == {"speculate"}


class Experts(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Each row goes to the expert of its number; who gets none is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))

    def forward(self, x: Any, chosen: Any) -> Any:
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows = (chosen == number).nonzero().squeeze(-1)
            if rows.numel() == 0:
                continue
            out.index_add_(0, rows, expert(x[rows]))
        return out


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_a_comparison_of_a_size_comes_to_is_predicted(backend: str) -> None:
    """The sizes are others in each call, and the graph is the same."""
    torch.manual_seed(0)
    counts = [(2, 3, 4), (3, 4, 2), (2, 2, 5), (3, 3, 3), (5, 2, 2), (0, 4, 5), (0, 5, 4), (2, 5, 2)]
    chosen = [torch.arange(3).repeat_interleave(torch.tensor(each)) for each in counts]
    calls = [(torch.randn(9, 2), each) for each in chosen]
    compiled = same_program(Experts(), calls, __file__, backend=backend)
    assert [entry.mend for entry in compiled.report.mended] == ["capture", "speculate"]
    assert not compiled.report.left and compiled.report.misses == 2


def raises_for_many(x: torch.Tensor) -> torch.Tensor:
    many = (x > 0).sum().item()
    if many > 2:
        raise ValueError(f"{many} are too many")
    return x * many


def divides_unless_none(x: torch.Tensor) -> torch.Tensor:
    count = x[x > 0].shape[0]
    return x / count if count else x


def is_one_of_two(x: torch.Tensor) -> torch.Tensor:
    count = (x > 0).nonzero().numel()
    if count == 0 or x.sum() > 100:
        return x - 1
    return x + count


def is_large(x: torch.Tensor) -> torch.Tensor:
    mean = x.mean().item()
    if not mean > 4:
        return x * mean
    return x / mean


@pytest.mark.parametrize(
    ("program", "backend"),
    [
        (raises_for_many, "eager"),
        (divides_unless_none, "eager"),
        # Inductor has rules of its own for the truth of a symbol.
        (is_one_of_two, "inductor"),
        (is_large, "aot_eager"),
    ],
)
def test_tests_of_numbers_that_are_captured(program: Callable[..., Any], backend: str) -> None:
    rows = [
        [1.0, 2.0, -1.0],
        [3.0, -1.0, -1.5],
        [1.0, 2.0, 3.5],
        [-1.0, -2.0, -3.0],
        [-1.0, 2.5, -3.0],
        [70.0, 60.0, -1.0],
    ]
    calls = [(torch.tensor(row),) for row in rows]
    compiled = same_program(program, calls, __file__, backend=backend)
    assert not compiled.report.left and "capture" in {entry.mend for entry in compiled.report.mended}


def needs_one_of_three(x: Any) -> Any:
    count = int((x > 0).sum())
    if count > 3:
        x = x * 2
    scale = x.sum().item()
    chosen = ["first", "second", "third", "fourth"][int(x.argmax()) % 4]
    return x * scale / max(count, 1), chosen


def test_only_the_number_that_python_needs_is_predicted() -> None:
    calls = [(torch.tensor([3.0, 1.0, 0.5, n, 2.0]),) for n in (-1.0, 2.5, 0.25, 1.5, -4.0)]
    compiled = same_program(needs_one_of_three, calls, __file__, fullgraph=True)
    # The scale and the count are others in every call.
    assert (compiled.report.graphs, compiled.report.misses) == (1, 0)
    kinds = {entry.source.split(" =")[0]: entry.mend for entry in compiled.report.mended}
    assert (kinds["count"], kinds["chosen"]) == ("capture", "speculate")


def many_tests_of_a_truth(x: Any) -> Any:
    is_positive = (x > 0).any().item()
    found = [x]
    if is_positive:
        found.append(x + 1)
    for each in range(2):
        found.extend([each] if is_positive else [])
    return found


def test_a_truth_is_predicted_once_for_all_tests_of_it() -> None:
    calls = [(torch.full((3,), value),) for value in (1.0, -1.0, 2.0, -2.0)]
    compiled = same_program(many_tests_of_a_truth, calls, __file__)
    first = many_tests_of_a_truth.__code__.co_firstlineno
    assert [(entry.line, entry.mend) for entry in compiled.report.mended] == [(first + 1, "speculate")]


def sizes_of_a_tensor(x: Any, sizes: Any) -> Any:
    height, width = sizes
    rows = x[:height].reshape(-1)
    found = rows[: height * width]
    grid = found.view(height, width)
    return grid + torch.zeros(width), torch.arange(height)


def test_sizes_that_name_the_same_are_found_in_one_round() -> None:
    calls = [(torch.ones(4, 4), torch.tensor(each)) for each in ([2, 3], [3, 2], [2, 3], [1, 1], [3, 9])]
    compiled = same_program(sizes_of_a_tensor, calls, __file__)
    assert not compiled.report.left
    told = [entry.message for entry in compiled.report.mended]
    assert sum("before it could break" in message for message in told) == 3


def larger_fractions(x: Any) -> Any:
    least = max(1e-5, x.std().item())
    most = min(x.sum().item(), 3.0, x[0].item())
    return x / least, most, max(x[1].item(), x[0].item()), min(-0.0, x[0].item())


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_the_larger_of_two_fractions_is_a_symbol(backend: str) -> None:
    odd = ((1.0, 2.0), (0.0, -0.0), (-0.0, 0.0), (math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf), (-3.5, 9.0))
    calls = [(torch.tensor(each),) for each in odd]
    compiled = same_program(larger_fractions, calls, __file__, backend=backend, fullgraph=True)
    assert (compiled.report.graphs, compiled.report.misses) == (1, 0)


def kept_texts(x: Any) -> Any:
    total, count = x.sum().item(), int((x > 0).sum())
    texts = [str(total), repr(count), f"{total:8.3f}|{count:04d}", "%s, %r" % (total, count)]  # noqa: UP031
    texts += ["%d of %-6d 100%% {%s}" % (total, count, "all"), "%+08.2f|% g|%5s" % (total, total, count)]  # noqa: UP031
    return x * total, texts


def test_texts_that_are_kept_need_no_prediction() -> None:
    calls = [(torch.tensor([3.5, 1.0, n]),) for n in (-1.0, 2.5, -7.25, 1e18, -4.0)]
    compiled = same_program(kept_texts, calls, __file__, fullgraph=True, speculate=False)
    assert (compiled.report.graphs, compiled.report.misses) == (1, 0)


def test_what_percent_says_is_said_by_format() -> None:
    numbers_of: dict[str, list[Any]] = {"d": [0, 7, -12345], "s": [1.5, -3, "text"], "r": [0.1, "text"]}
    floats = [0.0, -0.0, 1.25, -1234.5678, 1e300, float("inf"), float("nan")]
    fields = itertools.product(["", "-", "+", " ", "0", "-0", "+0"], ["", "9"], ["", ".3"], "dsrfFeEgG")
    said = 0
    for flags, width, precision, kind in fields:
        template = f"{{a}} %% %{flags}{width}{precision}{kind}|"
        form, kinds = as_format(template)
        for value in numbers_of.get(kind, floats) if kinds else ():
            said += 1
            assert form.format(value) == template % value, (template, value)
    assert said > 500
    assert as_format("%x")[1] == as_format("%(name)s")[1] == as_format("50% of %d")[1] == as_format("%*d")[1] == []


NAMED = {"2": 5.0, "3": 7.0, "n=2.0": 9.0}


def looks_up(x: Any) -> Any:
    count, total = int((x > 0).sum()), (x > 0).float().sum().item()
    print("found", count)
    kept = {str(count): 1, "2": 2, f"{total}": 3}
    found = NAMED.get(str(count), 0.0), "%d" % count in NAMED, NAMED.get(f"n={total}"), repr(count) in {"2", "3"}  # noqa: UP031
    return x * found[0], found, kept, len({str(count), str(count)}), {(f"{total}", 1): 4}.get(("2.0", 1))


@pytest.mark.parametrize("speculate", [False, True])
def test_a_text_that_is_looked_up_is_needed(speculate: bool) -> None:
    calls = [(torch.tensor([1.0] * n + [-1.0] * (4 - n)),) for n in (2, 3, 1, 2)]
    same_program(looks_up, calls, __file__, speculate=speculate)

"""Comprehensions, generators and lambdas that need values: what they read is read, predicted or shown as elsewhere."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending import speculate
from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def sizes(x: Any) -> Any:
    return torch.zeros([int(v) for v in x.abs().sum(1)])


def total(x: Any) -> Any:
    k = sum(int(v) for v in x.sum(1))
    return x[:k] if k > 1 else x


def table(x: Any) -> Any:
    found = {i: v.item() for i, v in enumerate(x[0])}
    return [x * 2 for i in found if found[i] > 1], {round(v.item()) for v in x[1]}


def filtered(x: Any) -> Any:
    names = [str(v.item()) for v in x[0] if v > 1]
    return x + len(names), names


def by_lambda(x: Any) -> Any:
    count: Any = lambda t: "many" if int(t.sum()) > 3 else "few"  # noqa: E731
    return x, count(x), count(x * 2)


def quantified(x: Any) -> Any:
    return any(v > 1 for v in x[0]), all([v > 0 for v in x[1]]), [v for v in x[1] if v > 0 or v < -1]  # noqa: C419


def nested(x: Any) -> Any:
    return [[int(v) for v in row if v > 0] for row in x]


def masked(x: Any) -> Any:
    return [x[:, column] for column in (x[0] > 1, x[1] > 1)]


WANTING = [sizes, total, table, filtered, by_lambda, quantified, nested, masked]
CALLS = [
    (torch.tensor(rows),)
    for rows in ([[1.0, 2.0], [1.0, 0.0]], [[1.0, 2.0], [1.0, 0.0]], [[2.0, 2.0], [3.0, 1.0]], [[1.0, 2.0], [1.0, 0.0]])
]


@pytest.mark.parametrize("program", WANTING)
def test_values_that_a_comprehension_needs(program: Callable[..., Any]) -> None:
    same_program(program, CALLS, __file__, fullgraph=True)


def asks_too_often(x: Any) -> Any:
    return x + any(v > 1e9 for v in x.flatten())


def test_what_is_passed_too_often_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculate, "MAX_ELEMENTS", 20)
    compiled = mended_compile(asks_too_often, backend="eager")
    x = torch.zeros(21)
    assert torch.equal(compiled(x), x)
    assert reasons(compiled) == {"it is passed too often to be predicted each time"}


def shows_all(x: Any, scale: Any = 2.0) -> Any:
    losses = {"a": x.sum(), "b": x.mean() * scale}
    print({k: round(v.item() * scale, 2) for k, v in losses.items()})
    print(", ".join(f"{k}={v.item():.3f}" for k, v in losses.items()), *(v.item() for v in x[0]))
    print([f"{v=}" for v in x[0]], {v.item() for v in x[1] if v.ndim == 0}, [[w.item() for w in row] for row in x])
    print(
        sum(v.item() for v in x[0]),
        [v.mean().item() for v in (x, x + 1)],
        [len(f"{a:.1f}") for a in x[0] for b in "ab"],
    )
    x.mul_(2.0)
    return x + 1


def test_values_that_a_comprehension_shows() -> None:
    same_program(shows_all, [(x.clone(),) for (x,) in CALLS], __file__, fullgraph=True, speculate=False)


def shows_functions_of_numbers(x: Any) -> Any:
    print(math.exp(x.mean().item()), math.floor(x.sum().item() * 1.5), [math.sqrt(v.abs().item()) for v in x[0]])
    warnings.warn(UserWarning(f"mean {x.mean().item():.2f}", x.shape[0]), stacklevel=1)
    return x + 1


def test_functions_of_numbers_that_are_shown() -> None:
    compiled = same_program(shows_functions_of_numbers, CALLS, __file__, fullgraph=True, speculate=False)
    with pytest.warns(UserWarning, match="mean 1.00") as told:
        compiled(CALLS[0][0])
    assert getattr(told[0].message, "args", None) == ("mean 1.00", 2)


def shows_roots(x: Any) -> Any:
    print(math.sqrt(x.min().item()))
    return x + 1


def test_a_function_of_a_number_raises_where_it_stands() -> None:
    calls = [(torch.ones(2),), (-torch.ones(2),), (torch.ones(2),)]
    # Its caret is under the whole statement.
    same_program(shows_roots, calls, __file__, frames=False, fullgraph=True)


def shows_a_generator(x: Any) -> Any:
    print(type(v.item() for v in x[0]))
    print(v.item() for v in x[0])
    return x + 1


def test_a_generator_that_is_shown_is_an_object() -> None:
    compiled = mended_compile(shows_a_generator, backend="eager", speculate=False)
    compiled(torch.ones(2, 2))
    assert any("cannot be read after the graph" in reason for reason in reasons(compiled))


def shows_what_it_waits_for(x: Any) -> Any:
    print([v.item() for v in x[0] if v.item() > 1])
    return x + 1


def test_what_is_shown_under_a_condition_that_needs_values_is_predicted() -> None:
    same_program(shows_what_it_waits_for, CALLS, __file__)


def shows_what_it_may_not_come_to(x: Any) -> Any:
    left = [1, 2, 3, 4]
    print([v.item() if i < 1 else left.pop() for i, v in enumerate(x[0])])
    print(x.ndim == 2 or left.pop() or x.sum().item(), x.sum().item() if x.ndim == 2 else left.pop())
    return x + 1, left


def shows_by_names_of_its_own(x: Any) -> Any:
    format: Any = lambda t: f"<{t}>"  # noqa: A001, E731
    print(format(x.sum()))
    print([round(v.item()) for round, v in ((abs, x[0][0]), (int, x[0][1]))])  # noqa: A001
    return x + 1


@pytest.mark.parametrize("program", [shows_what_it_may_not_come_to, shows_by_names_of_its_own])
def test_what_cannot_be_shown_later_is_shown_in_its_place(program: Callable[..., Any]) -> None:
    compiled = same_program(program, CALLS, __file__, speculate=False)
    assert reasons(compiled)


made_elsewhere: Any = lambda t: "many" if t.sum() > 3 else "few"  # noqa: E731
by_name: Any = {"half": lambda t: t[: int(t.sum())], "all": lambda t: t.sum().item()}


class Hooked(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """What its lambdas do was written where nothing is traced."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.rows: Any = lambda t: [row * 2 for row in t[: int(t.abs().sum() > 4) + 1]]
        self.layer.register_forward_hook(lambda _, given, made: print("made", tuple(made.shape), made.sum().item()))
        self.layer.register_forward_pre_hook(lambda _, given: print(f"given {given[0].sum():.2f}"))

    def forward(self, x: Any) -> Any:
        return self.layer(x), self.rows(x)


def calls_what_was_made_elsewhere(x: Any) -> Any:
    return x + 1, made_elsewhere(x), by_name["half"](x), by_name["all"](x)


def calls_what_a_method_made(x: Any) -> Any:
    return hooked(x)


hooked = Hooked()


@pytest.mark.parametrize("program", [calls_what_was_made_elsewhere, calls_what_a_method_made])
def test_a_lambda_that_was_made_elsewhere_is_mended(program: Callable[..., Any]) -> None:
    compiled = same_program(program, CALLS, __file__)
    assert not reasons(compiled)
    assert compiled.report.mended


def goes_through_what_is_given(numbers: Any) -> Any:
    return [number + 1 for number in numbers]


def test_a_generator_that_was_made_elsewhere_is_left() -> None:
    x = torch.ones(2, 2)
    compiled = mended_compile(goes_through_what_is_given, backend="eager")
    assert compiled(v.item() for v in x[0]) == [2.0, 2.0]


def same_twice(x: Any) -> Any:
    first, second = twins
    return first(x) + 1, second(x) + 1


twins: Any = [eval(compile("lambda t: t.sum().item()", __file__, "eval")) for _ in range(2)]


def test_a_lambda_that_is_not_of_its_file_is_left() -> None:
    compiled = mended_compile(same_twice, backend="eager")
    assert compiled(torch.ones(2, 2)) == (5.0, 5.0)


def test_equal_code_of_two_files_is_told_apart(tmp_path: Path) -> None:
    text = "def f(x):\n    return x + len([1 for row in x if row.sum() > 0])\n"
    functions = []
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text(text)
        space: dict[str, Any] = {}
        exec(compile(text, str(tmp_path / name), "exec"), space)
        functions.append(space["f"])
    x = torch.eye(2)
    for function in functions:
        torch.compile(function, backend="eager")(x)
    torch._dynamo.reset()
    for function in reversed(functions):
        mended = mended_compile(function, backend="eager")
        assert torch.equal(mended(x), function(x))
        assert {Path(each.file).name for each in mended.report.mended} == {Path(function.__code__.co_filename).name}
        assert not reasons(mended)

"""What Python objects remember between calls: methods' closures and defaults, hooks, names that come and go."""

from __future__ import annotations

import contextlib
import functools
import io
import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy
import torch

from graphmend._mending.compile import compile as mended_compile

pytestmark = pytest.mark.filterwarnings("ignore")

LIMITS = [1]
# A program, what happens before its k-th call, and what is looked at behind it.
Made = tuple[Callable[..., Any], Callable[[int], None], Callable[[], Any]]


def seen(made: Made, compiled: Callable[..., Any]) -> list[Any]:
    _, before, behind = made
    shown: list[Any] = []
    for k, x in enumerate([1.0, 1.0, 2.0, 1.0, 3.0]):
        before(k)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = compiled(torch.tensor([x, 2.0]))
        shown.append((result.tolist(), said.getvalue(), behind()))
    return shown


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    calls: list[float] = []

    @functools.wraps(function)
    def counting(*args: Any) -> Any:
        calls.append(0.5)
        return function(*args) * len(calls)

    return counting


def a_cell_that_is_written() -> Made:
    n = [0]

    class Counter:
        def add(self, x: Any) -> Any:
            n[0] += 1
            return x * n[0]

    def program(x: Any) -> Any:
        counter = Counter()
        print("value", x[0].item())
        return counter.add(x)

    return program, lambda k: None, lambda: list(n)


def a_cell_that_is_read() -> Made:
    n = 0

    class Reader:
        def read(self) -> int:
            return n

    def before(k: int) -> None:
        nonlocal n
        n = k

    def program(x: Any) -> Any:
        reader = Reader()
        y = x + 1 if x.sum() > 3 else x
        return y * reader.read()

    return program, before, lambda: n


def a_manager_that_keeps_a_list() -> Made:
    told: list[str] = []

    class Telling:
        def __enter__(self) -> int:
            told.append("in")
            return len(told)

        def __exit__(self, *error: Any) -> None:
            told.append("out")

    def program(x: Any) -> Any:
        with Telling() as count:
            print("in", count, x[0].item())
        return x * count

    return program, lambda k: None, lambda: list(told)


class Keeps:
    @counted
    def wrapped(self, x: Any) -> Any:
        return x + x[0].item()

    @staticmethod
    @counted
    def fixed(x: Any) -> Any:
        print("fixed", x)
        return x

    def listed(self, x: Any, kept: list[float] = []) -> Any:  # noqa: B006
        kept.append(x[0].item())
        return x * len(kept)

    def named(self, x: Any, *, limits: list[int] = LIMITS) -> Any:
        print("named", x)
        return x * limits[0]


def methods_of_a_class() -> Made:
    class Own(Keeps):
        pass

    def program(x: Any) -> Any:
        own = Own()
        return own.wrapped(x) + own.fixed(x) + own.listed(x) + own.named(x)

    def before(k: int) -> None:
        LIMITS[0] = k
        if k == 0:
            listed: Any = Keeps.listed
            listed.__defaults__[0].clear()
            wrappers: list[Any] = [Keeps.__dict__["wrapped"], Keeps.fixed]
            for wrapper in wrappers:
                wrapper.__closure__[0].cell_contents.clear()

    return program, before, lambda: None


@pytest.mark.parametrize(
    "make", [a_cell_that_is_written, a_cell_that_is_read, a_manager_that_keeps_a_list, methods_of_a_class]
)
def test_methods_of_objects_that_are_made(make: Callable[[], Made]) -> None:
    expected = seen(made := make(), made[0])
    compiled = mended_compile((made := make())[0], backend="eager")
    assert seen(made, compiled) == expected
    assert compiled.report.mended


class Inner(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def forward(self, x: Any) -> Any:
        print("inner")
        return x * 2


class Outer(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: Any) -> Any:
        return self.inner(x) + 1


def a_hook_that_is_put_later() -> Made:
    model = Outer()

    def before(k: int) -> None:
        if k == 2:
            model.inner.register_forward_hook(lambda module, args, result: result * 10)
        if k == 3:
            model.inner.register_forward_pre_hook(lambda module, args: args[0] + 1)

    return model, before, lambda: None


def a_parameter_that_is_put_back() -> Made:
    layer = torch.nn.Linear(2, 2, bias=False)
    layer.weight.data.fill_(1.0)

    def program(x: Any) -> Any:
        weight = layer.weight
        del layer.weight
        layer.weight = weight.detach() * 0 + 2
        y = layer(x)
        print("meanwhile")
        del layer.weight
        layer.weight = weight
        return y

    return program, lambda k: None, lambda: (list(layer._parameters), layer(torch.ones(2)).tolist())


def the_larger_one_that_is_changed() -> Made:
    inputs: list[Any] = []

    def program(x: Any) -> Any:
        inputs[:] = [x]
        larger = max(x[0], x[1])
        for each in x:
            print(each.item())
        larger.add_(10)
        return x * 1

    return program, lambda k: None, lambda: inputs[0].tolist()


@pytest.mark.parametrize(
    "make", [a_hook_that_is_put_later, a_parameter_that_is_put_back, the_larger_one_that_is_changed]
)
def test_what_comes_and_goes(make: Callable[[], Made]) -> None:
    expected = seen(made := make(), made[0])
    made = make()
    assert seen(made, mended_compile(made[0], backend="eager")) == expected


def rooted(x: Any) -> Any:
    number = x.sum().item()
    return x + 1 if math.sqrt(abs(number)) > -0.5 else x - 1


def medians(x: Any) -> Any:
    read = []
    for each in x:
        read.append(each.item())
    return float(numpy.median(read))


@pytest.mark.parametrize("program", [rooted, medians])
def test_numbers_that_dynamo_takes_for_others(program: Callable[..., Any]) -> None:
    compiled = mended_compile(program, backend="eager")
    for numbers in ([1.0, 2.0], [math.nan, 1.0], [1.0, 2.0], [math.nan, 1.0], [-3.0, 2.0]):
        x = torch.tensor(numbers)
        assert str(compiled(x)) == str(program(x))

"""What runs though Python may not come to it: nothing of it shows, whatever its names look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import same_program

from graphmend._mending.compile import compile as mended_compile


class Meter:
    """Its methods have names of a tensor's."""

    def __init__(self) -> None:
        self.count = 0
        self.limit = 3.0

    def add(self, number: int) -> bool:
        self.count += number
        return True

    def any(self) -> bool:
        return self.add(1)

    @property
    def twice(self) -> float:
        self.count += 1
        return 2.0


class CountingModule(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def add(self, number: int) -> None:
        self.count += number


METER = Meter()


class Metered(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.meter, self.module = Meter(), CountingModule()

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.meter.count, self.module.count, METER.count


class AttributesMethod(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            self.meter.add(1)
        return x * 2


class ModulesMethod(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            self.module.add(1)
        return x * 2


class GlobalsMethod(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            METER.add(1)
        return x * 2


class MethodUnderAnotherName(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            meter = self.meter
            meter.add(1)
        return x * 2


class Property(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            x = x * self.meter.twice
        return x * 2


class ChosenProperty(Metered):
    def forward(self, x: Any) -> Any:
        return x * self.meter.twice if x.sum() > 0 else x


class Function(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            x = added(x)
        return x * 2


def added(x: Any) -> Any:
    return x * METER.add(1)


class LaterOperand(Metered):
    def forward(self, x: Any) -> Any:
        if x.sum() > 100 and self.meter.any():
            raise ValueError("large")
        return x * 2


class ShownSometimes(Metered):
    def forward(self, x: Any) -> Any:
        print("now", self.meter.twice if x.sum().item() > 0 else 0)
        return x * 2


METERED = [AttributesMethod, ModulesMethod, GlobalsMethod, MethodUnderAnotherName, Property, ChosenProperty, Function]
METERED += [LaterOperand, ShownSometimes]


@pytest.mark.parametrize("kind", METERED)
@pytest.mark.parametrize("speculates", [False, True])
def test_what_is_no_tensor_runs_only_on_its_own_side(kind: type[Metered], speculates: bool) -> None:
    def counts(run: Callable[..., Any], model: Metered) -> list[Any]:
        METER.count = 0
        return [(run(torch.full((2,), value)).tolist(), model.counts) for value in (-1.0, -1.0, 1.0, -1.0, 1.0)]

    original, mended = kind(), kind()
    compiled = mended_compile(mended, backend="eager", speculate=speculates)
    assert counts(compiled, mended) == counts(original, original)


def test_plain_attributes_of_objects_are_selected_by() -> None:
    def limits(x: Any, meter: Meter) -> Any:
        if x.sum() > 0 and meter.limit > 1:
            x = x * meter.limit
        return x + 1

    same_program(limits, [(torch.full((2,), value), Meter()) for value in (-1.0, 1.0)], __file__, fullgraph=True)


def positional_inplace(x: Any, state: list[int]) -> Any:
    y = x - 3
    z = torch.nn.functional.relu(y, True) + 1 if x.sum() > 0 else x * 3
    return y, z


def inplace_of_a_keyword(x: Any, state: list[int]) -> Any:
    y = x - 3
    z = torch.nn.functional.relu(input=y, inplace=True) + 1 if x.sum() > 0 else x * 3
    return y, z


def sorted_list(x: Any, state: list[int]) -> Any:
    if x.sum() > 0:
        state.sort()
    return x + state[0]


def grad_mode(x: Any, state: list[int]) -> Any:
    before = torch.is_grad_enabled()
    if x.sum() > 0:
        torch.set_grad_enabled(False)
    now = torch.is_grad_enabled()
    torch.set_grad_enabled(before)
    return x * 2, now


def same_through_plus(x: Any, state: list[int]) -> Any:
    y = x - 3
    if x.sum() > 0:
        (+y).add_(1)
        z = x * 2
    else:
        z = x * 3
    return y, z


def signed_zeros(x: Any, state: list[int]) -> Any:
    k = 0.0 if x.sum() > 0 else -0.0
    return torch.atan2(torch.full_like(x, k), x * 0 - 1), k


class Counted:
    count = 0

    @classmethod
    def add(cls, x: Any, y: Any) -> Any:
        cls.count += 1
        return x * y


def of_a_class(x: Any, state: list[int]) -> Any:
    y = Counted.add(x, 2) if x.sum() > 0 else x
    state[1] = Counted.count
    return y + 1


def on_a_tensor(x: Any, state: list[int]) -> Any:
    y = x + 1
    y.meter = METER  # type: ignore[attr-defined,unused-ignore]
    z = x * y.meter.add(1) if x.sum() > 0 else x * 3
    state[1] = METER.count
    return z


def best_of_two(x: Any, state: list[int]) -> Any:
    a, b = x + 1, x + 2
    best = a
    if b.sum() > 4:
        best = b
    rest = [t for t in (a, b) if t is not best]
    return sum(rest), len(rest)


ON_ITS_SIDE = [positional_inplace, inplace_of_a_keyword, sorted_list, grad_mode, same_through_plus, signed_zeros]


@pytest.mark.parametrize("program", [*ON_ITS_SIDE, of_a_class, on_a_tensor, best_of_two])
@pytest.mark.parametrize("speculates", [False, True])
def test_only_the_side_that_is_meant_shows(program: Callable[..., Any], speculates: bool) -> None:
    def shown(run: Callable[..., Any]) -> list[str]:
        Counted.count = METER.count = 0
        state = [3, 1, 2]
        return [repr((run(torch.full((3,), value), state), state)) for value in (-1.0, -1.0, 5.0, -1.0, 5.0)]

    compiled = mended_compile(program, backend="eager", speculate=speculates)
    assert shown(compiled) == shown(program)

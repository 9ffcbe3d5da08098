"""Python's own objects: containers, iterators, classes, imports."""

from __future__ import annotations

import array
import itertools
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import torch

from .cases import Fails, Left, Mended, case, none


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0),)


def an_array() -> tuple[Any, ...]:
    return torch.ones(3), array.array("i", [1, 2])


def an_iterator() -> tuple[Any, ...]:
    return torch.ones(3), itertools.accumulate([1, 2])


def a_generator() -> tuple[Any, ...]:
    values = (i for i in range(3))
    return torch.full((3,), float(sum(values))), values


def a_list() -> tuple[Any, ...]:
    return torch.ones(3), [1]


def scripted() -> tuple[Any, ...]:
    return torch.ones(3), torch.jit.script(torch.nn.ReLU())


@case("Import failure", Mended("substitute"), numbers)
def tries_an_import(x: torch.Tensor) -> torch.Tensor:
    try:
        import no_such_module_anywhere  # type: ignore[import-not-found]
    except ImportError:
        return x * 2
    return x * no_such_module_anywhere.factor


none("copy.deepcopy()", "torch 2.13 traces into `copy.deepcopy`; what breaks then is the copy of a tensor")


class Kind:
    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and self.name == other.name


KINDS = [Kind("a"), Kind("a"), Kind("b")]


@case("Unsupported key type for itertools.groupby", Mended("substitute"), numbers, follows=True)
def groups_objects(x: torch.Tensor) -> torch.Tensor:
    for kind, group in itertools.groupby(KINDS, key=lambda kind: kind):
        x = x * len(list(group)) + len(kind.name)
    return x


@case("Unexpected failure during itertools.groupby() iteration", Mended("postpone"), numbers)
def groups_by_a_key_that_breaks(x: torch.Tensor) -> torch.Tensor:
    def key(i: int) -> int:
        print(i)
        return i // 2

    for _, group in itertools.groupby([0, 1, 2], key=key):
        x = x * len(list(group))
    return x


@case("Unsupported arguments for itertools.groupby", Mended("substitute"), numbers)
def groups_by_position(x: torch.Tensor) -> torch.Tensor:
    for _, group in itertools.groupby([1, 1, 2], lambda value: value > 1):
        x = x * len(list(group))
    return x


none(
    "hasattr() on unsupported type",
    "no program found: an object answers, or breaks as `Unsupported hasattr call`",
)


@case("Unsupported hasattr call", Mended("substitute"), numbers)
def asks_a_slice(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if hasattr(slice(1), "indices") else x * 3


@case("namedtuple construction", Mended("substitute"), numbers)
def makes_a_type(x: torch.Tensor) -> torch.Tensor:
    fields: Any = {"first": 1, "second": 2}.keys()
    pair = namedtuple("pair", fields)  # type: ignore[misc]
    made: Any = pair(x, x + 1)  # type: ignore[call-arg]
    return made.first * made.second


@case("unimplemented builtin op on tensor arguments", Fails("TypeError: tensors do not do this with classes"), numbers)
def shifts_by_a_class(x: torch.Tensor) -> torch.Tensor:
    return x << Kind


@case(
    "Attempted to wrap a set with tensors",
    Mended("substitute"),
    lambda: (torch.ones(2), {torch.ones(2)}),
)
def takes_a_set(x: torch.Tensor, others: set[torch.Tensor]) -> torch.Tensor:
    for other in others:
        x = x + other
    return x


@case("Reconstruction failure", Mended("substitute"), numbers)
def returns_an_iterator(x: torch.Tensor) -> tuple[torch.Tensor, Any]:
    return x * 2, iter({"a": 1}.items())


none("1-arg super not implemented", "`super(C)` breaks when it is called, as `invalid call to builtin op handler`")


@case(
    "missing tp_iter",
    Mended("substitute"),
    an_array,
)
def iterates_an_array(x: torch.Tensor, values: Any) -> torch.Tensor:
    for value in values:
        x = x * value
    return x


@case(
    "Missing tp_iternext",
    Left("what an iterator from outside gives next is known by taking it, which cannot be undone"),
    an_iterator,
)
def takes_the_next(x: torch.Tensor, values: Iterator[int]) -> torch.Tensor:
    return x * next(values)


@case(
    "call_method on generator",
    Mended("substitute"),
    a_generator,
)
def closes_a_generator(x: torch.Tensor, values: Any) -> torch.Tensor:
    values.close()
    return x * 2


@case(
    "Generator reconstruction with mutations",
    Left("its steps are the caller's, after the graph, and change what the caller sees by then"),
    a_list,
)
def returns_a_generator(x: torch.Tensor, seen: list[int]) -> tuple[torch.Tensor, Any]:
    return x * 2, noted(x, seen)


def noted(x: torch.Tensor, seen: list[int]) -> Iterator[torch.Tensor]:
    for i in range(2):
        seen.append(i)
        yield x + i


@case(
    "Invalid call to __build_class__",
    Left("each call makes a class of its own; a trace would make one for all"),
    numbers,
)
def defines_a_class(x: torch.Tensor) -> torch.Tensor:
    class Local:
        factor = 2

    return x * Local.factor


@case("Can't extract message from torch._check*()", Mended("substitute"), numbers)
def checks_with_a_function(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.shape[0] == 4, message)
    return x * 2


def message() -> str:
    return "four are needed"


@case("Can't convert torch._check*() message closure", Mended("substitute"), numbers)
def checks_with_a_closure(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.shape[0] == 4, lambda: f"four are needed, not {x}")
    return x * 2


@case("torch.compile call with > 1 args", Mended("substitute"), numbers)
def compiles_inside(x: torch.Tensor) -> torch.Tensor:
    return torch.compile(model=twice, backend="eager")(x) + 1


def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@case(
    "torch.jit.script/freeze modules unsupported",
    Left("the program that was scripted is not Python any more"),
    scripted,
)
def calls_a_scripted_module(x: torch.Tensor, module: Any) -> torch.Tensor:
    return module(x) + 1


class Layer(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.register_buffer("offset", torch.ones(4))
        self.calls = 0


@case(
    "getattr() on nn.Module with pending mutation",
    Mended("substitute"),
    lambda: (torch.arange(4.0), Layer()),
    grad=False,
)
def asks_a_changed_module(x: torch.Tensor, layer: Layer) -> torch.Tensor:
    layer.calls += 1
    layer.offset = x * 2
    return x + sum(buffer.sum() for buffer in layer.buffers())

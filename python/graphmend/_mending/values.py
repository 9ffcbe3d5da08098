"""How the values of an effect travel through a graph: tensors and numbers as operands, the rest spelled in a string.

`describe` runs while Dynamo traces and `rebuild` when the effect is delivered. A value is a tensor, an int (as SymInt,
so that a counter does not recompile), a float (as a 0-d double tensor, for the same reason), a constant, or a list,
tuple, dict or torch.Size of values. Anything else cannot travel.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from graphmend._mending.kept import keep, kept
from graphmend._torch.tracing import assume_constant_result

# One character a value; constants and lengths follow as `repr;`. Strings are escaped by repr, and never hold a `;` raw.
_TENSOR = "t"
_INT = "i"
_FLOAT = "f"
_CONSTANT = "c"
_TUPLE = "T"
_LIST = "L"
_DICT = "D"
_SIZE = "S"
_DTYPE = "y"
_DEVICE = "v"
_CLASS = "C"
# A list or dict that the statement is given twice is one object; the number of those before it follows.
_AGAIN = "A"
# Only at the start.
_STACK = "K"
_NO_GRAD = "g"
_DEFAULT = "d"

# What is shown in the same way, or comes out of a graph as what it is.
_TENSORS = (torch.nn.Parameter, torch.nn.Buffer)


class Place(NamedTuple):
    """What was so where the statement stands."""

    # The number of the stack that it is to see.
    stack: int | None
    # Whether gradients are recorded there.
    records: bool
    # The default type, of which tensors are shown without it.
    default: torch.dtype


@assume_constant_result
def _number_of(kind: type) -> str:
    return str(keep(kind))


def describe(value: Any, spec: list[str], ints: list[int], tensors: list[torch.Tensor], met: list[Any]) -> bool:
    """Appends what is needed to rebuild the value; False if it cannot travel. `met` are lists and dicts so far."""
    # What is most often shown comes first: each question takes time in a trace.
    kind = type(value)
    if kind is torch.Tensor:
        spec.append(_TENSOR)
        tensors.append(value)
        return True
    if kind is str:
        spec.append(_CONSTANT + "s" + str(len(value)) + ";" + value)
        return True
    if kind is int:
        spec.append(_INT)
        ints.append(value)
        return True
    if kind is float:
        spec.append(_FLOAT)
        tensors.append(torch.tensor(value, dtype=torch.float64))
        return True
    if value is None or value is True or value is False:
        spec.append(_CONSTANT + ("N;" if value is None else "T;" if value is True else "F;"))
        return True
    if isinstance(value, torch.Tensor):
        if kind not in _TENSORS and not is_traceable_wrapper_subclass(value):
            # It comes out of a graph without its class.
            return False
        spec.append(_TENSOR)
        tensors.append(value)
        return True
    if isinstance(value, torch.Size):
        spec.append(_SIZE + str(len(value)) + ";")
        return _describe_all(value, spec, ints, tensors, met)
    if kind is tuple:
        spec.append(_TUPLE + str(len(value)) + ";")
        return _describe_all(value, spec, ints, tensors, met)
    if kind is list or kind is dict:
        for number, each in enumerate(met):
            if each is value:
                spec.append(_AGAIN + str(number) + ";")
                return True
        met.append(value)
    if kind is list:
        spec.append(_LIST + str(len(value)) + ";")
        return _describe_all(value, spec, ints, tensors, met)
    if kind is dict:
        spec.append(_DICT + str(len(value)) + ";")
        for key, item in value.items():
            if not describe(key, spec, ints, tensors, met) or not describe(item, spec, ints, tensors, met):
                return False
        return True
    if isinstance(value, type):
        # A category of warnings, say. Its name may lead to another, or nowhere.
        spec.append(_CLASS + _number_of(value) + ";")
        return True
    if isinstance(value, torch.dtype):
        spec.append(_DTYPE + str(value) + ";")
        return True
    if isinstance(value, torch.device):
        spec.append(_DEVICE + str(value) + ";")
        return True
    return False


def _describe_all(values: Any, spec: list[str], ints: list[int], tensors: list[torch.Tensor], met: list[Any]) -> bool:
    # A loop, because Dynamo inlines it where it would take `all` of a generator for a break.
    for value in values:  # noqa: SIM110
        if not describe(value, spec, ints, tensors, met):
            return False
    return True


def describe_stack(number: int) -> str:
    """The start of a spec whose effect is to see a stack that was kept."""
    return _STACK + str(number) + ";"


def describe_mode() -> str:
    """What follows that."""
    mode = "" if torch.is_grad_enabled() else _NO_GRAD
    default = torch.get_default_dtype()
    return mode if default == torch.float32 else mode + _DEFAULT + str(default) + ";"


def rebuild(spec: str, ints: Iterable[int], tensors: Iterable[torch.Tensor]) -> tuple[Place, list[Any]]:
    """Where the statement stands, and the values that `describe` was given, in order."""
    reader = _Reader(spec, iter(ints), iter(tensors))
    place = reader.place()
    values = []
    while reader.at < len(spec):
        values.append(reader.value())
    return place, values


def first_constant(spec: str) -> Any:
    """The first value, which is a constant; nothing is made of the others."""
    reader = _Reader(spec, iter(()), iter(()))
    reader.place()
    return reader.value()


class _Reader:
    def __init__(self, spec: str, ints: Iterator[int], tensors: Iterator[torch.Tensor]) -> None:
        self.spec = spec
        self.ints = ints
        self.tensors = tensors
        self.at = 0
        # Lists and dicts so far.
        self.met: list[Any] = []

    def field(self) -> str:
        end = self.spec.index(";", self.at)
        text = self.spec[self.at : end]
        self.at = end + 1
        return text

    def place(self) -> Place:
        stack = None
        if self.spec.startswith(_STACK):
            self.at = 1
            stack = int(self.field())
        records = not self.spec.startswith(_NO_GRAD, self.at)
        self.at += not records
        default = torch.float32
        if self.spec.startswith(_DEFAULT, self.at):
            self.at += 1
            default = getattr(torch, self.field().removeprefix("torch."))
        return Place(stack, records, default)

    def value(self) -> Any:
        kind = self.spec[self.at]
        self.at += 1
        if kind == _TENSOR:
            return next(self.tensors)
        if kind == _INT:
            return int(next(self.ints))
        if kind == _FLOAT:
            return next(self.tensors).item()
        if kind == _CONSTANT:
            return self.constant()
        if kind == _DTYPE:
            return getattr(torch, self.field().removeprefix("torch."))
        if kind == _DEVICE:
            return torch.device(self.field())
        if kind == _CLASS:
            return kept(int(self.field()))
        count = int(self.field())
        if kind == _AGAIN:
            return self.met[count]
        if kind == _DICT:
            table: dict[Any, Any] = {}
            self.met.append(table)
            table.update([(self.value(), self.value()) for _ in range(count)])
            return table
        items: list[Any] = []
        if kind == _LIST:
            self.met.append(items)
        items.extend([self.value() for _ in range(count)])
        return {_TUPLE: tuple, _LIST: lambda made: made, _SIZE: torch.Size}[kind](items)

    def constant(self) -> Any:
        field = self.field()
        if field in ("N", "T", "F"):
            return {"N": None, "T": True, "F": False}[field]
        length = int(field[1:])
        text = self.spec[self.at : self.at + length]
        self.at += length
        return text

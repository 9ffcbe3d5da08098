"""Where two values differ: results, exceptions, events and states, down to the last bit or within a tolerance.

Objects are compared by what they hold. Functions, classes and modules count as values of their own, and an object that
holds nothing visible is equal to another of its type.
"""

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from graphmend._checking import verify
from graphmend._checking.observe import Text
from graphmend._torch.compiling import OptimizedModule
from graphmend._torch.tensors import tolerances

# What `torch.compile` leaves in a module.
_NOT_COMPARED = ("_compiled_call_impl", "_is_torch_compile")


@dataclass(frozen=True)
class Difference:
    """One place in which two values differ."""

    where: str
    original: str
    mended: str

    def __str__(self) -> str:
        return f"{self.where}\n  original: {self.original}\n  mended:   {self.mended}"


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may be apart: to the last bit, or as `torch.testing.assert_close` has it for their dtype."""

    exact: bool
    rtol: float | None = None
    atol: float | None = None

    def tensors_differ(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether the numbers in two tensors of the same kind and shape differ."""
        one, other = one.detach(), other.detach()
        if one.device.type == "meta":
            return False
        if self.exact and one.layout == torch.strided and not one.is_quantized and type(one) is torch.Tensor:
            return not torch.equal(_bits(one), _bits(other))
        rtol, atol = (0.0, 0.0) if self.exact else (self.rtol, self.atol)
        try:
            torch.testing.assert_close(other, one, rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError:
            return True
        return False

    def numbers_differ(self, one: complex, other: complex) -> bool:
        if one == other or (one != one and other != other):
            return False
        if self.exact or isinstance(one, int):
            return True
        rtol, atol = 1.3e-6 if self.rtol is None else self.rtol, 1e-5 if self.atol is None else self.atol
        return not abs(one - other) <= atol + rtol * abs(one)

    def lines_differ(self, one: str, other: str) -> bool:
        # Printed numbers have few digits: the smallest difference may show in the last of them.
        smallest = 0.0 if self.exact else max(1e-4, self.rtol or 0.0)
        return not verify.Rounding(smallest).same(one, other)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def differences(where: str, original: Any, mended: Any, tolerance: Tolerance) -> Iterator[Difference]:
    """All differences, in the order in which a reader meets them."""
    yield from _Walk(tolerance).walk(where, original, mended)


class _Walk:
    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.seen: set[tuple[int, int]] = set()
        # Ids stand for objects only as long as those live.
        self.kept: list[Any] = []

    def walk(self, where: str, one: Any, other: Any) -> Iterator[Difference]:
        if one is other and not isinstance(one, float):
            return
        if type(one) is not type(other):
            yield Difference(where, _shown_with_type(one), _shown_with_type(other))
            return
        if isinstance(one, (str, bytes, bool, int, float, complex)):
            if self._plain_differ(one, other):
                yield Difference(where, _shown(one), _shown(other))
            return
        if (id(one), id(other)) in self.seen:
            return
        self.seen.add((id(one), id(other)))
        self.kept += [one, other]
        for kind, compare in self._kinds():
            if isinstance(one, kind):
                yield from compare(where, one, other)
                return
        yield from self._objects(where, one, other)

    def _kinds(self) -> list[tuple[Any, Callable[[str, Any, Any], Iterator[Difference]]]]:
        return [
            (torch.Tensor, self._tensors),
            (torch.nn.Module, self._modules),
            (BaseException, self._errors),
            (Text, self._texts),
            (Mapping, self._mappings),
            ((list, tuple), self._sequences),
            ((set, frozenset), self._sets),
        ]

    def _plain_differ(self, one: Any, other: Any) -> bool:
        if isinstance(one, (int, float, complex)):
            return self.tolerance.numbers_differ(one, other)
        if isinstance(one, str):
            return one != other and self._first_line(one, other) is not None
        return bool(one != other)

    def _first_line(self, one: str, other: str) -> int | None:
        """The number of the first line in which two texts differ, without what no two runs share."""
        first, second = verify.levelled(one), verify.levelled(other)
        for number, (a, b) in enumerate(zip(first, second, strict=False)):
            if self.tolerance.lines_differ(a, b):
                return number
        return None if len(first) == len(second) else min(len(first), len(second))

    def _tensors(self, where: str, one: torch.Tensor, other: torch.Tensor) -> Iterator[Difference]:
        for name in ("dtype", "shape", "device", "layout", "requires_grad"):
            first, second = getattr(one, name), getattr(other, name)
            if first != second:
                yield Difference(f"{name} of {where}", _shown(first), _shown(second))
        if one.shape != other.shape or one.dtype != other.dtype or one.layout != other.layout:
            return
        if one.layout == torch.strided and _strides(one) != _strides(other):
            yield Difference(f"strides of {where}", _shown(one.stride()), _shown(other.stride()))
        if self.tolerance.tensors_differ(one, other):
            yield Difference(where, *_shown_tensors(one.detach(), other.detach(), self.tolerance))
        if one.is_leaf and other.is_leaf:
            yield from self.walk(f"gradient of {where}", one.grad, other.grad)

    def _modules(self, where: str, one: torch.nn.Module, other: torch.nn.Module) -> Iterator[Difference]:
        if isinstance(one, OptimizedModule):
            # How often it was compiled is nobody's state.
            yield from self.walk(where, one._orig_mod, other._orig_mod)
            return
        for store in ("_parameters", "_buffers", "_modules"):
            yield from self._named(where, getattr(one, store), getattr(other, store))
        skipped = ("_parameters", "_buffers", "_modules", *_NOT_COMPARED)
        rest = [{name: value for name, value in vars(each).items() if name not in skipped} for each in (one, other)]
        yield from self._named(where, *rest)

    def _named(self, where: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
        for name in dict.fromkeys([*one, *other]):
            place = f"{where}.{name}"
            if name not in one or name not in other:
                shown = (_shown(each[name]) if name in each else "(not there)" for each in (one, other))
                yield Difference(place, *shown)
            else:
                yield from self.walk(place, one[name], other[name])

    def _errors(self, where: str, one: BaseException, other: BaseException) -> Iterator[Difference]:
        yield from self.walk(f"arguments of {where}", one.args, other.args)

    def _texts(self, where: str, one: Text, other: Text) -> Iterator[Difference]:
        if one.stream != other.stream:
            yield Difference(where, _shown(one), _shown(other))
            return
        number = self._first_line(one.text, other.text)
        if number is not None:
            lines = (verify.levelled(each.text) for each in (one, other))
            shown = (each[number] if number < len(each) else "(ends here)" for each in lines)
            yield Difference(f"{where}: {one.stream}, line {number + 1}", *shown)

    def _mappings(self, where: str, one: Mapping[Any, Any], other: Mapping[Any, Any]) -> Iterator[Difference]:
        if list(one) != list(other):
            yield Difference(f"keys of {where}", _shown(list(one)), _shown(list(other)))
        for key in one:
            if key in other:
                yield from self.walk(f"{where}[{key!r}]", one[key], other[key])

    def _sequences(self, where: str, one: Any, other: Any) -> Iterator[Difference]:
        for index, (first, second) in enumerate(zip(one, other, strict=False)):
            yield from self.walk(f"{where}[{index}]", first, second)
        if len(one) != len(other):
            index = min(len(one), len(other))
            shown = (_shown(each[index]) if index < len(each) else "(nothing more)" for each in (one, other))
            yield Difference(f"{where}[{index}]", *shown)

    def _sets(self, where: str, one: Any, other: Any) -> Iterator[Difference]:
        if len(one) != len(other) or sorted(map(repr, one)) != sorted(map(repr, other)):
            yield Difference(where, _shown(one), _shown(other))

    def _objects(self, where: str, one: Any, other: Any) -> Iterator[Difference]:
        if callable(getattr(one, "tobytes", None)) and hasattr(one, "dtype"):
            if (one.dtype, one.shape) != (other.dtype, other.shape) or self._arrays_differ(one, other):
                yield Difference(where, _shown(one), _shown(other))
        elif inspect.isroutine(one) or isinstance(one, type) or inspect.ismodule(one):
            first, second = (getattr(each, "__qualname__", getattr(each, "__name__", "")) for each in (one, other))
            if first != second:
                yield Difference(where, first, second)
        elif dataclasses.is_dataclass(one):
            for entry in dataclasses.fields(one):
                yield from self.walk(f"{where}.{entry.name}", getattr(one, entry.name), getattr(other, entry.name))
        elif getattr(one, "__dict__", None):
            yield from self._named(where, vars(one), vars(other))

    def _arrays_differ(self, one: Any, other: Any) -> bool:
        if one.tobytes() == other.tobytes():
            return False
        if self.tolerance.exact or one.dtype.kind not in "fc":
            return True
        return self.tolerance.tensors_differ(torch.as_tensor(one), torch.as_tensor(other))


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    """Those that mean something: where there is one element or none, they do not."""
    if not tensor.numel():
        return ()
    return tuple(step for step, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1)


def _shown_tensors(one: torch.Tensor, other: torch.Tensor, tolerance: Tolerance) -> tuple[str, str]:
    """The first numbers that differ, with their place."""
    if one.layout != torch.strided or one.is_quantized or not one.numel():
        return _shown(one), _shown(other)
    first, second = one.reshape(-1), other.reshape(-1)
    if tolerance.exact:
        width = one.element_size()
        unequal = (_bits(one) != _bits(other)).reshape(-1, width).any(1)
    else:
        unequal = ~torch.isclose(second, first, **_given(tolerance, one.dtype), equal_nan=True)
    places = unequal.nonzero()
    at = int(places[0]) if len(places) else 0
    index = [int(i) for i in torch.unravel_index(torch.tensor(at), one.shape)] if one.dim() else []
    note = f" at {index}; {len(places)} of {one.numel()} differ" if index else ""
    return f"{_number(first[at])}{note}", _number(second[at])


def _given(tolerance: Tolerance, dtype: torch.dtype) -> dict[str, float]:
    rtol, atol = tolerances(dtype, tolerance.rtol, tolerance.atol)
    return {"rtol": rtol, "atol": atol}


def _number(value: torch.Tensor) -> str:
    number = value.item()
    return repr(number) if isinstance(number, (bool, int, complex)) or math.isfinite(number) else str(number)


def _shown_with_type(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__qualname__}: {_shown(value)}"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__qualname__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= 300 else text[:297] + "..."

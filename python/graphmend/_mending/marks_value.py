"""The marks where Python needs a tensor's value: predicted (see `speculate`), and compared after the graph."""

import math
from typing import Any

import torch

from graphmend._mending import speculate
from graphmend._mending.marks_arrays import is_array
from graphmend._mending.marks_asked import decline, may_carry, own_backend
from graphmend._mending.marks_post import allclose, as_flag, as_tensor, equal, holds
from graphmend._mending.shadow import FailsError, ImpureError, Shadow
from graphmend._torch.modes import saved_tensors_have_hooks
from graphmend._torch.raising import FIRST_ROUNDED
from graphmend._torch.tracing import (
    TraceAgain,
    assume_constant_result,
    captures_numbers,
    last_wanted,
    passed_in_call,
    trace_attempt,
    traced_code,
)
from graphmend._torch.variables import is_module

# By the size of a float: the whole numbers of the same size.
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@assume_constant_result
def _learn(site: str, may_be_symbol: bool) -> str:
    """Predicts the value that was just marked as wanted; the name of the prediction, or nothing if there is none."""
    backend = own_backend()
    if backend is None or not backend.speculates:
        if backend is not None:
            backend.notes[site] = "Python needs the value of a tensor here, and speculation is off"
        return ""
    frame = backend.frame
    if site in backend.declined:
        return ""
    if saved_tensors_have_hooks():
        backend.declined[site] = "hooks, as activation checkpointing has them, would see what a wrong graph saves"
        return ""
    if frame.attempt is not trace_attempt():
        frame.attempt = trace_attempt()
        frame.passed = {}
        frame.predicted.clear()
        frame.shadow = Shadow()
    occurrence = frame.passed[site] = frame.passed.get(site, -1) + 1
    is_long = passed_in_call(site) > speculate.MAX_ROUNDS and not backend.fullgraph
    if occurrence >= speculate.MAX_ELEMENTS or is_long:
        backend.declined[site] = "it is passed too often to be predicted each time"
        raise TraceAgain(restart_reason=backend.declined[site])
    key = speculate.key_of(site, occurrence, backend.number)
    try:
        value = speculate.python_value(frame.shadow.value(last_wanted()))
    except ImpureError as error:
        backend.notes[site] = f"its value is not known ahead: {error}"
        frame.fails |= isinstance(error, FailsError)
        return ""
    if backend.speculates == "report":
        backend.notes[site] = f"speculation would predict {value!r} here"
        return ""
    is_general = captures_numbers() and backend.learnt(traced_code()).captures.general
    if may_be_symbol and is_general and speculate.changes(key, value):
        return ""
    if not speculate.predict(key, value, backend.fullgraph):
        backend.notes[site] = "its value was predicted wrongly too often"
        frame.given_up = True
        return ""
    frame.predicted.add(key)
    return key


@assume_constant_result
def _item(text: str, i: int) -> Any:
    return speculate.decode(text)[i]


def expect(site: str, tensor: torch.Tensor, may_be_symbol: bool = False) -> Any:
    """The value that is predicted for a tensor, compared after the graph; None if none is."""
    if not torch.compiler.is_dynamo_compiling() or not may_carry():
        return None
    if tensor.numel() > speculate.MAX_ELEMENTS:
        decline(site, "its value has too many elements to be predicted")
        return None
    torch.ops.graphmend.wanted(tensor)
    key = _learn(site, may_be_symbol)
    if key == "":
        return None
    text = getattr(speculate.PREDICTIONS, key)
    value = _listed(text, tensor.shape, 0, 0)
    torch.ops.graphmend.predicted(key, text, tensor, _differs(tensor, value))
    return value


def _differs(actual: torch.Tensor, value: Any) -> torch.Tensor:
    """Whether a tensor has another value, as `tolist` gives it."""
    if actual.requires_grad:
        actual = actual.detach()
    if actual.dtype == torch.bool and actual.dim() == 0:
        # Inductor cannot compare the truth of a symbol with a constant. The result is a tensor of its own.
        differs = torch.logical_not(actual)
        return differs if value else torch.logical_not(differs)
    expected = torch.tensor(value, dtype=actual.dtype, device=actual.device).reshape(actual.shape)
    if actual.is_complex():
        actual, expected = torch.view_as_real(actual.resolve_conj()), torch.view_as_real(expected)
    if actual.is_floating_point():
        # Zeros have signs; a NaN is what was predicted if it is the same one.
        bits = _BITS[actual.dtype.itemsize]
        actual, expected = actual.view(bits), expected.view(bits)
    return (actual != expected).any()


def _listed(text: str, shape: tuple[int, ...], dim: int, start: int) -> Any:
    """The items of a prediction as `tolist` nests them. Built in the trace: each call has a list of its own."""
    if dim == len(shape):
        item = _item(text, start)
        # The same number; Dynamo does not ask any more where it came from.
        return (item is True) if isinstance(item, bool) else item * 1
    step = math.prod(shape[dim + 1 :])
    return [_listed(text, shape, dim + 1, start + i * step) for i in range(shape[dim])]


def value(site: str, kind: str, tensor: Any) -> Any:
    """`tensor.item()`, `tensor.tolist()`, `int(tensor)`, `float(tensor)`, `bool(tensor)`, `complex(tensor)`; also of an
    array of NumPy's"""
    if torch.compiler.is_dynamo_compiling() and is_array(tensor):
        tensor = _as_numbers(tensor, kind)
    # Of a tensor that requires grad, torch warns, and its value is another in every step.
    if (
        torch.compiler.is_dynamo_compiling()
        and is_plain_tensor(tensor)
        and not tensor.requires_grad
        and (kind == "tolist" or tensor.numel() == 1)
        # Not all of its numbers can be converted.
        and (kind != "int" or tensor.dtype != torch.uint64)
        and (kind not in ("int", "float", "complex") or not tensor.is_complex())
    ):
        predicted = expect(site, tensor if kind == "tolist" else tensor.reshape(()))
        if predicted is not None and (kind != "int" or -math.inf < predicted < math.inf):
            if kind == "int":
                return int(predicted)
            if kind == "float":
                return float(predicted)
            if kind == "complex":
                return complex(predicted)
            return bool(predicted) if kind == "bool" else predicted
    if kind == "item":
        return tensor.item()
    if kind == "tolist":
        return tensor.tolist()
    if kind == "int":
        return int(tensor)
    if kind == "complex":
        return complex(tensor)
    return float(tensor) if kind == "float" else bool(tensor)


def _as_numbers(array: Any, kind: str) -> Any:
    """An array as the tensor that has its memory; itself where NumPy would warn."""
    numbers = torch.from_numpy(array)
    return numbers if kind in ("item", "tolist") or numbers.dim() == 0 else array


def truth_of(site: str, test: Any) -> Any:
    """The truth of a test that is a tensor, or a number that was read from one; anything else as it is."""
    if not torch.compiler.is_dynamo_compiling():
        return test
    test = as_tensor(test)
    if isinstance(test, torch.Tensor) and test.numel() == 1:
        predicted = expect(site, as_flag(test))
        if predicted is not None:
            return predicted
    return test


def truth_value(site: str, result: Any) -> Any:
    """The bool that `torch.equal` or `torch.allclose` gives"""
    result = truth_of(site, result)
    return bool(result) if isinstance(result, torch.Tensor) else result


def agrees(site: str, name: str, owner: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`owner.equal(other)` or `owner.allclose(other, …)`"""
    if torch.compiler.is_dynamo_compiling() and is_plain_tensor(owner):
        return truth_value(site, (equal if name == "equal" else allclose)(owner, *args, **kwargs))
    return getattr(owner, name)(*args, **kwargs)


def within(site: str, is_in: bool, item: Any, container: Any) -> Any:
    """`item in container`, or `item not in container`"""
    return truth_value(site, holds(is_in, item, container))


def as_number(site: str, argument: Any) -> Any:
    """What a function of `math` is given; a tensor as the number that it stands for"""
    if not torch.compiler.is_dynamo_compiling() or not is_plain_tensor(argument) or argument.is_complex():
        return argument
    number = value(site, "float" if argument.is_floating_point() else "int", argument)
    # Some functions of `math` take a tensor for the fraction that it is.
    return argument if type(number) is int and abs(number) > FIRST_ROUNDED else number


def whole(site: str, tensor: Any) -> Any:
    """`int(tensor)` as a test needs it: of whole numbers the tensor itself; others may raise, and are predicted"""
    is_whole = isinstance(tensor, torch.Tensor) and not tensor.is_floating_point() and not tensor.is_complex()
    if is_whole and tensor.numel() == 1 and tensor.dtype != torch.uint64:
        return tensor.detach().reshape(()).long()
    return value(site, "int", tensor)


def index(site: str, owner: Any, bound: Any) -> Any:
    """A size or a position; a tensor as the number it stands for. `owner` is whose method it is given to, if any.

    Several sizes in a tuple or a list are looked at one by one.
    """
    if not torch.compiler.is_dynamo_compiling():
        return bound
    is_known = type(owner) is list or type(owner) is tuple or is_plain_tensor(owner)
    is_torch = is_module(owner, torch)
    if owner is not None and not is_torch and not is_known:
        return bound
    if type(bound) is tuple or type(bound) is list:
        holds_tensor = any(isinstance(size, torch.Tensor) for size in bound)
        return type(bound)([index(site, owner, size) for size in bound]) if holds_tensor else bound
    if not isinstance(bound, torch.Tensor) or bound.numel() != 1:
        return bound
    # Not all that has a size takes these for one.
    if bound.dtype == torch.bool or bound.is_complex():
        return bound
    if not bound.is_floating_point():
        predicted = expect(site, bound.reshape(()), may_be_symbol=True)
        if predicted is None:
            # What cannot be predicted may be a symbol.
            return bound.item() if captures_numbers() else bound
        return int(predicted)
    # Where a tensor is made, its ends and steps may be fractions.
    if is_torch and is_plain_tensor(bound) and bound.dim() == 0 and not bound.requires_grad:
        predicted = expect(site, bound)
        return bound if predicted is None else float(predicted)
    return bound


def each(site: str, name: str, values: Any) -> Any:
    """`any(values)` or `all(values)`"""
    if torch.compiler.is_dynamo_compiling() and is_plain_tensor(values) and values.dim() == 1:
        hold = values != 0
        predicted = expect(site, hold.any() if name == "any" else hold.all())
        if predicted is not None:
            return bool(predicted)
    return any(values) if name == "any" else all(values)


# What functions of torch.nn's call sizes.
_SIZES = ("pad", "size", "num_classes", "output_size")


def sized(site: str, name: str, owner: Any, /, *sizes: Any, **named: Any) -> Any:
    """`owner.name(sizes)`, where tensors may be among the sizes; of a function of torch's after the first argument."""
    if torch.compiler.is_dynamo_compiling() and is_module(owner, torch.nn.functional):
        sizes = (*sizes[:1], *[index(site, None, size) for size in sizes[1:2]], *sizes[2:])
        named = {key: index(site, None, size) if key in _SIZES else size for key, size in named.items()}
    if torch.compiler.is_dynamo_compiling() and is_plain_tensor(owner):
        sizes = tuple([index(site, owner, size) for size in sizes])
        named = {key: index(site, owner, size) for key, size in named.items()}
    return getattr(owner, name)(*sizes, **named)


def _positions(site: str, tensor: Any) -> Any:
    """Where a tensor is not zero, a row for each of its dimensions; as many as are predicted, or None."""
    if not torch.compiler.is_dynamo_compiling() or not is_plain_tensor(tensor) or tensor.dim() == 0:
        return None
    count = expect(site, (tensor != 0).sum())
    if count is None:
        return None
    if count == 0 and tensor.device.type == "cpu":
        return torch.empty_strided((tensor.dim(), 0), (0, 1), dtype=torch.int64)
    if count == 0:
        return torch.empty(tensor.dim(), 0, dtype=torch.int64, device=tensor.device)
    rows = torch.empty(tensor.dim(), count, dtype=torch.int64, device=tensor.device)
    # Where fewer are there than predicted, what stands in their place must be a position too: what is done with them
    # must not fail before the comparison tells.
    rows.copy_(torch.nonzero_static(tensor, size=count, fill_value=0).t())
    return rows


def nonzero(site: str, kind: str, tensor: Any) -> Any:
    """`tensor.nonzero()`, or `torch.nonzero(tensor)`, whose columns lie together in memory; or with `as_tuple=True`"""
    rows = _positions(site, tensor)
    if rows is not None:
        return rows.t() if kind in ("method", "function") else rows.unbind(0)
    if kind == "method":
        return tensor.nonzero()
    if kind == "function":
        return torch.nonzero(tensor)
    return tensor.nonzero(as_tuple=True) if kind == "method tuple" else torch.nonzero(tensor, as_tuple=True)


def where(site: str, condition: Any) -> Any:
    """`torch.where(condition)`"""
    rows = _positions(site, condition)
    return torch.where(condition) if rows is None else rows.unbind(0)


def masked_select(site: str, kind: str, tensor: Any, mask: Any) -> Any:
    """`tensor.masked_select(mask)` or `torch.masked_select(tensor, mask)`"""
    # The history of a tensor shows by which operator it was made.
    if is_plain_tensor(tensor) and _is_mask(mask) and not (tensor.requires_grad and torch.is_grad_enabled()):
        shape = torch.broadcast_shapes(tensor.shape, mask.shape)
        rows = _positions(site, mask.expand(shape))
        if rows is not None:
            return tensor.expand(shape)[rows.unbind(0)]
    return tensor.masked_select(mask) if kind == "method" else torch.masked_select(tensor, mask)


def subscript(site: str, container: Any, key: Any) -> Any:
    """`container[key]`: what a mask selects of a tensor, or the element of a list at a tensor"""
    if is_plain_tensor(container):
        if _is_mask(key) and key.dim() > 0 and key.shape == container.shape[: key.dim()]:
            rows = _positions(site, key)
            if rows is not None:
                return container[rows.unbind(0)]
        elif type(key) is tuple:
            return container[_with_positions(site, container, key)]
        elif _is_position(key):
            return container[_position(site, key)]
    elif type(container) is list or type(container) is tuple:
        return container[index(site, None, key)]
    return container[key]


def _with_positions(site: str, container: torch.Tensor, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts of a subscript, with numbers in place of tensors of one, and positions in that of the only mask, if the
    rest are slices."""
    key = tuple([_position(site, part) if _is_position(part) else part for part in key])
    masks = [i for i, part in enumerate(key) if isinstance(part, torch.Tensor)]
    if len(masks) != 1 or not all(type(part) is slice for i, part in enumerate(key) if i != masks[0]):
        return key
    at, mask = masks[0], key[masks[0]]
    if not _is_mask(mask) or mask.dim() == 0 or mask.shape != container.shape[at : at + mask.dim()]:
        return key
    rows = _positions(site, mask)
    return key if rows is None else (*key[:at], *rows.unbind(0), *key[at + 1 :])


def bounds(lower: Any, upper: Any, step: Any) -> slice:
    """A part `lower:upper:step` of a subscript"""
    return slice(lower, upper, step)


def is_plain_tensor(value: Any) -> bool:
    """A tensor whose operators are torch's own."""
    return type(value) is torch.Tensor or type(value) is torch.nn.Parameter


def element(site: str, value: Any) -> Any:
    """An element of a list or a tuple that is compared; a tensor of one whole number as that number"""
    # In a narrower type than Python's numbers need, torch compares what is left of them.
    if torch.compiler.is_dynamo_compiling() and _is_position(value) and value.dtype == torch.int64:
        return index(site, None, value)
    return value


def position(site: str, owner: Any, key: Any) -> Any:
    """A part of a subscript that is written to; a tensor of one whole number as the position that it says"""
    if torch.compiler.is_dynamo_compiling() and _is_position(key):
        if is_plain_tensor(owner):
            return _position(site, key)
        if type(owner) is list:
            return index(site, None, key)
    return key


def _position(site: str, key: torch.Tensor) -> Any:
    """A position that a tensor says: itself, where it becomes a symbol, else as it is predicted."""
    return key if captures_numbers() else index(site, None, key)


def _is_position(key: Any) -> bool:
    is_whole = is_plain_tensor(key) and not key.is_floating_point() and not key.is_complex()
    return is_whole and key.dim() == 0 and key.dtype not in (torch.bool, torch.uint8)


def _is_mask(value: Any) -> bool:
    return is_plain_tensor(value) and value.dtype == torch.bool

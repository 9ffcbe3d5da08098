"""NumPy's calls that Dynamo does not take, as others that it does. Without NumPy there are none."""

from typing import Any

import torch

from graphmend._mending.marks_arrays import is_array, numpy
from graphmend._mending.marks_asked import own_backend
from graphmend._mending.marks_value import value
from graphmend._torch.tracing import assume_constant_result

_DTYPES = {}
if numpy is not None:
    for _name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        _DTYPES[getattr(torch, _name)] = numpy.dtype(_name)


@assume_constant_result
def speculates() -> bool:
    """Whether values are predicted."""
    backend = own_backend()
    return backend is not None and backend.speculates is True


def dtype_of(array: Any) -> Any:
    """`array.dtype`"""
    return _DTYPES[torch.from_numpy(array).dtype]


def to_bytes(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`array.tobytes()` of numbers that are predicted, and compared after the graph"""
    if args or kwargs or not is_array(owner) or not speculates():
        return None
    tensor = torch.from_numpy(owner)
    if tensor.dtype not in (torch.float64, torch.float32, torch.int64, torch.int32) or tensor.numel() > 64:
        return None
    numbers = value(site, "tolist", tensor.flatten())
    # Which of the many that are no number it is, is not compared.
    return (_bytes_of(tuple(numbers), str(tensor.dtype)),) if not any(x != x for x in numbers) else None


@assume_constant_result
def _bytes_of(numbers: tuple[Any, ...], dtype: str) -> bytes:
    made: bytes = numpy.array(numbers, dtype=dtype.removeprefix("torch.")).tobytes()
    return made


def is_in(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`np.isin(array, others)`"""
    if numpy is None or called is not numpy.isin or len(args) != 2 or kwargs:
        return None
    if not is_array(args[0]) or not is_array(args[1]) or args[0].ndim == 0:
        return None
    one, other = torch.from_numpy(args[0]), torch.from_numpy(args[1])
    return (torch.isin(one, other).numpy(),) if one.dtype == other.dtype else None


_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def reduced(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`np.maximum.reduce(array)` and its like: of whole numbers, whose order and kind of zero make no difference"""
    if numpy is None or len(args) != 1 or not all(name == "axis" for name in kwargs) or not is_array(args[0]):
        return None
    tensor, axis = torch.from_numpy(args[0]), kwargs.get("axis", 0)
    if tensor.dtype not in _WHOLE or tensor.dim() < 2 or not tensor.is_contiguous() or tensor.numel() == 0:
        return None
    if type(axis) is not int or not -tensor.dim() <= axis < tensor.dim():
        return None
    if owner is numpy.maximum:
        return (torch.amax(tensor, axis).numpy(),)
    if owner is numpy.minimum:
        return (torch.amin(tensor, axis).numpy(),)
    # Sums of the narrower ones are wider.
    return (torch.sum(tensor, axis).numpy(),) if owner is numpy.add and tensor.dtype == torch.int64 else None

"""NumPy's calls that Dynamo does not take, as others that it does. Without NumPy there are none."""

from typing import Any

import torch

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment,unused-ignore]

_DTYPES = {}
if np is not None:
    for _name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        _DTYPES[getattr(torch, _name)] = np.dtype(_name)


def is_array(thing: Any) -> bool:
    return np is not None and isinstance(thing, np.ndarray)


def dtype_of(array: Any) -> Any:
    """`array.dtype`"""
    return _DTYPES[torch.from_numpy(array).dtype]


def reduce(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`np.maximum.reduce(array)`; a sum would be added up in another order"""
    if len(args) != 1 or kwargs or not is_array(args[0]) or args[0].ndim < 2 or args[0].shape[0] == 0:
        # Of a single row NumPy makes a number, which Dynamo has as an array.
        return None
    if owner is np.maximum:
        return (np.max(args[0], axis=0),)
    return (np.min(args[0], axis=0),) if owner is np.minimum else None


def outer(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`np.add.outer(one, other)` of rows, and its like"""
    if len(args) != 2 or kwargs or not is_array(args[0]) or not is_array(args[1]):
        return None
    if args[0].ndim != 1 or args[1].ndim != 1 or torch.from_numpy(args[0]).dtype != torch.from_numpy(args[1]).dtype:
        return None
    if owner is np.add:
        return (args[0][:, None] + args[1],)
    if owner is np.subtract:
        return (args[0][:, None] - args[1],)
    return (args[0][:, None] * args[1],) if owner is np.multiply else None


def is_in(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`np.isin(array, others)`"""
    if np is None or called is not np.isin or len(args) != 2 or kwargs:
        return None
    if not is_array(args[0]) or not is_array(args[1]) or args[0].ndim == 0:
        return None
    one, other = torch.from_numpy(args[0]), torch.from_numpy(args[1])
    return (torch.isin(one, other).numpy(),) if one.dtype == other.dtype else None

"""NumPy's functions and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .cases import Left, Mended, case


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0),)


def arrays() -> tuple[Any, ...]:
    return (np.arange(1.0, 5.0),)


_OFF = Left("somebody has switched `trace_numpy` off on purpose; with it on, Dynamo takes what NumPy refuses")


@case("Tensor.numpy() with trace_numpy=False", _OFF, numbers, settings={"trace_numpy": False})
def makes_an_array(x: torch.Tensor) -> Any:
    return x.numpy() * 2


@case(
    "call `torch.from_numpy` with `torch._dynamo.config.trace_numpy=False`",
    _OFF,
    arrays,
    settings={"trace_numpy": False},
)
def makes_a_tensor(a: Any) -> torch.Tensor:
    return torch.from_numpy(a) * 2


@case(
    "attempted to trace numpy function with config.trace_numpy=False",
    _OFF,
    arrays,
    settings={"trace_numpy": False},
)
def multiplies_arrays(a: Any) -> Any:
    return np.multiply(a, 2)


@case("Unsupported ndarray attribute access", Mended("substitute"), arrays)
def asks_for_a_type(a: Any) -> Any:
    return np.zeros(3, dtype=a.dtype) + a[:3]


@case("Unsupported ndarray method call", Mended("substitute", speculates=True), arrays)
def takes_bytes(a: Any) -> tuple[Any, bytes]:
    return a * 2, a.tobytes()


@case(
    "attempted to trace numpy.* function as a method",
    Mended("substitute"),
    lambda: (np.array([[3, 1, 2], [0, 5, 2]]),),
)
def reduces_by_a_method(a: Any) -> Any:
    return np.maximum.reduce(a)


@case("attempted to trace numpy function unsupported by PyTorch", Mended("substitute"), arrays)
def asks_for_members(a: Any) -> Any:
    return np.isin(a, np.array([2.0, 3.0]))


@case(
    "attempted to trace torch._numpy.random function with config.use_numpy_random_stream=True",
    Left("NumPy's own stream is asked for, and a graph draws from torch's"),
    arrays,
    settings={"use_numpy_random_stream": True},
)
def draws_from_numpy(a: Any) -> Any:
    return a + np.random.uniform(size=4)

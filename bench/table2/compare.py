"""Values of one call, flattened and compared bit for bit.

In: whatever a model returns. Out: a flat dict from path to tensor or text, and the first differences of two of them.
Left out: strides and storage; a caller of a model sees values.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

Flat = dict[str, Any]

LONGEST = 5


def flatten(value: Any) -> Flat:
    """Containers and objects (caches) are opened; tensors are copied, other leaves become their type and text."""
    flat: Flat = {}
    opened: set[int] = set()
    pending = [("", value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, Tensor):
            flat[path] = item.detach().clone()
        elif isinstance(item, Mapping):
            pending += ((f"{path}.{key}", item[key]) for key in item)
        elif isinstance(item, (list, tuple)):
            pending += ((f"{path}[{index}]", part) for index, part in enumerate(item))
        elif item is None or isinstance(item, (bool, int, float, str)):
            flat[path] = f"{type(item).__name__} {item!r}"
        else:
            # Objects that only pass through are told apart by their type, not by their address.
            flat[path] = type(item).__qualname__
            if id(item) not in opened:
                opened.add(id(item))
                pending += ((f"{path}.{key}", part) for key, part in getattr(item, "__dict__", {}).items())
    return flat


def bits(tensor: Tensor) -> Tensor:
    return tensor.contiguous().flatten().view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)


def difference(expected: Any, seen: Any) -> str | None:
    if not isinstance(expected, Tensor) or not isinstance(seen, Tensor):
        same_kind = isinstance(expected, Tensor) == isinstance(seen, Tensor)
        return None if same_kind and expected == seen else f"{describe(seen)} for {describe(expected)}"
    if expected.dtype != seen.dtype or expected.shape != seen.shape:
        return f"{describe(seen)} for {describe(expected)}"
    if torch.equal(bits(expected), bits(seen)):
        return None
    distance = (expected.to(torch.float64) - seen.to(torch.float64)).abs().max().item()
    return f"values differ by up to {distance:.3g}"


def describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return str(value)


def compare(expected: Flat, seen: Flat) -> list[str]:
    """The first few differences, as text; none means bit-identical."""
    found = []
    for path in dict.fromkeys([*expected, *seen]):
        if path not in seen:
            found.append(f"{path}: missing")
        elif path not in expected:
            found.append(f"{path}: unexpected")
        else:
            text = difference(expected[path], seen[path])
            if text is not None:
                found.append(f"{path}: {text}")
    left_out = len(found) - LONGEST
    return [*found[:LONGEST], f"and {left_out} more"] if left_out > 0 else found

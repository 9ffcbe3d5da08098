"""Values of one call, flattened and compared bit for bit, or within the usual tolerance.

In: whatever a model returns. Out: a flat dict from path to tensor or text, and the first differences of two of them.
Left out: strides and storage; a caller of a model sees values.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

Flat = dict[str, Any]

LONGEST = 5
# What torch.testing.assert_close allows when it is told nothing: relative, absolute.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
}


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


def difference_beyond(expected: Any, seen: Any, exact: Any = None) -> str | None:
    """As `difference`, but where torch.testing.assert_close sees none there is none. `exact`: what is computed in
    doubles, if that is known; twice as far from it as eager is far enough, as torch's own benchmarks have it."""
    text = difference(expected, seen)
    if text is None or not isinstance(expected, Tensor) or not isinstance(seen, Tensor):
        return text
    if isinstance(exact, Tensor) and expected.is_floating_point() and expected.shape == seen.shape == exact.shape:
        return None if error(exact, seen) <= 2 * error(exact, expected) else text
    try:
        torch.testing.assert_close(seen, expected, equal_nan=True, check_stride=False)
    except AssertionError:
        return text
    return None


def error(exact: Tensor, seen: Tensor) -> float:
    """The root of the mean square of the distance."""
    return float((seen.to(torch.float64) - exact).square().mean().sqrt()) if seen.numel() else 0.0


def largest_errors(exact: Flat, expected: Flat, seen: Flat) -> tuple[float, float]:
    """How far eager's values are from exact ones, and these: of the tensor that is farthest off."""
    pairs = [
        (error(value, expected[path]), error(value, seen[path]))
        for path, value in exact.items()
        if isinstance(value, Tensor) and value.is_floating_point() and path in expected and path in seen
    ]
    return max((pair[0] for pair in pairs), default=0.0), max((pair[1] for pair in pairs), default=0.0)


def farthest(expected: Flat, seen: Flat) -> tuple[float, float]:
    """The largest difference of two numbers, and the largest as a multiple of the tolerance for it."""
    largest, multiple = 0.0, 0.0
    for path, value in expected.items():
        other = seen.get(path)
        if isinstance(value, Tensor) and isinstance(other, Tensor) and value.shape == other.shape and value.numel():
            relative, absolute = TOLERANCES.get(value.dtype, (0.0, 0.0))
            wide, found = value.to(torch.float64), other.to(torch.float64)
            # Infinities and what are no numbers have no distance; whether they are the same is asked elsewhere.
            distance = torch.nan_to_num((found - wide).abs(), nan=0.0, posinf=0.0)
            largest = max(largest, distance.max().item())
            if relative:
                allowed = torch.nan_to_num(absolute + relative * wide.abs(), nan=1.0, posinf=1.0)
                multiple = max(multiple, (distance / allowed).max().item())
    return largest, multiple


def describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return str(value)


def compare(expected: Flat, seen: Flat, exact: Flat | None = None, *, close: bool = False) -> list[str]:
    """The first few differences, as text; none means bit-identical, or if that is enough, close."""
    found = []
    for path in dict.fromkeys([*expected, *seen]):
        if path not in seen:
            found.append(f"{path}: missing")
        elif path not in expected:
            found.append(f"{path}: unexpected")
        else:
            pair = expected[path], seen[path]
            text = difference_beyond(*pair, (exact or {}).get(path)) if close else difference(*pair)
            if text is not None:
                found.append(f"{path}: {text}")
    left_out = len(found) - LONGEST
    return [*found[:LONGEST], f"and {left_out} more"] if left_out > 0 else found

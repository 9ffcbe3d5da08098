"""Compares observations. In: what was expected, what was seen. Out: a list of Differences, each with its place.

Exact, but for Inductor, and recurrent layers that AOTAutograd takes apart, whose own rounding is allowed: numbers, also
those inside texts, may differ a little; and for AOTAutograd and joined branches, which add up gradients in their own
order: they may differ in their last bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .observe import Observation
from .values import TensorValue

_NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+(?:e[+-]?\d+)?|nan|inf")


@dataclass(frozen=True)
class Difference:
    """One place where two variants differ: the call's index, then names and positions down to the value."""

    path: tuple[str | int, ...]
    expected: Any
    seen: Any

    @property
    def place(self) -> str:
        """The path without positions: what kind of difference it is."""
        return ".".join(str(part) for part in self.path if not isinstance(part, int))

    def __str__(self) -> str:
        where = ".".join(map(str, self.path))
        return f"{where}\n  expected {self.expected!r}\n  seen     {self.seen!r}"


@dataclass(frozen=True)
class Rules:
    """How exact a comparison is."""

    tolerance: float = 0.0
    # How many units of the last place gradients may differ, of the largest of them, or of 1: where terms cancel each
    # other, what is left of their rounding is as large as theirs.
    gradient_units: int = 0


def compare(expected: list[Observation], seen: list[Observation], rules: Rules) -> list[Difference]:
    """The differences between what was expected of each call and what was seen."""
    return compare_values(expected, seen, rules)


def compare_values(expected: Any, seen: Any, rules: Rules) -> list[Difference]:
    """The same for any plain data."""
    found: list[Difference] = []
    _walk((), expected, seen, rules, found)
    return found


def _walk(path: tuple[str | int, ...], a: Any, b: Any, rules: Rules, out: list[Difference]) -> None:
    if path and path[-1] == "kept":
        return
    if isinstance(a, TensorValue) and isinstance(b, TensorValue):
        _tensors(path, a, b, rules, out)
    elif is_dataclass(a) and type(a) is type(b):
        for field in fields(a):
            _walk((*path, field.name), getattr(a, field.name), getattr(b, field.name), rules, out)
    elif isinstance(a, dict) and isinstance(b, dict):
        for key in a | b:
            _walk((*path, key), a.get(key, "<none>"), b.get(key, "<none>"), rules, out)
        if "kept" in a and "kept" in b:
            _kept(path, a, b, rules, out)
    elif isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            _walk((*path, index), x, y, rules, out)
    elif not _same_leaf(a, b, rules):
        out.append(Difference(path, a, b))


def _kept(path: tuple[str | int, ...], a: Any, b: Any, rules: Rules, out: list[Difference]) -> None:
    """A tensor that a log handler kept: at the end it is the one eager has then, or still that of the moment."""
    for allowed in (a["kept"], a["args"]):
        found: list[Difference] = []
        _walk((*path, "later"), allowed, b["kept"], rules, found)
        if not found:
            return
    out.append(Difference((*path, "kept"), a["kept"], b["kept"]))


def _tensors(path: tuple[str | int, ...], a: TensorValue, b: TensorValue, rules: Rules, out: list[Difference]) -> None:
    for field in fields(a):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.name == "grad":
            _walk((*path, "grad"), x, y, rules, out)
        elif field.name == "bits":
            is_same = a.shape == b.shape and a.dtype == b.dtype
            in_gradient = "grad" in path and is_same and _close_gradients(a, b, rules)
            close = bool(rules.tolerance) and is_same and _close(a.numbers(), b.numbers(), rules)
            if x != y and not close and not in_gradient:
                out.append(Difference((*path, "bits"), a, b))
        elif x != y:
            out.append(Difference((*path, field.name), x, y))


def _close(a: Any, b: Any, rules: Rules) -> bool:
    if a.dtype == bool or not np.issubdtype(a.dtype, np.floating):
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=rules.tolerance, atol=rules.tolerance, equal_nan=True))


def _close_gradients(a: TensorValue, b: TensorValue, rules: Rules) -> bool:
    x, y = a.numbers(), b.numbers()
    if not np.issubdtype(x.dtype, np.floating):
        return False
    largest = max(1.0, float(np.abs(x[np.isfinite(x)]).max(initial=0.0)))
    unit = float(torch.finfo(getattr(torch, a.dtype.removeprefix("torch."))).eps) * largest
    return bool(np.allclose(x, y, rtol=0.0, atol=rules.gradient_units * unit, equal_nan=True))


def _same_leaf(a: Any, b: Any, rules: Rules) -> bool:
    if type(a) is not type(b):
        return False
    if a == b:
        return True
    return bool(rules.tolerance) and isinstance(a, str) and _same_text(a, b, rules)


def _same_text(a: str, b: str, rules: Rules) -> bool:
    if a.startswith(("0x", "-0x")):
        return abs(float.fromhex(a) - float.fromhex(b)) <= rules.tolerance * (1 + abs(float.fromhex(a)))
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    # A text shows few digits, so that a small difference may round to the next one.
    slack = max(rules.tolerance, 2e-2)
    return all(
        x == y or abs(float(x) - float(y)) <= slack * (1 + abs(float(x)))
        for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    )

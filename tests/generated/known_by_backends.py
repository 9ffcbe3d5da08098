"""Differences that AOTAutograd and Inductor make: of memory, of layout, of gradients, of numbers that are drawn."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .compare import Difference, Rules, compare_values
from .known_program import TEXTS, Program
from .values import TensorValue

# What has an infinite derivative somewhere.
_STEEP = re.compile(r"/ \w+\.floor\(|sqrt\(|log\(|reciprocal\(")
# What changes a tensor; numbers are counted under other names.
_IN_PLACE = re.compile(r"[a-z]_\(|out=|\b(x|y|t|v\d+|self\.buf)(\[[^\]]*\] | [-+*/])= ")


def functional_backward(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if difference.place == "backward":
        return (difference.expected, difference.seen) == ("raised RuntimeError", "done")
    if not any(seen.backward == "raised RuntimeError" for seen in program.eager[: call + 1]):
        return False
    # Gradients, and the numbers of tensors, of which there are more.
    return "grad" in difference.path or difference.path[-1] == "storage" or _is_number(difference, program)


def hook_without_gradient(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if "register_hook" not in program.text:
        return False
    # What a hook raises that works with None.
    raised = ("raised TypeError", "raised AttributeError")
    if difference.place == "backward":
        return difference.expected == "done" and difference.seen in raised
    return "grad" in difference.path and any(seen.backward in raised for seen in program.seen[: call + 1])


def kept_and_changed(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if program.rules == Rules() or _IN_PLACE.search(program.text) is None:
        return False
    if difference.place == "backward":
        return (difference.expected, difference.seen) == ("done", "raised RuntimeError")
    refused = [seen.backward == "raised RuntimeError" for seen in program.seen[: call + 1]]
    return "grad" in difference.path and any(refused)


def _is_number(difference: Difference, program: Program) -> bool:
    """Whether a difference is which tensor is met again."""
    found: Any = program.eager
    for part in difference.path[:-1]:
        found = getattr(found, part) if isinstance(part, str) and is_dataclass(found) else found[part]
    return isinstance(found, tuple) and found[:1] == ("again",)


def copied_input(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if "self.drop(" not in program.text and "dropout(" not in program.text:
        return False
    if difference.place == "arguments.bits":
        # What is changed later is the copy.
        return True
    found = compare_values(program.eager[call], program.plain[call], Rules())
    # Where there is one tensor more, the numbers of all others' memory move.
    return any(_is_copy(each) for each in found) and (_is_copy(difference) or difference.path[-1] == "storage")


def copied_output(difference: Difference, program: Program) -> bool:
    """Where plain `torch.compile` breaks in front of the dropout, it may run in eager, and there it copies nothing."""
    has_dropout = "self.drop(" in program.text or "dropout(" in program.text
    is_inference = "'inference_mode'" in program.text
    shows = (
        _is_copy(difference)
        or difference.path[-1] == "storage"
        or _is_of_copy(difference)
        or (is_inference and _is_shown(difference))
    )
    return has_dropout and shows and program.rules != Rules()


def _is_copy(difference: Difference) -> bool:
    """A new tensor where eager has one that was met before."""
    expected, seen = difference.expected, difference.seen
    return isinstance(expected, tuple) and expected[:1] == ("again",) and isinstance(seen, TensorValue)


def _is_of_copy(difference: Difference) -> bool:
    """What a copy says of itself after the call: of a leaf it has a history and no gradient."""
    of_later = difference.path[1] == "later"
    found = (difference.path[-1], difference.expected, difference.seen)
    lost_gradient = difference.path[-1] == "grad" and isinstance(difference.expected, TensorValue)
    return of_later and (
        found in (("leaf", True, False), ("inference", False, True)) or (lost_gradient and difference.seen is None)
    )


def _is_shown(difference: Difference) -> bool:
    """The text of a copy, in inference mode: it is no leaf that wants a gradient."""
    plainly = re.sub(r",\s+requires_grad=True", "", str(difference.expected))
    return difference.place in TEXTS and plainly == difference.seen


def zero_gradient(difference: Difference, program: Program) -> bool:
    if program.rules == Rules():
        return False
    if difference.path[-1] == "storage" or _is_number(difference, program):
        # Where there is one tensor more, the numbers of all others, and of their memory, move.
        call = difference.path[0]
        assert isinstance(call, int)
        found = compare_values(program.eager[call], program.seen[call], program.rules)
        return any(_is_zero_gradient(each) for each in found)
    return _is_zero_gradient(difference)


def _is_zero_gradient(difference: Difference) -> bool:
    seen = difference.seen
    is_gradient = difference.path[-1] == "grad" and difference.expected is None and isinstance(seen, TensorValue)
    # Zeros of either sign.
    return is_gradient and not np.any(seen.numbers())


def infinite_derivative(difference: Difference, program: Program) -> bool:
    expected, seen = difference.expected, difference.seen
    is_gradient = difference.path[-2:] == ("grad", "bits") and isinstance(seen, TensorValue)
    if not is_gradient or program.rules == Rules():
        return False
    if seen.shape != expected.shape or _STEEP.search(program.text) is None:
        return False
    numbers, spoilt = seen.numbers(), np.isnan(seen.numbers())
    rest = np.allclose(numbers[~spoilt], expected.numbers()[~spoilt], rtol=1e-5, atol=1e-5)
    return bool(spoilt.any()) and not bool(spoilt.all()) and bool(rest)


def shared_inputs(difference: Difference, program: Program) -> bool:
    shares = "('alias'," in program.text or "('view'," in program.text
    if not shares or program.rules == Rules():
        return False
    # Where a break is, another graph is taken; plain `torch.compile` has been wrong by then as well.
    call = difference.path[0]
    assert isinstance(call, int)
    return any(
        compare_values(eager, plain, program.rules)
        for eager, plain in zip(program.eager[: call + 1], program.plain[: call + 1], strict=True)
    )


def layout(difference: Difference, program: Program) -> bool:
    leaves_graph = difference.path[1] in ("result", "later", "owner", "globals") or difference.place.startswith(
        "events.args."
    )
    return leaves_graph and difference.path[-1] == "stride" and program.rules != Rules()


def _multiplies_a_transposed(difference: Difference, program: Program) -> bool:
    """Whether a matrix that lies otherwise in memory is changed in place, and multiplied."""
    call = difference.path[0]
    assert isinstance(call, int)
    inputs = program.text.partition("CALLS = [\n")[2].splitlines()[call]
    return "('transposed'" in inputs and "self.linear(" in program.text


def layout_numbers(difference: Difference, program: Program) -> bool:
    expected, seen = difference.expected, difference.seen
    if difference.path[-1] != "bits" or not isinstance(seen, TensorValue) or program.rules == Rules():
        return False
    if seen.shape != expected.shape or (
        seen.stride == expected.stride and not _multiplies_a_transposed(difference, program)
    ):
        return False
    return bool(np.allclose(seen.numbers(), expected.numbers(), rtol=1e-5, atol=1e-6, equal_nan=True))


def default_dtype(difference: Difference, program: Program) -> bool:
    # Inductor says of each operation what it makes.
    return program.rules.gradient_units > 0 and "torch.set_default_dtype(torch.float64)" in program.text


def uncached_cast(difference: Difference, program: Program) -> bool:
    seen, expected = difference.seen, difference.expected
    is_gradient = difference.path[-2:] == ("grad", "bits") and isinstance(seen, TensorValue)
    if not is_gradient or "'autocast'" not in program.text or program.rules == Rules():
        return False
    units = Rules(gradient_units=4 * round(torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float32).eps))
    return seen.dtype == "torch.float32" and not compare_values({"grad": expected}, {"grad": seen}, units)


def drawn_otherwise(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if not program.rules.tolerance or "torch.bernoulli(" not in program.text:
        return False
    return program.eager[call].rng["torch"] != program.plain[call].rng["torch"]

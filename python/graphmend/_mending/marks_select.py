"""The marks of a branch whose sides are all computed, and joined."""

from typing import Any

import torch

from graphmend._mending import mended_code
from graphmend._mending.marks_asked import decline, own_backend, trace_again_without
from graphmend._mending.marks_post import as_flag, asks, checks
from graphmend._torch.tracing import assume_constant_result


@assume_constant_result
def _note_selected(site: str) -> bool:
    backend = own_backend()
    if backend is not None:
        backend.frame.selected.append(site)
    return backend is not None


def may_select(site: str) -> bool:
    """Whether it is to be found out if all sides can be computed; asked before the tests are evaluated."""
    return asks(site) and not _breaks_inside(site)


@assume_constant_result
def _breaks_inside(site: str) -> bool:
    """Whether the graph would end among the sides, where it may: they would be joined outside of it."""
    backend = own_backend()
    if backend is None or not backend.frame.goes_on:
        return False
    return any(inner in backend.declined for inner in mended_code.selected_inside(site))


def selects(site: str, tests: tuple[Any, ...], *assigned: tuple[Any, str]) -> bool:
    """Whether all sides of a branch can be computed and joined.

    `assigned` are the attributes that they assign: of what, and their names.
    """
    # A break in the tests has ended the trace.
    if not checks():
        return False
    for test in tests:
        if not isinstance(test, torch.Tensor) or test.numel() != 1:
            return False
    for owner, name in assigned:
        if not _is_plain_attribute(owner, name):
            return bool(decline(site, "a side assigns an attribute that may be more than a value"))
    if _has_device():
        torch.ops.graphmend.sides(site)
    return bool(_note_selected(site))


@assume_constant_result
def _has_device() -> bool:
    return bool(torch.cuda.is_available())


def _is_plain_attribute(owner: Any, name: str) -> bool:
    """Whether assigning the attribute again and again does nothing but keep the last value."""
    if not isinstance(owner, torch.nn.Module) or type(owner).__setattr__ is not torch.nn.Module.__setattr__:
        return False
    return hasattr(owner, name) and not hasattr(type(owner), name) and name not in owner._parameters


def join(site: str, tests: tuple[torch.Tensor, ...], sides: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    """Each name's value on the side that was meant: that of the first test that holds, else of the last side."""
    if not asks(site):
        return tuple(_meant(tests, sides))
    values = sides[-1]
    for i in range(len(tests) - 1, -1, -1):
        flag = as_flag(tests[i])
        joined: list[Any] = []
        for k in range(len(values)):
            same = _joined_before(sides[i], values, k)
            joined.append(_pick(site, flag, sides[i][k], values[k]) if same is None else joined[same])
        values = tuple(joined)
    return values


@torch.compiler.disable  # type: ignore[untyped-decorator,unused-ignore]
def _meant(tests: tuple[torch.Tensor, ...], sides: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    """As `join` does it where a break has come before it: the tests have values there."""
    for test, side in zip(tests, sides, strict=False):
        if test:
            return side
    return sides[-1]


def _joined_before(one: tuple[Any, ...], other: tuple[Any, ...], at: int) -> int | None:
    """An earlier name that stands for the same on both sides."""
    if not isinstance(one[at], torch.Tensor) or not isinstance(other[at], torch.Tensor):
        return None
    for k in range(at):
        # Dynamo knows `is` of tensors, and not of tuples.
        tensors = isinstance(one[k], torch.Tensor) and isinstance(other[k], torch.Tensor)
        if tensors and one[k] is one[at] and other[k] is other[at]:
            return k
    return None


def _pick(site: str, flag: torch.Tensor, one: Any, other: Any) -> Any:
    # Before `is`, which Dynamo does not know of tuples.
    if type(one) is tuple and type(other) is tuple and len(one) == len(other):
        items = []
        for k in range(len(one)):
            items.append(_pick(site, flag, one[k], other[k]))
        return tuple(items)
    if isinstance(one, tuple) or isinstance(other, tuple):
        return trace_again_without(site, "the sides differ in what is not a tensor")
    if one is other:
        return other
    if type(one) is torch.Tensor and type(other) is torch.Tensor:
        if one.shape != other.shape or one.dtype != other.dtype or one.device != other.device:
            return trace_again_without(site, "the sides differ in shape, dtype or device")
        if one.requires_grad != other.requires_grad:
            return trace_again_without(site, "the sides differ in requires_grad")
        # A number that was read from a tensor is in the processor's memory.
        result = torch.where(flag if flag.device == one.device else flag.to(one.device), one, other)
        if result.requires_grad != one.requires_grad:
            return trace_again_without(site, "joined where gradients are off, it would no longer require grad")
        if result.stride() != one.stride() or result.stride() != other.stride():
            return trace_again_without(site, "the sides differ in their strides")
        torch.ops.graphmend.joined(site, result, one, other)
        return result
    # As text, zeros have signs.
    if type(one) is type(other) and isinstance(one, (bool, int, float, str)) and str(one) == str(other):
        return other
    return trace_again_without(site, "the sides differ in what is not a tensor")

"""The marks where a tensor's memory matters: outputs that are given, data that are exchanged, copies.

A call with `out=` is made without it, and its result written to the output: bit by bit the same where each number of
the result is an operand's, or one operation that is rounded once.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch

from graphmend._mending.requirements import APART, RESHAPED, WHOLE
from graphmend._torch.frames import skip_code
from graphmend._torch.variables import give_memory, is_input, is_whole, may_be_written, see_input_as

_EXACT = (
    *("abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cat", "ceil", "div", "eq", "floor"),
    *("gather", "ge", "gt", "index_select", "le", "logical_and", "logical_not", "logical_or", "logical_xor", "lt"),
    *("max", "min", "mul", "ne", "neg", "sign", "stack", "sub", "trunc"),
)
# With these the operation is another one.
_OTHER = ("alpha", "rounding_mode")


def write_out(
    site: str, name: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any], unused: bool
) -> tuple[Any] | None:
    """`called(…, out=out)`; `unused`: nothing is done with what it returns"""
    out = kwargs["out"]
    # Several outputs come back in a type of its own.
    if name not in _EXACT or called is not getattr(torch, name) or (not unused and not isinstance(out, torch.Tensor)):
        return None
    rest = {key: kwargs[key] for key in kwargs if key != "out"}
    outs = [out] if isinstance(out, torch.Tensor) else list(out)
    operands = _tensors([*args, *rest.values()])
    if operands is None or any(key in _OTHER for key in rest) or not _are_plain([*outs, *operands]):
        return None
    made = called(*args, **rest)
    results = [made] if isinstance(made, torch.Tensor) else list(made)
    if len(results) != len(outs):
        return None
    for i in range(len(outs)):
        others = [*operands, *(outs[k] for k in range(len(outs)) if k != i)]
        if not _fits(site, outs[i], results[i], others):
            return None
    for i in range(len(outs)):
        if outs[i].shape == results[i].shape:
            outs[i].copy_(results[i])
        elif not give_memory(outs[i], results[i]):
            return None
    return (out,)


def _tensors(values: list[Any]) -> list[Any] | None:
    """The tensors among operands, lists of them included; None where there is something that may hide one."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif type(value) is list or type(value) is tuple:
            for item in value:
                if not isinstance(item, (torch.Tensor, int)):
                    return None
                if isinstance(item, torch.Tensor):
                    found.append(item)
        elif value is not None and not isinstance(value, (bool, int, float)):
            return None
    return found


def _are_plain(tensors: list[Any]) -> bool:
    for tensor in tensors:
        if type(tensor) is not torch.Tensor and type(tensor) is not torch.nn.Parameter:
            return False
        if tensor.is_complex() or tensor.device != tensors[0].device:
            return False
        # Autograd refuses outputs that are given.
        if tensor.requires_grad and (torch.is_grad_enabled() or tensor is tensors[0]):
            return False
    return True


def _fits(site: str, out: Any, result: Any, others: list[Any]) -> bool:
    """Whether an output can be given the result, or be the result if it is an empty one."""
    if out.dtype != result.dtype or type(out) is not torch.Tensor:
        return False
    if out.shape != result.shape:
        # It is laid out as the result is, if there is but one way.
        is_plain = result.is_contiguous() and all(each.is_contiguous() for each in others)
        return out.numel() == 0 and is_plain and may_be_written(out, *others) == "yes"
    answer = may_be_written(out, *others)
    if answer == "ask":
        torch.ops.graphmend.required(site, APART, "", [out])
        return True
    return bool(answer == "yes")


def deep_copy(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`copy.deepcopy(tensor)` of one that is nothing but its memory"""
    if called is not copy.deepcopy or len(args) != 1 or kwargs or type(args[0]) is not torch.Tensor:
        return None
    tensor = args[0]
    if tensor.requires_grad or tensor.layout is not torch.strided:
        return None
    answer = is_whole(tensor)
    if answer == "ask":
        torch.ops.graphmend.required(site, WHOLE, "", [tensor])
        return (tensor.clone(),)
    return (tensor.clone(),) if answer == "yes" else None


def reshape(name: str) -> Callable[..., tuple[Any] | None]:
    """What stands for `tensor.unsqueeze_(0)`, or another of these names, of an input: it is changed after the graph."""

    def reshaped(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
        if owner is torch.Tensor and args:
            owner, args = args[0], args[1:]
        if type(owner) is not torch.Tensor or kwargs or not all(type(each) is int for each in args):
            return None
        if owner.requires_grad or not is_input(owner):
            return None
        view = getattr(torch.Tensor, name[:-1])(owner, *args)
        torch.ops.graphmend.required(site, RESHAPED, f"{name} {' '.join([str(each) for each in args])}", [owner])
        see_input_as(owner, view)
        return (owner,)

    return reshaped


class DataOf:
    """Where `tensor.data = value` is set: the tensor becomes one with these data, for all that refer to it."""

    def __init__(self, tensor: Any, note: Callable[[bool], Any]) -> None:
        self.tensor = tensor
        self.note = note

    @property
    def data(self) -> Any:
        return self.tensor.data

    @data.setter
    def data(self, value: Any) -> None:
        if not torch.compiler.is_dynamo_compiling():
            # Behind a break: Dynamo has let go of it where it stands.
            self.tensor.data = value
            return
        fits = is_exchangeable(self.tensor, value) and give_memory(self.tensor, value.data)
        self.note(fits)
        if not fits:
            self.tensor.data = value


# Dynamo does otherwise to the data of a tensor from outside, as it would be in a frame of its own.
skip_code(DataOf.data.fset.__code__)  # type: ignore[attr-defined]


def is_exchangeable(tensor: Any, value: Any) -> bool:
    if type(tensor) is not torch.Tensor or type(value) is not torch.Tensor or tensor.requires_grad:
        return False
    return bool(tensor.dtype == value.dtype and tensor.device == value.device and tensor.layout == value.layout)

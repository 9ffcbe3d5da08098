"""Whether a branch whose sides are joined gives the gradients of the program.

`torch.where` sends a gradient of zero into the side that was not meant, and on to all that went only into that side.
In eager nothing is sent there. In: the two sides, in the graph. Out: why that would show, if it would.
"""

import math
from collections.abc import Container
from typing import Any

import torch

from graphmend._torch.graphs import is_of_torch, is_torch_function, name_of, storage_of

# Their derivatives only pass on, move, mask or sum what comes back.
_KEEPS_ZERO = frozenset(
    "add sub rsub neg sum mean where clamp clamp_min clamp_max clip relu masked_fill nan_to_num detach clone contiguous"
    " to float half double bfloat16 type_as getitem select narrow reshape view view_as flatten unflatten transpose t"
    " permute movedim squeeze unsqueeze expand expand_as broadcast_to chunk split unbind cat concat stack flip roll"
    " repeat".split()
)
# Of these it is multiplied by the other operand.
_SCALES = frozenset(["mul", "truediv", "div"])
# Their other operand is asked for its shape, its dtype or its device; nothing comes back to it.
_ASKS_OTHER = frozenset(["view_as", "expand_as", "type_as", "to"])
# Which of their operands a derivative needs.
_SAVES = {
    **dict.fromkeys(["clamp", "clamp_min", "clamp_max", "clip", "nan_to_num"], slice(None)),
    "where": slice(1),
    "masked_fill": slice(1, 2),
    "getitem": slice(1, None),
}


def spoils_gradients(
    one: torch.fx.Node,
    other: torch.fx.Node,
    changed: Container[int | None],
    known: Container[int | None],
    returned: Container[torch.fx.Node],
) -> str | None:
    """Why a gradient of zero into one of the sides would show.

    `changed`: memory that the graph changes in place; `known`: memory that the program may change before the gradients
    are computed; `returned`: what the program may ask for its gradient.
    """
    ancestors = _with_gradients(one), _with_gradients(other)
    for node in ancestors[0] ^ ancestors[1]:
        if node.op in ("placeholder", "get_attr"):
            return "a leaf would get a gradient of zeros where it had none"
        if node in returned:
            return "a result would get a gradient of zeros where it had none"
        # What is changed may be what the derivative needs, which then raises.
        if any(storage_of(each) in known for each in _needed(node)):
            return "a gradient would need what the program may change before"
        touched = any(storage_of(each) in changed for each in (node, *node.all_input_nodes))
        if touched or not _keeps_zero(node):
            return "a gradient could come out of the side that was not meant"
    return None


def _with_gradients(end: torch.fx.Node) -> set[torch.fx.Node]:
    """All that a gradient passes on its way back from here."""
    found: set[torch.fx.Node] = set()
    waiting = [end]
    while waiting:
        node = waiting.pop()
        if node not in found and _requires_grad(node.meta.get("example_value")):
            found.add(node)
            waiting += node.all_input_nodes[:1] if name_of(node) in _ASKS_OTHER else node.all_input_nodes
    return found


def _needed(node: torch.fx.Node) -> list[torch.fx.Node]:
    """What a derivative is computed of."""
    name = name_of(node)
    return [node] if name == "relu" else node.all_input_nodes[_SAVES.get(name, slice(0))]


def _requires_grad(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_requires_grad, value))
    return isinstance(value, torch.Tensor) and value.requires_grad


def _keeps_zero(node: torch.fx.Node) -> bool:
    name = name_of(node)
    if node.op == "call_function" and not (is_torch_function(node.target) and is_of_torch(node.target)):
        return False
    if name == "getitem" and not isinstance(node.args[0].meta["example_value"], torch.Tensor):
        # One of several results: what made them sees the zero beside the gradients of the others.
        return _keeps_zero(node.args[0])
    if name in _SCALES:
        by = [each for each in node.args if not isinstance(each, torch.fx.Node)]
        return len(by) == 1 and (name == "mul" or by[0] is node.args[1]) and _scales_zero(node, name, by[0])
    return name in _KEEPS_ZERO and "alpha" not in node.kwargs


def _scales_zero(node: torch.fx.Node, name: str, by: Any) -> bool:
    """Whether zero times or through the number is zero, in the precision of the node's tensor."""
    dtype = node.meta["example_value"].dtype
    if type(by) not in (int, float) or not dtype.is_floating_point:
        return False
    limits = torch.finfo(dtype)
    return bool(abs(by) <= limits.max if name == "mul" else limits.tiny <= abs(by) < math.inf)

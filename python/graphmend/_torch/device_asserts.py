"""Operators that assert on a GPU: what they find out of range there ends all use of the device in the process.

On the processor they raise, and the frame's own code runs instead. On a GPU nothing could be undone, so what stands
behind a check must not find anything out of range when that check fails.
"""

from collections.abc import Iterator
from typing import Any

import torch
import torch.fx

from graphmend._torch.graphs import changes_in_place, functions_of, name_of
from graphmend._torch.markers import marker_name

# By the operator's name: the operands that must be in range, by their places and names.
_AT_INDEX = (2, "index")
_IN_RANGE: dict[str, tuple[int | str, ...]] = {
    **dict.fromkeys(["getitem", "setitem"], (1,)),
    **dict.fromkeys("gather index_select scatter scatter_add scatter_reduce".split(), _AT_INDEX),
    **dict.fromkeys("index_add index_copy index_fill index_reduce".split(), _AT_INDEX),
    **dict.fromkeys(["index_put", "put", "take", "take_along_dim"], (1, "index", "indices")),
    **dict.fromkeys(["embedding", "one_hot", "bincount", "multinomial", "bernoulli"], (0, "input", "tensor")),
    **dict.fromkeys(["cross_entropy", "nll_loss"], (1, "target")),
    "embedding_bag": (0, 2, "input", "offsets"),
    "binary_cross_entropy": (0, "input"),
}
# Operands that are fractions, of which zeros would not do.
_NOT_ALL_ZERO = frozenset(["multinomial"])


def shield(graph: torch.fx.GraphModule) -> None:
    """Gives operators behind a check that fails other operands, which are in range: nothing of that run counts."""
    flags: list[torch.fx.Node] = []
    failed: dict[torch.device, torch.fx.Node] = {}
    for node in list(graph.graph.nodes):
        if marker_name(node.target) in ("check", "predicted"):
            flags.append(node.args[-1])
            failed.clear()
        for operand in list(in_range_on_device(node)) if flags else ():
            with graph.graph.inserting_before(node):
                device = operand.meta["example_value"].device
                if device not in failed:
                    failed[device] = _any_of(graph, flags, device)
                instead = 1 if _name(node) in _NOT_ALL_ZERO else 0
                shielded = graph.graph.call_function(torch.where, (failed[device], instead, operand))
                shielded.meta = dict(operand.meta)
            node.replace_input_with(operand, shielded)


def is_on_device(node: torch.fx.Node) -> bool:
    """Whether what a node makes is not in the processor's memory."""
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.device.type != "cpu"


def in_range_on_device(node: torch.fx.Node) -> Iterator[torch.fx.Node]:
    """The operands of a node that it asserts on a GPU to be in range."""
    if functions_of(node):
        # What they do with theirs is not looked into.
        operands: tuple[Any, ...] = (node.args, node.kwargs)
    else:
        places = _IN_RANGE.get(_name(node), ())
        by_place = [node.args[each] for each in places if isinstance(each, int) and each < len(node.args)]
        operands = (by_place, [node.kwargs[each] for each in places if each in node.kwargs])
    found: dict[torch.fx.Node, None] = {}
    torch.fx.map_arg(operands, found.setdefault)
    for each in found.keys() - set(changes_in_place(node)):
        if is_on_device(each) and _can_be_out_of_range(node, each.meta["example_value"]):
            yield each


def _can_be_out_of_range(node: torch.fx.Node, value: torch.Tensor) -> bool:
    if value.dtype == torch.bool or value.is_complex():
        return False
    return not value.is_floating_point() or not functions_of(node)


def _name(node: torch.fx.Node) -> str:
    return name_of(node).strip("_") if node.op.startswith("call") else ""


def _any_of(graph: torch.fx.GraphModule, flags: list[torch.fx.Node], device: torch.device) -> torch.fx.Node:
    total: torch.fx.Node | None = None
    for flag in flags:
        meta = dict(flag.meta)
        if flag.meta["example_value"].device != device:
            flag = graph.graph.call_method("to", (flag, device))
        if total is not None:
            flag = graph.graph.call_function(torch.logical_or, (total, flag))
        flag.meta = flag.meta or meta
        total = flag
    assert total is not None
    return total

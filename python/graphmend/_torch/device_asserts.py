"""Operators that assert on a GPU: what they find out of range there ends all use of the device in the process.

On the processor they raise, and the frame's own code runs instead. On a GPU nothing could be undone, so what stands
behind a check must not find anything out of range when that check fails.
"""

from collections.abc import Sequence
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
    failed: dict[torch.device, _Failed] = {}
    for node in list(graph.graph.nodes):
        if marker_name(node.target) in ("check", "predicted"):
            flags.append(node.args[-1])
        for operand in in_range_on_device(node) if flags else []:
            device = operand.meta["example_value"].device
            instead = 1 if _name(node) in _NOT_ALL_ZERO else 0
            with graph.graph.inserting_before(node):
                any_failed = failed.setdefault(device, _Failed(graph, device)).any_of(flags)
                shielded = graph.graph.call_function(torch.where, (any_failed, instead, operand))
            shielded.meta = dict(operand.meta)
            node.replace_input_with(operand, shielded)


class _Failed:
    """On a device: whether one of the flags so far is set."""

    def __init__(self, graph: torch.fx.GraphModule, device: torch.device) -> None:
        self.graph, self.device = graph.graph, device
        self.total: Any = None
        self.count = 0

    def any_of(self, flags: list[torch.fx.Node]) -> torch.fx.Node:
        for flag in flags[self.count :]:
            meta = dict(flag.meta)
            if flag.meta["example_value"].device != self.device:
                flag = self.graph.call_method("to", (flag, self.device))
            joined = (torch.logical_or, (self.total, flag))
            self.total = flag if self.total is None else self.graph.call_function(*joined)
            self.total.meta = self.total.meta or meta
        self.count = len(flags)
        made: torch.fx.Node = self.total
        return made


def asserting_sides(nodes: Sequence[torch.fx.Node]) -> set[str]:
    """The sites of joined branches among whose sides something may assert on a GPU."""
    begun: dict[str, int] = {}
    found = set()
    for i, node in enumerate(nodes):
        if marker_name(node.target) == "sides":
            begun[node.args[0]] = i
        elif marker_name(node.target) == "joined" and any(
            map(in_range_on_device, nodes[begun.get(node.args[0], i) : i])
        ):
            found.add(node.args[0])
    return found


def is_on_device(node: torch.fx.Node) -> bool:
    """Whether what a node makes is not in the processor's memory."""
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.device.type != "cpu"


def in_range_on_device(node: torch.fx.Node) -> list[torch.fx.Node]:
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
    changed = changes_in_place(node)
    on_device = [each for each in found if each not in changed and is_on_device(each)]
    return [each for each in on_device if _can_be_out_of_range(node, each.meta["example_value"])]


def _can_be_out_of_range(node: torch.fx.Node, value: torch.Tensor) -> bool:
    if value.dtype == torch.bool or value.is_complex():
        return False
    return not value.is_floating_point() or not functions_of(node)


def _name(node: torch.fx.Node) -> str:
    return name_of(node).strip("_") if node.op.startswith("call") else ""

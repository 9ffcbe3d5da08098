"""The flags of a graph's checks as one.

On a GPU each `mask.any()` is a kernel or two of its own. Row by row it is part of the kernel that makes the mask, where
that works by rows too, and what is left of all of them is reduced at once.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

import torch
import torch.fx

from graphmend._torch.device_asserts import is_on_device

# A row that is shorter is not worth a step of its own.
_SHORTEST_ROW = 32


def joined(
    graph: torch.fx.Graph,
    flags: Sequence[torch.fx.Node],
    at: torch.fx.Node,
    is_changed: Callable[[torch.fx.Node], bool],
) -> torch.fx.Node:
    """Adds a node in front of another: whether one of the flags is set. What they are made of, and is changed in place
    at some time, may be another by then."""
    rows: dict[torch.device, list[torch.fx.Node]] = {}
    whole: list[torch.fx.Node] = []
    for flag in dict.fromkeys(_parts(flags, is_changed)):
        by_rows = _by_rows(graph, flag, is_changed)
        if by_rows is None:
            whole.append(flag)
        else:
            rows.setdefault(flag.meta["example_value"].device, []).append(by_rows)
    meta = dict(flags[0].meta)
    with graph.inserting_before(at):
        for each in rows.values():
            whole.append(graph.call_method("any", (graph.call_function(torch.cat, (each,)),)))
            whole[-1].meta = dict(meta)
        total = whole[0]
        for flag in whole[1:]:
            total = graph.call_function(torch.logical_or, (total, flag))
            total.meta = dict(meta)
    return total


def _parts(flags: Sequence[torch.fx.Node], is_changed: Callable[[torch.fx.Node], bool]) -> Iterator[torch.fx.Node]:
    """The flags, and of those that are made of two by `or` these two."""
    left = list(reversed(flags))
    while left:
        flag = left.pop()
        is_negated, made = _as_it_was(flag, is_changed)
        sides = [each for each in made.args if _is_flag(each) and not is_changed(each)]
        if not is_negated and made.target in (torch.logical_or, operator.or_) and len(sides) == 2 and not made.kwargs:
            left += reversed(sides)
        else:
            yield flag


def _is_flag(node: object) -> TypeGuard[torch.fx.Node]:
    value = node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool and value.dim() == 0


def _by_rows(
    graph: torch.fx.Graph, flag: torch.fx.Node, is_changed: Callable[[torch.fx.Node], bool]
) -> torch.fx.Node | None:
    """For `mask.any()`, or `not mask.all()`, on a device: a flag for each row, next to where it is made."""
    is_negated, reduced = _as_it_was(flag, is_changed)
    name = "all" if is_negated else "any"
    if reduced.target not in (name, getattr(torch, name)) or len(reduced.args) != 1 or reduced.kwargs:
        return None
    (mask,) = reduced.args
    if not isinstance(mask, torch.fx.Node) or not is_on_device(mask) or not _has_rows(mask.meta["example_value"]):
        return None
    with graph.inserting_before(reduced):
        rows = graph.call_method("reshape", (graph.call_method(name, (mask, -1)), -1))
        return graph.call_function(torch.logical_not, (rows,)) if is_negated else rows


def _as_it_was(flag: torch.fx.Node, is_changed: Callable[[torch.fx.Node], bool]) -> tuple[bool, torch.fx.Node]:
    """Whether it says the contrary of another node, and that node; what only makes a flag of it left out."""
    is_negated = False
    while not flag.kwargs:
        negates = flag.target is torch.logical_not
        if not negates and not (flag.target in (operator.ne, torch.ne) and flag.args[1] == 0):
            break
        made_of = flag.args[0]
        if not _is_flag(made_of) or is_changed(made_of):
            break
        is_negated ^= negates
        flag = made_of
    return is_negated, flag


def _has_rows(mask: torch.Tensor) -> bool:
    if mask.dtype != torch.bool or mask.dim() < 2:
        return False
    return isinstance(mask.shape[-1], int) and mask.shape[-1] >= _SHORTEST_ROW

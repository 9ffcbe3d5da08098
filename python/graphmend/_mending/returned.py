"""Inputs that a graph changes and returns are returned around it, where AOTAutograd would return them for others.

torch 2.13: where one input that requires grad is changed, and another that does not is changed and is an output, that
one comes out in the place of the outputs before it, without a word. In: a graph. Out: the same without such outputs.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.fx

from graphmend._torch.graphs import changes_in_place, storage_of

# The positions of outputs that are inputs, and of which.
Returned = dict[int, int]


def take_returned(graph: torch.fx.GraphModule) -> Returned:
    """Takes the outputs out that are better returned around the graph."""
    nodes = list(graph.graph.nodes)
    changed = {storage_of(each) for node in nodes for each in changes_in_place(node)} - {None}
    inputs = [node for node in nodes if node.op == "placeholder"]
    values = [node.meta.get("example_value") if storage_of(node) in changed else None for node in inputs]
    if not any(value.requires_grad for value in values if value is not None):
        return {}
    known = {id(value): i for i, value in enumerate(values) if value is not None}
    output = nodes[-1]
    found = {}
    for k, node in enumerate(output.args[0]):
        value = node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None
        if value is not None and id(value) in known and not value.requires_grad:
            found[k] = known[id(value)]
    output.args = (tuple(node for k, node in enumerate(output.args[0]) if k not in found),)
    return found


def put_back(returned: Returned, compiled: Callable[..., Any], *args: Any) -> Any:
    """Runs what was compiled, and returns the inputs where the graph would have."""
    results = list(compiled(*args))
    for k in sorted(returned):
        results.insert(k, args[returned[k]])
    return tuple(results)

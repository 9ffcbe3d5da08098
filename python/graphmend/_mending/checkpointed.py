"""Takes what marks the body of an activation checkpoint out of it, to where the rest of the frame is.

In: a traced graph. Out: the same, in which a checkpointed function returns the operands of its markers too, and these
stand behind its call. The function runs once more in the backward: there they come to the same, and nobody asks.
"""

import operator
from typing import Any

import torch
import torch.fx

from graphmend._mending.speculate import site_of
from graphmend._torch.device_asserts import in_range_on_device
from graphmend._torch.graph_facts import graph_facts
from graphmend._torch.graphs import CHECKPOINTS, changes_in_place, every_node, functions_of, may_draw, storage_of
from graphmend._torch.markers import marker_name
from graphmend._torch.tracing import TraceAgain

# These say something of the body's own nodes.
_OF_SIDES = ("sides", "joined")


def draws(graph: torch.fx.GraphModule) -> bool:
    """Whether a checkpointed function draws random numbers that may be wanted once more; found at next to no cost
    where none may."""
    calls = [node for node in graph.graph.nodes if node.target in CHECKPOINTS]
    inner = [each for call in calls for body in functions_of(call) for each in every_node(body)]
    if not torch.is_grad_enabled() or not any(may_draw(each) for each in inner if each.target not in CHECKPOINTS):
        return False
    try:
        return not set(graph_facts(graph).draws).isdisjoint(calls)
    except Exception:
        # Fake tensors do not have what it needs.
        return True


def take_out(graph: torch.fx.GraphModule, declined: dict[str, str]) -> None:
    """Moves the markers of checkpointed functions behind the calls of these; what may change meanwhile is declined."""
    for call in list(graph.graph.nodes):
        if call.target in CHECKPOINTS:
            for body in functions_of(call):
                take_out(body, declined)
                _take_out_of(body, call, declined)


def _take_out_of(body: torch.fx.GraphModule, call: torch.fx.Node, declined: dict[str, str]) -> None:
    nodes = list(body.graph.nodes)
    markers = [node for node in nodes if marker_name(node.target) and marker_name(node.target) not in _OF_SIDES]
    if not markers:
        return
    inputs = dict(zip(body.graph.find_nodes(op="placeholder"), call.args[1:], strict=True))
    changed = {storage_of(each) for node in nodes for each in changes_in_place(node)}
    output = nodes[-1]
    returned = list(output.args[0])
    examples = list(call.meta["example_value"])
    place = call
    outside: dict[torch.fx.Node, torch.fx.Node] = {}

    def out(value: torch.fx.Node) -> Any:
        nonlocal place
        if value in inputs:
            return inputs[value]
        if value not in outside:
            returned.append(value)
            examples.append(value.meta["example_value"])
            with call.graph.inserting_after(place):
                place = call.graph.call_function(operator.getitem, (call, len(returned) - 1))
            place.meta = {**call.meta, "example_value": value.meta["example_value"]}
            outside[value] = place
        return outside[value]

    for marker in markers:
        reason = None
        if any(storage_of(value) in changed for value in marker.all_input_nodes):
            reason = "a tensor of a checkpointed function is changed in place there"
        elif any(map(in_range_on_device, nodes[nodes.index(marker) :])):
            reason = "behind it in a checkpointed function is what a GPU may find out of range"
        if reason is not None:
            declined[site_of(marker.args[0])] = reason
            raise TraceAgain(restart_reason=reason)
        operands = torch.fx.map_arg(marker.args, out)
        with call.graph.inserting_after(place):
            place = call.graph.call_function(marker.target, operands)
        place.meta = dict(marker.meta)
        body.graph.erase_node(marker)
    output.args = (tuple(returned),)
    call.meta["example_value"] = type(call.meta["example_value"])(examples)
    body.recompile()

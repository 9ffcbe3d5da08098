"""Takes what marks the body of an activation checkpoint out of it, to where the rest of the frame is.

In: a traced graph. Out: the same, in which a checkpointed function returns the operands of its markers too, and these
stand behind its call. The function runs once more in the backward: there they come to the same, and nobody asks.
"""

import operator
from typing import Any

import torch
import torch.fx

from graphmend._mending.lift import CannotUndoError
from graphmend._torch.device_asserts import in_range_on_device
from graphmend._torch.graph_facts import graph_facts
from graphmend._torch.graphs import CHECKPOINTS, changes_in_place, functions_of, is_drawn_number, storage_of
from graphmend._torch.markers import marker_name

# Backends in which what an activation checkpoint computes once more draws what it drew before.
_DRAW_THE_SAME = ("inductor", "aot_eager")
# These say something of the body's own nodes.
_OF_SIDES = ("sides", "joined")


def differs_again(graph: torch.fx.GraphModule, backend: str) -> str | None:
    """Why a checkpointed function would do something else in the backward than where Python calls it, if it would."""
    calls = [node for node in graph.graph.nodes if node.target in CHECKPOINTS and _has_history(node)]
    if not calls:
        return None
    try:
        facts = graph_facts(graph)
    except Exception:
        # Then the graph carries no marker either.
        return None
    nodes = list(graph.graph.nodes)
    inputs = graph.graph.find_nodes(op="placeholder")
    mutated = {storage_of(inputs[i]) for i in facts.mutated}
    for call in calls:
        behind = nodes[nodes.index(call) :]
        changed = mutated.union(storage_of(each) for node in behind for each in changes_in_place(node))
        if not changed.isdisjoint({storage_of(each) for each in call.all_input_nodes} - {None}):
            return "a checkpointed function, which runs once more in the backward, is given what the graph changes"
        draws_the_same = backend in _DRAW_THE_SAME and call.kwargs.get("preserve_rng_state", True)
        if call in facts.draws and not draws_the_same:
            return "a checkpointed function draws random numbers, and this backend others once more"
    return None


def _has_history(call: torch.fx.Node) -> bool:
    values = call.meta["example_value"]
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in values)


def take_out(graph: torch.fx.GraphModule) -> None:
    """Moves the markers of checkpointed functions behind the calls of these; refuses where that would tell."""
    for call in list(graph.graph.nodes):
        if call.target in CHECKPOINTS:
            for body in functions_of(call):
                take_out(body)
                _take_out_of(body, call)


def _take_out_of(body: torch.fx.GraphModule, call: torch.fx.Node) -> None:
    for node in body.graph.nodes:
        if marker_name(node.target) == "wanted":
            body.graph.erase_node(node)
    nodes = list(body.graph.nodes)
    markers = [node for node in nodes if marker_name(node.target) and marker_name(node.target) not in _OF_SIDES]
    if not markers:
        return
    inputs = dict(zip(body.graph.find_nodes(op="placeholder"), call.args[1:], strict=True))
    # Where memory is changed last.
    changed = {storage_of(each): i for i, node in enumerate(nodes) for each in changes_in_place(node)}
    draws = any(isinstance(each, torch.fx.Node) and is_drawn_number(each) for each in inputs.values())
    last_on_device = max((i for i, node in enumerate(nodes) if in_range_on_device(node)), default=-1)
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
            place.meta = dict(value.meta)
            outside[value] = place
        return outside[value]

    for marker in markers:
        reason = None
        at = nodes.index(marker)
        if any(changed.get(storage_of(value), -1) > at for value in marker.all_input_nodes):
            reason = "a tensor of a checkpointed function is changed in place there"
        elif draws:
            reason = "a checkpointed function may draw from Python's `random`, and draw anew in the backward"
        elif last_on_device > at:
            reason = "behind it in a checkpointed function is what a GPU may find out of range"
        if reason is not None:
            raise CannotUndoError(reason)
        operands = torch.fx.map_arg(marker.args, out)
        with call.graph.inserting_after(place):
            place = call.graph.call_function(marker.target, operands)
        place.meta = dict(marker.meta)
        body.graph.erase_node(marker)
    output.args = (tuple(returned),)
    call.meta["example_value"] = type(call.meta["example_value"])(examples)
    body.recompile()

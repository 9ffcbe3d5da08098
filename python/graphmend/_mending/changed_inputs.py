"""A graph that returns what becomes of its inputs, instead of changing them. In: a traced graph. Out: the same, so.

AOTAutograd puts the changes of inputs at the end of the forward graph. What the backward graph needs of such an input
it may keep, or make again, of the input as it is by then, and the gradients are wrong: so in plain `torch.compile`
where the change and the use are in one graph. A break between them heals that, and a mend takes the break away.
"""

from typing import Any

import torch
import torch.fx

from graphmend._torch.graph_facts import GraphFacts
from graphmend._torch.graphs import changes_in_place, required_grad, storage_of
from graphmend._torch.tensors import is_copied_as_it_lies


def has_gradients(graph: torch.fx.GraphModule) -> bool:
    """Whether autograd records anything that a graph makes, or takes."""
    values = [node.meta.get("example_value") for node in graph.graph.nodes]
    return torch.is_grad_enabled() and any(isinstance(each, torch.Tensor) and each.requires_grad for each in values)


def reads_what_it_changes(graph: torch.fx.GraphModule) -> bool:
    """Whether a graph computes with an input that it changes, beyond the change itself."""
    nodes = list(graph.graph.nodes)
    inputs = {storage_of(node) for node in nodes if node.op == "placeholder"} - {None}
    changed = {node: {storage_of(each) for each in changes_in_place(node)} & inputs for node in nodes}
    by_any = set().union(*changed.values())
    return any(storage_of(each) in by_any - changed[node] for node in nodes for each in node.all_input_nodes)


def return_changes(
    graph: torch.fx.GraphModule, facts: GraphFacts, outputs: list[Any], count: int
) -> tuple[dict[int, int], dict[int, int]]:
    """Has the graph work on copies of inputs that it changes. Where what becomes of each input comes out, and which of
    the first outputs, that the program asked for, are inputs."""
    made: dict[int, int] = {}
    given_back: dict[int, int] = {}
    inputs = graph.graph.find_nodes(op="placeholder")
    for i in facts.mutated if has_gradients(graph) else ():
        same = [k for k, node in enumerate(outputs[:count]) if storage_of(node) == storage_of(inputs[i])]
        # What is changed behind autograd's back (`.data`) is no other value to it, and a copy would be one.
        if (i in facts.hidden and _has_history(inputs[i])) or not is_copied_as_it_lies(inputs[i].meta["example_value"]):
            continue
        if any(outputs[k].meta["example_value"] is not inputs[i].meta["example_value"] for k in same):
            continue
        copy = _copy(graph, inputs[i])
        outputs[:] = [copy if node is inputs[i] else node for node in outputs]
        given_back |= dict.fromkeys(same, i)
        made[i] = len(outputs)
        outputs.append(copy)
    return made, given_back


def _copy(graph: torch.fx.GraphModule, given: torch.fx.Node) -> torch.fx.Node:
    """A copy of an input that all of the graph takes for it."""
    first = next(node for node in graph.graph.nodes if node.op != "placeholder")
    with graph.graph.inserting_before(first):
        copy = graph.graph.call_method("clone", (given,))
    copy.meta = {"example_value": given.meta["example_value"]}
    given.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy)
    return copy


def _has_history(given: torch.fx.Node) -> bool:
    """Before it was changed, or since."""
    return bool(given.meta["example_value"].requires_grad) or required_grad(given)

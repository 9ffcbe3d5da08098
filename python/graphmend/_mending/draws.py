"""Random numbers are drawn as eager draws them: those that nothing comes of, and those that decide what counts.

A backend that sees the former in one graph with others leaves them out, and from then on every number that is drawn is
another. In: a graph. Out: the same with outputs that hang on those numbers, or with other calls that draw.
"""

import operator
from collections.abc import Sequence
from typing import Any

import torch
import torch.fx

from graphmend._torch.graph_facts import graph_facts
from graphmend._torch.graphs import made_of, may_draw

_BERNOULLI = (("call_function", torch.bernoulli), ("call_method", "bernoulli"))


def draws_for_nothing(graph: torch.fx.GraphModule) -> tuple[torch.fx.Node, ...]:
    """The nodes that draw numbers of which nothing comes; found at next to no cost where none may."""
    nodes = list(graph.graph.nodes)
    used = set(_used(nodes))
    unused = [node for node in nodes if node not in used and may_draw(node)]
    if not unused:
        return ()
    try:
        return tuple(node for node in graph_facts(graph).draws if node in unused)
    except Exception:
        # Fake tensors do not have what it needs.
        return ()


def keep_draws(graph: torch.fx.GraphModule, draws: Sequence[torch.fx.Node]) -> None:
    """Adds outputs, behind all others, for those of the nodes that nothing else hangs on."""
    nodes = list(graph.graph.nodes)
    output = nodes[-1]
    used = set(_used(nodes))
    values = []
    for node in draws:
        if node in used:
            continue
        with graph.graph.inserting_before(output):
            value, made = node.meta.get("example_value"), node
            while isinstance(value, (tuple, list)):
                value, made = value[0], graph.graph.call_function(operator.getitem, (made, 0))
            # Nothing flows back from it.
            if isinstance(value, torch.Tensor):
                values.append(graph.graph.call_method("detach", (made,)))
    output.args = ((*output.args[0], *values),)


def spell_out_draws(graph: torch.fx.GraphModule) -> None:
    """Writes `torch.bernoulli` as what it is in eager: Inductor makes other numbers of it, whatever it is told."""
    for node in list(graph.graph.nodes):
        if (node.op, node.target) not in _BERNOULLI or len(node.args) != 1 or node.kwargs.keys() - {"generator"}:
            continue
        with graph.graph.inserting_before(node):
            form = {"memory_format": torch.contiguous_format}
            made = graph.graph.call_function(torch.empty_like, node.args, form)
            drawn = graph.graph.call_method("bernoulli_", (made, *node.args), dict(node.kwargs))
        made.meta, drawn.meta = dict(node.meta), dict(node.meta)
        node.replace_all_uses_with(drawn)
        graph.graph.erase_node(node)


def _used(nodes: Sequence[torch.fx.Node]) -> list[torch.fx.Node]:
    """What outputs and inputs are made of."""
    roots: list[Any] = [node for node in nodes if node.op in ("placeholder", "get_attr", "output")]
    return made_of(roots, nodes)

"""Powers of negative numbers: a graph's code has them as `-2 ** n`, which Python takes for `-(2 ** n)`."""

import operator
from typing import Any

import torch
import torch.fx


def keep_signs(graph: torch.fx.GraphModule) -> None:
    """Spells out the sign of a power whose base is a negative number, in the graph and in those inside of it."""
    for module in graph.modules():
        if isinstance(module, torch.fx.GraphModule):
            nodes = [each for each in module.graph.nodes if _is_power_of_negative(each)]
            for node in nodes:
                _spell_out(module.graph, node)
            if nodes:
                module.recompile()


def _is_power_of_negative(node: torch.fx.Node) -> bool:
    if node.target not in (operator.pow, pow) or len(node.args) != 2:
        return False
    return isinstance(node.args[0], (int, float)) and str(node.args[0]).startswith("-")


def _spell_out(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    base, exponent = node.args
    value = node.meta.get("example_value")
    with graph.inserting_before(node):
        if isinstance(value, torch.Tensor):
            node.args = (_call(graph, operator.neg, -base), exponent)
            return
        # A backend may write a graph of its own: there is no negative base in it.
        power = _call(graph, operator.pow, -base, exponent)
        is_odd = _call(graph, operator.mod, exponent, 2)
        sign = _call(graph, operator.sub, 1, _call(graph, operator.mul, 2, is_odd))
        product = _call(graph, operator.mul, power, sign)
    product.meta = dict(node.meta)
    node.replace_all_uses_with(product)
    graph.erase_node(node)


def _call(graph: torch.fx.Graph, function: Any, *args: Any) -> torch.fx.Node:
    """A node, with what it comes to."""
    values = [each.meta.get("example_value") if isinstance(each, torch.fx.Node) else each for each in args]
    made = graph.call_function(function, args)
    made.meta["example_value"] = function(*values)
    return made

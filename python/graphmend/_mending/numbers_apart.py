"""Fractions that are made of nothing but Python's numbers are computed around a graph, by Python itself.

torch 2.13: a float of the program's that changes is a tensor of one number, of which the graph makes the float again.
Where such a float, or one computed from it, comes out of the graph (it is returned, or shown by an effect), AOTAutograd
compiles anew for each value, Inductor returns the value of its first call, and the sign of a zero is lost. In: a graph.
Out: the same without such outputs, and the function that makes them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

from graphmend._torch.graphs import NUMBERS_TO_TENSORS, is_number_given

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


@dataclass
class Apart:
    """Outputs that are made around a graph: their positions, and what makes them of the graph's inputs."""

    positions: list[int]
    make: Callable[..., tuple[torch.Tensor, ...]]
    # How many outputs the graph has besides.
    count: int

    def run(self, compiled: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Runs what was compiled, and adds the numbers where the graph would have returned them."""
        made = self.make(*args)
        results = list(compiled(*args)[: self.count])
        for position, number in zip(self.positions, made, strict=True):
            results.insert(position, number)
        return tuple(results)


def take_numbers(graph: torch.fx.GraphModule) -> Apart | None:
    """Takes the outputs out that are such numbers; None if there are none."""
    nodes = list(graph.graph.nodes)
    output = nodes[-1]
    made: set[torch.fx.Node] = set()
    for node in nodes:
        if _is_float(node) or (_is_computed(node) and made.issuperset(_symbols(node))):
            made.add(node)
    hangs = {node for node in made if any(_is_float(each) for each in _ancestors(node, made))}
    positions = [k for k, node in enumerate(output.args[0]) if node in hangs and node.target in NUMBERS_TO_TENSORS]
    if not positions:
        return None
    taken = [output.args[0][k] for k in positions]
    make = _function(nodes, taken)
    others = [node for k, node in enumerate(output.args[0]) if k not in positions]
    output.args = ((),)
    unused = []
    for node in reversed(nodes):
        if node in made and not node.users and node not in others:
            if _is_float(node):
                unused.append(node)
            else:
                graph.graph.erase_node(node)
    # AOTAutograd compiles anew for each value of a float that meets no tensor.
    with graph.graph.inserting_before(output):
        met = [graph.graph.call_function(torch.mul, (node.args[0], node)) for node in unused]
    output.args = ((*others, *met),)
    return Apart(positions, make, len(others))


def _is_float(node: torch.fx.Node) -> bool:
    """Whether a node is a float of the program's."""
    return node.op == "call_method" and node.target == "item" and is_number_given(node.args[0])


def _is_computed(node: torch.fx.Node) -> bool:
    """Whether a node computes with numbers alone, or makes one tensor of a number."""
    if node.op != "call_function":
        return False
    if node.target in NUMBERS_TO_TENSORS:
        return len(node.args) == 1 and node.kwargs == {"dtype": torch.float64}
    # Of `torch.sym_max` and its like, and of `math`, Python's numbers make Python's numbers too.
    module, name = getattr(node.target, "__module__", None), getattr(node.target, "__name__", "")
    is_pythons = module in ("_operator", "math") or (module == "torch" and name.lstrip("_").startswith("sym_"))
    return is_pythons and isinstance(node.meta.get("example_value"), _SYMBOLIC)


def _symbols(node: torch.fx.Node) -> list[torch.fx.Node]:
    """What a node is computed from, but for whole numbers that are inputs."""
    return [each for each in node.all_input_nodes if not _is_integer_input(each)]


def _is_integer_input(node: torch.fx.Node) -> bool:
    return node.op == "placeholder" and isinstance(node.meta.get("example_value"), torch.SymInt)


def _ancestors(node: torch.fx.Node, within: set[torch.fx.Node]) -> set[torch.fx.Node]:
    found = {node}
    stack = [node]
    while stack:
        new = [each for each in stack.pop().all_input_nodes if each in within and each not in found]
        found.update(new)
        stack += new
    return found


def _function(nodes: Sequence[torch.fx.Node], outputs: Sequence[torch.fx.Node]) -> Callable[..., Any]:
    """Python's own function from a graph's inputs to some of its nodes."""
    apart = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    needed = set().union(*(_ancestors(node, set(nodes)) for node in outputs))
    for node in nodes:
        if node.op == "placeholder" or node in needed:
            copies[node] = apart.node_copy(node, copies.__getitem__)
            if node.target in NUMBERS_TO_TENSORS:
                copies[node].target = torch.scalar_tensor
    apart.output(tuple(copies[node] for node in outputs))
    made: Callable[..., Any] = torch.fx.GraphModule({}, apart).forward
    return made

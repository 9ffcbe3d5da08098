"""What must hold before a graph counts, beyond what Dynamo guards: of its inputs, and of the process.

In: a graph with markers that say what it takes for granted. Out: the same without them, and the requirements. A call
for which one does not hold raises `Miss` before anything has happened, and the frame's own code runs instead.
"""

import builtins
import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any

import torch
import torch.fx

from graphmend._mending.transaction import Miss
from graphmend._torch.graphs import autograd_is_watched, changes_in_place, sharing, storage_of, takes_gradients
from graphmend._torch.markers import marker_name
from graphmend._torch.tensors import has_symbols, memory_of, overlapping
from graphmend._torch.tracing import TraceAgain
from graphmend._torch.variables import fills_memory

# An input shares its memory with no other.
APART = "apart"
# Inputs share their memory, where they did when the graph was made.
TOGETHER = "together"
# A tensor has its memory to itself, all of it, and no attributes or gradient.
WHOLE = "whole"
# There is no module of that name.
ABSENT = "absent"
# An input is to be seen in another shape afterwards, by the method and its operands that the name says.
RESHAPED = "reshaped"
# Inputs have no history, and nobody waits for their gradients.
LEAVES = "leaves"


@dataclass(frozen=True)
class Required:
    # Substitutes that take it for granted; there are none where it is a setting of Dynamo's that does.
    sites: tuple[str, ...]
    kind: str
    name: str
    # Indices of inputs.
    inputs: tuple[int, ...]
    # Where each of them begins in the memory that they share; None if that may be anywhere.
    offsets: tuple[int | None, ...] = ()

    def holds(self, args: Sequence[Any]) -> bool:
        if self.kind == ABSENT:
            return is_absent(self.name)
        given = [args[i] for i in self.inputs]
        if self.kind == LEAVES:
            return not autograd_is_watched() and all(_is_bare_leaf(each) for each in given)
        if self.kind == WHOLE:
            return all(_is_whole(each) for each in given)
        if self.kind == RESHAPED:
            # What was made in inference mode is not changed outside of it.
            return torch.is_inference_mode_enabled() or not any(each.is_inference() for each in given)
        if self.kind == TOGETHER:
            offsets = zip(given, self.offsets, strict=True)
            are_there = all(offset in (None, each.storage_offset()) for each, offset in offsets)
            return are_there and len({memory_of(each) for each in given}) == 1
        memories = Counter(memory_of(each) for each in args if isinstance(each, torch.Tensor))
        return all(memories[memory_of(each)] == 1 for each in given)

    def apply(self, args: Sequence[Any]) -> None:
        """What is done when the graph has run."""
        if self.kind == RESHAPED:
            name, *operands = self.name.split()
            getattr(args[self.inputs[0]], name)(*map(int, operands))


def take_requirements(graph: torch.fx.GraphModule, declined: dict[str, str]) -> tuple[Required, ...]:
    """Takes the markers out of a graph that say what must hold; adds what its operators take for granted."""
    inputs = list(graph.graph.find_nodes(op="placeholder"))
    examples = [node.meta.get("example_value") for node in inputs]
    trained = tuple(i for i, each in enumerate(examples) if isinstance(each, torch.Tensor) and each.requires_grad)
    found: dict[Required, None] = {}
    for node in list(graph.graph.nodes):
        if marker_name(node.target) == "required":
            site, kind, name, values = node.args
            if kind == RESHAPED and trained:
                # Autograd takes it for a change of what it has saved in the graph.
                declined[str(site)] = "an input is given another shape where gradients may need it as it was"
                raise TraceAgain(restart_reason=declined[str(site)])
            memories = {storage_of(value) for value in values}
            places = tuple(i for i, each in enumerate(inputs) if each in values)
            # Of a view the input that it is one of.
            places = places or tuple(i for i, each in enumerate(inputs) if storage_of(each) in memories)
            found[Required((str(site),), str(kind), str(name), places)] = None
            graph.graph.erase_node(node)
    if any(takes_gradients(node) for node in graph.graph.nodes):
        found[Required((), LEAVES, "", trained)] = None
    return tuple(found)


def require_apart(graph: torch.fx.GraphModule, sites: Iterable[str]) -> tuple[Required, ...]:
    """What a graph needs that would be several without its substitutes: backends put changes of inputs off to its end,
    where another input that shares the memory is read too late."""
    changed = {storage_of(each) for node in graph.graph.nodes for each in changes_in_place(node)} - {None}
    places = tuple(i for i, each in enumerate(graph.graph.find_nodes(op="placeholder")) if storage_of(each) in changed)
    return (Required(tuple(sorted(sites)), APART, "", places),) if places else ()


def require_together(graph: torch.fx.GraphModule, changed: Iterable[int]) -> tuple[Required, ...]:
    """What a graph needs of which AOTAutograd reads and changes inputs through one of them, because they overlap: it
    guards that at most where a size is a symbol, and would compute other values of inputs that do not."""
    placeholders = graph.graph.find_nodes(op="placeholder")
    required = []
    for group in sharing(graph, changed):
        values = [node.meta["example_value"] for node in group]
        offsets = tuple(None if has_symbols(each) else each.storage_offset() for each in values)
        together = overlapping(values)
        if len(together) > 1:
            inputs = tuple(placeholders.index(group[i]) for i in together)
            required.append(Required((), TOGETHER, "", inputs, tuple(offsets[i] for i in together)))
    return tuple(required)


def run_if_holds(required: Sequence[Required], compiled: Callable[..., Any], *args: Any) -> Any:
    for each in required:
        if not each.holds(args):
            raise Miss(unmet=each) from None
    results = compiled(*args)
    for each in required:
        each.apply(args)
    return results


def is_absent(name: str) -> bool:
    """Whether `import name` would find nothing. Its finders are asked as they are by the import."""
    if type(builtins.__import__) is not BuiltinFunctionType or name in sys.modules:
        return False
    try:
        return importlib.util.find_spec(name) is None
    except Exception:
        return False


def _is_whole(tensor: torch.Tensor) -> bool:
    # Dynamo marks what it takes for fixed, buffers among them.
    has_attributes = any(not name.startswith("_dynamo_") for name in vars(tensor))
    return type(tensor) is torch.Tensor and not has_attributes and tensor.grad is None and fills_memory(tensor)


def _is_bare_leaf(tensor: torch.Tensor) -> bool:
    return tensor.is_leaf and not tensor._backward_hooks

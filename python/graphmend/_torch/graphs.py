"""Graphs: what they change, draw and hand out, and who made their nodes."""

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.source import RandomValueSource
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.utils.checkpoint import CheckpointPolicy

from graphmend._torch.markers import marker_name
from graphmend._torch.modes import saved_tensors_have_hooks
from graphmend._torch.tensors import memory_of

# Operators that run a function once more in the backward.
CHECKPOINTS = (torch.ops.higher_order.tag_activation_checkpoint, torch.ops.higher_order.wrap_activation_checkpoint)


def finish_graph(graph: torch.fx.GraphModule) -> None:
    """Makes the code of a changed graph now: made late, its first call goes through a wrapper that prints errors."""
    graph.recompile()
    _LazyGraphModule.force_recompile(graph)


def keep_for_backward(node: torch.fx.Node) -> None:
    """Has a node's value kept for the backward graph, which would else make it again of what may have changed since."""
    node.meta["recompute"] = CheckpointPolicy.MUST_SAVE
    # Inductor's caches know graphs by their code, in which this must be seen.
    node._rename(f"kept_{node.name}")


def loses_number(graph: torch.fx.GraphModule) -> bool:
    """Whether a number that is a symbol has not become an output: so with a float, under a default device."""
    output = next(node for node in graph.graph.nodes if node.op == "output")
    return any(value is None for value in output.args[0])


def is_of_torch(target: Any) -> bool:
    """Whether no operator of the user's: it may have any name, and any derivative."""
    is_operator = isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket))
    return not is_operator or str(target).startswith(("aten.", "prims."))


def is_torch_function(target: Any) -> bool:
    """Whether a graph's function is one of torch's own or of Python's operators, and no operator on functions."""
    if isinstance(target, torch._ops.HigherOrderOperator):
        return False
    module = getattr(target, "__module__", None) or ""
    return isinstance(target, torch._ops.OpOverload) or module.partition(".")[0] in ("torch", "_operator", "math")


def is_drawn_number(node: torch.fx.Node, outside: Mapping[torch.fx.Node, torch.fx.Node] = MappingProxyType({})) -> bool:
    """Whether a node stands for a number of Python's `random`, or is made of such numbers alone. `outside`: what the
    inputs of a function that an operator is given stand for."""
    inputs, seen, stack = [], set(), [node]
    while stack:
        each = stack.pop()
        if each in seen:
            continue
        seen.add(each)
        if each in outside:
            stack.append(outside[each])
        elif each.op == "placeholder":
            inputs.append(each)
        stack += each.all_input_nodes
    sources = [getattr(each.meta.get("grapharg"), "source", None) for each in inputs]
    return bool(sources) and all(isinstance(source, RandomValueSource) for source in sources)


def lends_its_type(operands: Sequence[torch.fx.Node], outside: Mapping[torch.fx.Node, torch.fx.Node]) -> bool:
    """Whether a number of Python's `random` meets a tensor whose type gives way to that of a tensor of one double: one
    of integers, or of one number."""
    tensors = [each for each in operands if isinstance(each.meta.get("example_value"), torch.Tensor)]
    others = [each.meta["example_value"] for each in tensors if not is_drawn_number(each, outside)]
    return len(others) < len(tensors) and any(not each.is_floating_point() or each.dim() == 0 for each in others)


def as_drawn(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> list[Any]:
    """The inputs for which a graph is compiled, with numbers of Python's `random` in the precision in which they come.

    torch 2.13 makes the example of such a float in single precision, and gives the graph one in double: Inductor's
    code would read the one as the other.
    """
    made = list(example_inputs)
    for i, node in enumerate(graph.graph.find_nodes(op="placeholder")):
        source = getattr(node.meta.get("grapharg"), "source", None)
        if isinstance(source, RandomValueSource) and isinstance(made[i], torch.Tensor) and made[i].is_floating_point():
            made[i] = made[i].double()
    return made


def every_node(graph: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    """The nodes of a graph, and of the functions that its operators are given."""
    for node in graph.graph.nodes:
        yield node
        for body in functions_of(node):
            yield from every_node(body)


def functions_of(node: torch.fx.Node) -> list[torch.fx.GraphModule]:
    """The functions that an operator is given, as graphs."""
    if not isinstance(node.target, torch._ops.HigherOrderOperator):
        return []
    given = [getattr(node.graph.owning_module, str(each.target), None) for each in node.all_input_nodes]
    return [each for each in given if isinstance(each, torch.fx.GraphModule)]


def talks_to_other_processes(graph: torch.fx.GraphModule) -> bool:
    """Whether there are collective operations in the graph."""
    names = (str(node.target) for node in every_node(graph) if node.op == "call_function")
    return any("c10d" in name or "torch.distributed" in name for name in names)


def has_effects(graph: torch.fx.GraphModule) -> bool:
    """Whether there are operators in the graph that are registered to do more than compute."""
    from torch._higher_order_ops.effects import _get_effect

    for node in every_node(graph):
        operators = [node.target]
        if isinstance(node.target, torch._ops.OpOverloadPacket):
            operators = [getattr(node.target, name) for name in node.target.overloads()]
        for each in operators:
            known = isinstance(each, (torch._ops.OpOverload, torch._ops.HigherOrderOperator))
            if known and not marker_name(each) and _get_effect(each) is not None:
                return True
    return False


_IN_PLACE_OPERATORS = frozenset(
    "setitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor".split()
)
# How Dynamo names what it has traced of numpy; what changes an array there does not say so by its name.
_NUMPY = "wrapped_"
_IN_PLACE_IN_NUMPY = frozenset(
    f"{_NUMPY}{name}"
    for name in (
        *_IN_PLACE_OPERATORS,
        *"fill sort partition put resize copyto place putmask fill_diagonal".split(),
        *"put_along_axis setflags byteswap itemset".split(),
    )
)


# What makes a tensor of a number.
NUMBERS_TO_TENSORS = (torch.tensor, torch.scalar_tensor, torch._refs.tensor)


def name_of(node: torch.fx.Node) -> str:
    """The name of the function or method that a node calls; of others nothing."""
    return _name_of(node.target)


def _name_of(target: Any) -> str:
    return target if isinstance(target, str) else getattr(target, "__name__", "")


def changes_in_place(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The operands that a node changes."""
    if not node.op.startswith("call"):
        return []
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return _changed_by_functions(node)
    places, told_at = _changed_by(node.target)
    is_told_to = node.kwargs.get("inplace") or (told_at < len(node.args) and node.args[told_at])
    # What a trace has most of, and asks most often.
    if not places and not is_told_to and "out" not in node.kwargs:
        return []
    places = {**places, _FIRST: None} if is_told_to else places
    changed = [node.args[i] if i < len(node.args) else node.kwargs.get(name) for i, name in places]
    changed.append(node.kwargs.get("out"))
    # Some change all of a list.
    flat = [each for value in changed for each in (value if isinstance(value, (list, tuple)) else (value,))]
    return [each for each in flat if isinstance(each, torch.fx.Node)]


# Where what is changed stands, if nothing else is said.
_FIRST = (0, "input")


@functools.lru_cache(maxsize=4096)
def _changed_by(target: Any) -> tuple[dict[tuple[int, str], None], int]:
    """Which operands a function or method changes, by place and name; and the place of its `inplace`."""
    changed: dict[tuple[int, str], None] = {}
    name = _name_of(target)
    # Python's own operators have one to be no keyword (`and_`).
    is_method = getattr(target, "__module__", None) != "_operator"
    says_so = is_method and name.endswith("_") and not name.endswith("__")
    if says_so or name.strip("_") in _IN_PLACE_OPERATORS or name in _IN_PLACE_IN_NUMPY:
        changed[_FIRST] = None
    for schema in _schemas(target):
        for i, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                changed[i, argument.name] = None
    code = getattr(target, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    return changed, names.index("inplace") if "inplace" in names else sys.maxsize


def _changed_by_functions(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The operands that the functions may change which an operator is given: all, if one of them changes any. A kernel
    of Triton's is none that could be looked into."""
    bodies = functions_of(node)
    return node.all_input_nodes if not bodies or any(map(_changes_inputs, bodies)) else []


def _changes_inputs(body: torch.fx.GraphModule) -> bool:
    inputs = {storage_of(node) for node in body.graph.find_nodes(op="placeholder")}
    # What is not known may be any.
    return any(storage_of(each) in inputs | {None} for node in body.graph.nodes for each in changes_in_place(node))


def _schemas(target: Any) -> list[Any]:
    """What an operator says of its operands, for each of its overloads if it is not known which one is meant."""
    if isinstance(target, torch._ops.OpOverloadPacket):
        return [getattr(target, name)._schema for name in target.overloads()]
    schema = getattr(target, "_schema", None)
    return [] if schema is None else [schema]


def storage_of(node: Any) -> int | None:
    """What names the memory of a node's tensor."""
    value = passed_on(node).meta.get("example_value") if isinstance(node, torch.fx.Node) else None
    return memory_of(value) if isinstance(value, torch.Tensor) else None


def share_memory(graph: torch.fx.GraphModule, inputs: Iterable[int]) -> bool:
    """Whether one of these inputs shares its memory with any other."""
    return any(len(each) > 1 for each in sharing(graph, inputs))


def sharing(graph: torch.fx.GraphModule, inputs: Iterable[int]) -> list[list[torch.fx.Node]]:
    """All inputs that have the memory of one of these, by that memory."""
    placeholders = graph.graph.find_nodes(op="placeholder")
    memories = dict.fromkeys(storage_of(placeholders[i]) for i in inputs)
    return [[node for node in placeholders if storage_of(node) == each] for each in memories]


def passed_on(node: torch.fx.Node) -> torch.fx.Node:
    """The node that made a node's tensor: `contiguous`, `float` and others may give back their operand itself."""
    source: torch.fx.Node | None = node
    while source is not None:
        node, source = source, _gives_back(source)
    return node


def _gives_back(node: torch.fx.Node) -> torch.fx.Node | None:
    """The operand that a node gives back itself."""
    value = node.meta.get("example_value")
    if isinstance(value, torch.Tensor) and not changes_in_place(node):
        for each in node.all_input_nodes:
            if each.meta.get("example_value") is value:
                return each
    return None


def required_grad(node: torch.fx.Node) -> bool:
    """Whether what an input stood for when tracing began requires grad."""
    given = node.meta.get("grapharg")
    value = node.meta.get("example_value") if given is None else given.example
    return isinstance(value, torch.Tensor) and value.requires_grad


def unknown_sizes(graph: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """Adds a node for each size of a tensor that hangs on values, where it first shows."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    found: dict[Any, torch.fx.Node] = {}
    for node in list(graph.graph.nodes):
        value = node.meta.get("example_value")
        for dimension, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt) and free_unbacked_symbols(size) and size.node.expr not in found:
                with graph.graph.inserting_after(node):
                    found[size.node.expr] = graph.graph.call_method("size", (node, dimension))
                found[size.node.expr].meta["example_value"] = size
    return list(found.values())


def may_draw(node: torch.fx.Node) -> bool:
    """Whether a node may draw random numbers, as far as its name tells."""
    if not node.op.startswith("call"):
        return False
    name = name_of(node)
    packet = getattr(torch.ops.aten, name.partition(".")[0], None)
    # `__eq__` is a method of any object's.
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return getattr(node.target, "__module__", None) not in ("_operator", "math")
    return any(torch.Tag.nondeterministic_seeded in getattr(packet, each).tags for each in packet.overloads())


def may_switch(node: torch.fx.Node) -> bool:
    """Whether a node may switch a mode: it is there for something else than tensors and numbers, or not torch's."""
    if node.op != "call_function" or getattr(node.target, "__module__", None) in ("_operator", "math"):
        return False
    if not is_torch_function(node.target) and not isinstance(node.target, torch._ops.HigherOrderOperator):
        return True
    made = node.meta.get("example_value")
    return not isinstance(made, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool, tuple, list))


def made_of(roots: Iterable[Any], nodes: Sequence[torch.fx.Node]) -> list[torch.fx.Node]:
    """Those of the nodes, which are a graph's first ones, that lead to the roots or change in place what does."""
    needed = {root for root in roots if isinstance(root, torch.fx.Node)}
    storages = {storage_of(root) for root in needed} - {None}
    found = []
    # A change counts if what it changes is read later.
    for node in reversed(nodes):
        if node in needed or any(storage_of(each) in storages for each in changes_in_place(node)):
            found.append(node)
            needed.update(node.all_input_nodes)
            storages.update(storage_of(each) for each in node.all_input_nodes)
            storages.discard(None)
    return found[::-1]


def has_asserts(graph: torch.fx.GraphModule) -> bool:
    """Whether there is something in a graph that Dynamo has made of an `assert`."""
    return any(node.target is torch._assert_async for node in every_node(graph))


def turn_asserts_into_checks(graph: torch.fx.GraphModule) -> None:
    """What Dynamo has made of an `assert` becomes a check of ours, where that costs nothing more.

    As an operator it raises another exception than the program does, and on a GPU it ends all use of that in the
    process; but there a check has to be waited for.
    """
    nodes = list(graph.graph.nodes)
    values = [node.meta.get("example_value") for node in nodes]
    on_cpu = all(value.device.type == "cpu" for value in values if isinstance(value, torch.Tensor))
    if not on_cpu and not any(marker_name(node.target) for node in nodes):
        return
    for node in nodes:
        if node.target is torch._assert_async:
            with graph.graph.inserting_before(node):
                fails = graph.graph.call_function(torch.eq, (node.args[0], 0))
                flag = graph.graph.call_method("reshape", (fails, ()))
                graph.graph.call_function(torch.ops.graphmend.check, ("assert", flag))
            fails.meta = flag.meta = dict(node.args[0].meta)
            graph.graph.erase_node(node)


def is_number_given(node: torch.fx.Node) -> bool:
    """Whether an input is a number of the program's, that comes as a tensor; so do arrays of numpy's."""
    value = node.meta.get("example_value")
    comes_as_tensor = getattr(node.meta.get("grapharg"), "pass_arg_as_tensor", False)
    return bool(node.op == "placeholder" and comes_as_tensor and isinstance(value, torch.Tensor) and value.ndim == 0)


def takes_gradients(node: torch.fx.Node) -> bool:
    """Whether a node goes back through what the graph has computed."""
    return node.op == "call_function" and node.target is torch.autograd.grad


def autograd_is_watched() -> bool:
    """Whether what autograd saves goes through somebody's hands, or what it computes is looked at."""
    return torch.is_anomaly_enabled() or saved_tensors_have_hooks()

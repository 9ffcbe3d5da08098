"""Takes the markers out of a graph. In: a traced graph. Out: the same without them, and the plan of its transaction.

What the markers carry becomes further outputs, so the backend behind us sees a pure graph. A graph whose changes could
not be undone is refused.
"""

from collections.abc import Sequence, Set
from typing import Any

import torch
import torch.fx

from graphmend._mending.changed_inputs import return_changes
from graphmend._mending.draws import keep_draws
from graphmend._mending.history import FORBIDDEN, history_of
from graphmend._mending.joined_gradients import spoils_gradients
from graphmend._mending.transaction import Delivery, Output, Plan, Seen
from graphmend._torch.device_asserts import asserting_sides, shield
from graphmend._torch.flags import joined
from graphmend._torch.graph_facts import GraphFacts, graph_facts
from graphmend._torch.graphs import (
    CHECKPOINTS,
    changes_in_place,
    every_node,
    functions_of,
    has_effects,
    keep_for_backward,
    made_of,
    may_switch,
    name_of,
    passed_on,
    required_grad,
    share_memory,
    storage_of,
    talks_to_other_processes,
    unknown_sizes,
)
from graphmend._torch.markers import marker_name
from graphmend._torch.modes import switches_settings
from graphmend._torch.reenact import name_on_device
from graphmend._torch.tensors import is_copied_as_it_lies
from graphmend._torch.tracing import TraceAgain, hooked_inputs

# Copying what a graph mutates costs a pass over it; above this the checks are left as breaks instead.
MAX_COPIED_BYTES = 64 * 2**20

# What makes another view of a tensor in place.
_RESHAPING = frozenset("as_strided_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_".split())
# Views that take the numbers in their memory for others, which no strides can say.
_OTHER_NUMBERS = frozenset(["ConjBackward0", "NegViewBackward0", "ViewAsComplexBackward0", "ViewAsRealBackward0"])
# What changes whether a tensor has a history.
_DETACHING = ("detach_", "requires_grad_")

# AOTAutograd compiles for just that, and nothing tells it when a later call has them apart.
SHARED_MEMORY = "an input that the graph changes shares its memory with another"


class CannotUndoError(Exception):
    """What this graph does could not be undone, so it must carry no marker."""


class CannotShowError(Exception):
    """What the effect at a site shows could not be told from a copy of it, so it must stay where it is."""

    def __init__(self, site: str, reason: str) -> None:
        super().__init__(reason)
        self.site = site


def lift(graph: torch.fx.GraphModule, markers: Sequence[torch.fx.Node], goes_on: bool) -> Plan:
    """Takes the markers out of the graph; their operands become outputs, all flags are reduced to one. Whether the
    frame `goes_on` behind a break that stays matters to what can be undone; what cannot is refused before any change.
    """
    predictions = [node for node in markers if marker_name(node.target) == "predicted"]
    checks = [node for node in markers if marker_name(node.target) == "check"] + predictions
    try:
        facts = graph_facts(graph)
    except Exception as error:
        raise CannotUndoError(f"what the graph changes could not be told ({type(error).__name__})") from None
    _require_undoable(graph, facts)
    recorded = _recorded(graph, facts)
    if recorded and goes_on:
        raise CannotUndoError("an input with a history is changed, and behind a break that stays it is known")
    switches = any(may_switch(node) for node in every_node(graph) if not marker_name(node.target))
    inputs = graph.graph.find_nodes(op="placeholder")
    counted = {i: _count_of_changes(inputs[i]) for i in facts.mutated}
    output = next(node for node in graph.graph.nodes if node.op == "output")
    outputs = list(output.args[0])
    count = len(outputs)
    changes = _Changes(graph, facts)
    numbers = {storage_of(node): i for i, node in enumerate(inputs)}
    copies: dict[int, int] = {}
    histories: dict[int, str | None] = {}

    # What is shown twice is one object: where each value comes out, and each copy that a marker needs.
    placed: dict[tuple[torch.fx.Node, torch.fx.Node | None], int] = {}

    def add(value: torch.fx.Node, marker: torch.fx.Node) -> int:
        key = (value, marker if changes.may_come_after(marker, value) else None)
        if key not in placed:
            placed[key] = put(value, marker)
        return placed[key]

    def put(value: torch.fx.Node, marker: torch.fx.Node) -> int:
        # An operand that changes after the marker is copied where the marker stood.
        copied = changes.may_come_after(marker, value)
        if copied:
            if marker not in checks and (_shows_copies(value) or changes.may_detach(marker, value)):
                raise CannotShowError(marker.args[0], "it shows a tensor that is changed in place later")
            if storage_of(value) in numbers:
                copies[len(outputs)] = numbers[storage_of(value)]
            with graph.graph.inserting_before(marker):
                value = _copied(graph, value)
        elif value in outputs[:count]:
            return outputs.index(value)
        # An input is given back as it is. Any other output that requires grad would take part in the backward.
        if not copied and passed_on(value).op in ("placeholder", "get_attr"):
            value = passed_on(value)
        elif value.meta["example_value"].requires_grad:
            histories[len(outputs)] = _history(value, changes)
            if histories[len(outputs)] == FORBIDDEN:
                raise CannotShowError(marker.args[0], "it shows a tensor whose history autograd does not give")
            with graph.graph.inserting_before(marker):
                value = _call(graph, "detach", value)
        outputs.append(value)
        return len(outputs) - 1

    effects = []
    for marker in markers:
        if marker in checks:
            continue
        site, spec, ints, values = marker.args
        lifted_ints: list[Any] = []
        for value in ints:
            if isinstance(value, torch.fx.Node):
                outputs.append(value)
                lifted_ints.append(Output(len(outputs) - 1))
            else:
                lifted_ints.append(value)
        effects.append(Delivery(site, spec, tuple(lifted_ints), tuple(add(value, marker) for value in values)))
    flag = None
    if checks:
        # The flag is a marker's last operand.
        flags = [check.args[-1] for check in checks]
        outputs.append(joined(graph.graph, flags, output, lambda node: storage_of(node) in changes.storages))
        flag = len(outputs) - 1
    seen = tuple(Seen(node.args[0], node.args[1], add(node.args[2], node)) for node in predictions)
    sizes = unknown_sizes(graph)
    decides = [*sizes, *([] if flag is None else [outputs[flag]])]
    outputs += sizes
    made, given_back = return_changes(graph, facts, outputs, count)
    output.args = (tuple(outputs),)
    keep_draws(graph, facts.draws)
    shield(graph)
    for marker in reversed(markers):
        graph.graph.erase_node(marker)
    graph.recompile()
    return Plan(
        outputs=count,
        flag=flag,
        seen=seen,
        sizes=tuple(map(outputs.index, sizes)),
        effects=tuple(effects),
        copies=copies,
        histories=histories,
        mutated=facts.mutated,
        made=made,
        given_back=given_back,
        unrecorded=facts.unrecorded,
        hidden=facts.hidden,
        recorded=recorded,
        counted=counted,
        switches=switches,
        random=bool(facts.draws),
        random_decides=not set(facts.draws).isdisjoint(made_of(decides, list(graph.graph.nodes))),
    )


def _recorded(graph: torch.fx.GraphModule, facts: GraphFacts) -> frozenset[int]:
    """The inputs that have a history at last, and are changed where autograd sees it: of a leaf, that raises."""
    values = [node.meta.get("example_value") for node in graph.graph.nodes if node.op == "placeholder"]
    seen = set(facts.mutated) - facts.unrecorded - facts.hidden
    return frozenset(i for i in seen if values[i].requires_grad and not values[i].is_leaf)


def _count_of_changes(changed: torch.fx.Node) -> int:
    """How often autograd counted it as changed while it was traced, by a stand-in that was new."""
    value = changed.meta["example_value"]
    return 0 if value.is_inference() else int(value._version)


def _history(value: torch.fx.Node, changes: "_Changes") -> str | None:
    node = passed_on(value)
    name = history_of(node.meta["example_value"])
    if name is None or name == FORBIDDEN:
        return name
    # On a device, autograd takes a view that was changed for a part of its memory, however it was made.
    is_part = changes.come_to_view(node) and name not in _OTHER_NUMBERS
    return "AsStridedBackward0" if is_part else name_on_device(node, name)


def _shows_copies(value: torch.fx.Node) -> bool:
    """Whether a copy would show that it is one: by its history, by its class, or by its strides."""
    tensor = passed_on(value).meta["example_value"]
    return isinstance(tensor, torch.nn.Parameter) or bool(tensor.requires_grad) or not is_copied_as_it_lies(tensor)


def _copied(graph: torch.fx.GraphModule, value: torch.fx.Node) -> torch.fx.Node:
    """A copy. No `clone`: Inductor of torch 2.13 leaves that out where a part of the original is assigned later."""
    same = graph.graph.call_function(torch.eq, (value, value))
    made = graph.graph.call_function(torch.where, (same, value, value))
    made.meta = dict(value.meta)
    return made


def _call(graph: torch.fx.GraphModule, method: str, value: torch.fx.Node) -> torch.fx.Node:
    made = graph.graph.call_method(method, (value,))
    made.meta = dict(value.meta)
    return made


class _Changes:
    """What a graph changes in place, and where."""

    def __init__(self, graph: torch.fx.GraphModule, facts: GraphFacts | None = None) -> None:
        nodes = list(graph.graph.nodes)
        self.place = {node: i for i, node in enumerate(nodes)}
        self.changed = []
        # Tensors whose shapes are changed in place, by where.
        self.reshaped: dict[int, torch.Tensor] = {}
        # Where a tensor loses the history that it had, or becomes one that has one.
        self.detached = []
        has_histories = any(required_grad(node) for node in nodes if node.op in ("placeholder", "get_attr"))
        for node in nodes:
            if name_of(node) in _DETACHING and has_histories:
                self.detached.append((self.place[node], storage_of(node.args[0])))
            if name_of(node) in _RESHAPING:
                self.reshaped[self.place[node]] = node.meta["example_value"]
            for each in changes_in_place(node):
                self.changed.append((self.place[node], storage_of(each)))
        # What is known to change, but not by which node: statistics of a normalisation.
        inputs = [node for node in nodes if node.op == "placeholder"]
        self.somewhere = {storage_of(inputs[i]) for i in facts.mutated} if facts else set()

    @property
    def storages(self) -> set[int | None]:
        return self.somewhere.union(storage for _, storage in self.changed)

    def may_come_after(self, marker: torch.fx.Node, *values: Any) -> bool:
        """Whether one of the values is changed behind the marker."""
        storages = {storage_of(value) for value in values}
        at = self.place[marker]
        return bool(storages & self.somewhere) or any(i > at and storage in storages for i, storage in self.changed)

    def come_to_view(self, made: torch.fx.Node) -> bool:
        """Whether the last that was done to a view was to change its numbers."""
        view, at, memory = made.meta["example_value"], self.place[made], storage_of(made)
        # What changes it behind autograd's back (`.data`) does not count.
        if not view._is_view() or not view._version:
            return False
        changed = [i for i, storage in self.changed if i >= at and storage == memory and i not in self.reshaped]
        reshaped = [i for i, tensor in self.reshaped.items() if tensor is view]
        return bool(changed) and changed[-1] > max(reshaped, default=-1)

    def may_detach(self, marker: torch.fx.Node, value: torch.fx.Node) -> bool:
        at, storage = self.place[marker], storage_of(value)
        return any(i > at and each == storage for i, each in self.detached)


def remove_joined(graph: torch.fx.GraphModule, declined: dict[str, str], goes_on: bool) -> None:
    """Takes the markers of joined branches out, or traces again without those whose aliases would matter.

    A joined value is a new tensor where the program has one that already was. That shows when one of them is changed
    in place later, when the new one leaves the graph and the old one was known outside, or in what is printed of it:
    by an effect, or by what the program does with it where it `goes_on` behind a break. Of checkpointed functions, as
    if all that they return were to be seen.
    """
    _remove_joined(graph, declined, goes_on, frozenset())


def _remove_joined(
    graph: torch.fx.GraphModule, declined: dict[str, str], goes_on: bool, changed: Set[int | None]
) -> None:
    """The same of one of them, around which these memories are `changed`."""
    calls = [node for node in graph.graph.nodes if node.target in CHECKPOINTS]
    if calls:
        around = changed | _Changes(graph).storages
        for body in (body for call in calls for body in functions_of(call)):
            _remove_joined(body, declined, True, around)
    nodes = list(graph.graph.nodes)
    markers = [node for node in nodes if marker_name(node.target) == "joined"]
    asserting = asserting_sides(nodes)
    for marker in [node for node in nodes if marker_name(node.target) == "sides"]:
        graph.graph.erase_node(marker)
    if not markers:
        return
    outside = {storage_of(node) for node in nodes if node.op in ("placeholder", "get_attr")}
    (output,) = (node for node in nodes if node.op == "output")
    returned = [storage_of(node) for node in output.args[0]]
    changes = _Changes(graph)
    emitted = [value for node in nodes if marker_name(node.target) == "emit" for value in node.args[3]]
    if goes_on:
        emitted += [node for node in output.args[0] if isinstance(node.meta.get("example_value"), torch.Tensor)]
    printed = {(storage_of(value), _history(value, changes)) for value in emitted}
    # What a joined value is in the program: one of its sides, which may be joined themselves.
    stands_for: dict[int | None, set[int | None]] = {}
    for marker in markers:
        site, result, one, other = marker.args
        storages = {storage_of(one), storage_of(other)}
        stands_for[storage_of(result)] = storages.union(*(stands_for.get(each, set()) for each in storages))
        known = stands_for[storage_of(result)] & (outside | set(returned))
        others = [each for each in stands_for if each in returned and each != storage_of(result)]
        reason = None
        if site in asserting:
            reason = "a side has what a GPU may find out of range, which could not be undone"
        elif changes.may_come_after(marker, result, one, other) or changed & {storage_of(result), *storages}:
            reason = "a side's tensor is changed in place later"
        elif storage_of(result) in returned and known:
            reason = "a side's result is a tensor that is known outside of the graph"
        elif storage_of(result) in returned and any(
            stands_for[each] & stands_for[storage_of(result)] for each in others
        ):
            reason = "two results may be one tensor"
        elif result.meta["example_value"].requires_grad and (storage_of(result), _history(result, changes)) in printed:
            reason = "its result is shown, which says by what it was made"
        elif result.meta["example_value"].requires_grad:
            reason = spoils_gradients(one, other, changes.storages, outside.union(returned), output.args[0])
        if reason is not None:
            declined[site] = reason
            raise TraceAgain(restart_reason=reason)
        keep_for_backward(result.args[0])
        graph.graph.erase_node(marker)
    graph.recompile()


def _shares_backward(graph: torch.fx.GraphModule, changed: torch.fx.Node) -> bool:
    """Whether an input that is changed has a history, and an output one in which it has no part."""
    value = changed.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or not value.requires_grad or value.is_leaf:
        return False
    nodes = list(graph.graph.nodes)
    outputs = [node for node in nodes[-1].args[0] if isinstance(node, torch.fx.Node)]
    tensors = [node for node in outputs if isinstance(node.meta.get("example_value"), torch.Tensor)]
    return any(node.meta["example_value"].requires_grad and changed not in made_of([node], nodes) for node in tensors)


def _is_hooked(graph: torch.fx.GraphModule, changed: torch.fx.Node) -> bool:
    """Whether somebody waits for the gradient of an input itself."""
    value = changed.meta.get("example_value")
    keeping = [node.args[0].meta.get("example_value") for node in graph.graph.nodes if name_of(node) == "retain_grad"]
    return any(each is value for each in [*hooked_inputs(), *keeping])


def _detaches_input(graph: torch.fx.GraphModule) -> bool:
    inputs = {id(node.meta.get("example_value")) for node in graph.graph.find_nodes(op="placeholder")}
    changed = [node for node in graph.graph.nodes if name_of(node) in _DETACHING]
    return any(id(node.args[0].meta.get("example_value")) in inputs for node in changed)


def _require_undoable(graph: torch.fx.GraphModule, facts: GraphFacts) -> None:
    if facts.reshapes_inputs:
        raise CannotUndoError("the graph changes the shape or storage of an input, which could not be undone")
    if _detaches_input(graph):
        raise CannotUndoError("the graph gives an input a history or takes it away, which could not be undone")
    if any(map(switches_settings, graph.graph.nodes)):
        raise CannotUndoError("the graph switches a setting of torch's, which could not be undone")
    if facts.aliased_outputs:
        raise CannotUndoError("an output is a view of an input that the graph changes")
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    values = [node.meta.get("example_value") for node in placeholders]
    if share_memory(graph, facts.mutated):
        raise CannotUndoError(SHARED_MEMORY)
    if torch.is_grad_enabled() and any(values[i].requires_grad for i in facts.unrecorded):
        # Captured whole, AOTAutograd lets gradients flow through what was written there.
        raise CannotUndoError("an input that requires grad is changed under no_grad")
    recorded = [placeholders[i] for i in facts.mutated if i not in facts.unrecorded]
    if torch.is_grad_enabled() and any(_shares_backward(graph, each) for each in recorded):
        # AOTAutograd has one backward for all, which goes back through what the input was made of; that may raise.
        raise CannotUndoError("an input with a history is changed, and what is returned has one without it")
    if any(_is_hooked(graph, each) for each in recorded):
        # What the graph goes on with is a copy, of which the input itself is made afterwards.
        raise CannotUndoError("an input that is changed gets a hook, or keeps its gradient")
    if facts.draws_unseen:
        raise CannotUndoError("a function that an operator is given may draw random numbers")
    if talks_to_other_processes(graph):
        raise CannotUndoError("the graph talks to other processes, which might not run it again")
    if has_effects(graph):
        raise CannotUndoError("an operator of the graph does more than compute, and might do it twice")
    copied = 0
    for i in facts.mutated:
        value = values[i]
        if isinstance(value, torch.Tensor):
            copied += value.numel() * value.element_size() if all(isinstance(s, int) for s in value.shape) else 0
    if copied > MAX_COPIED_BYTES:
        raise CannotUndoError(
            f"the graph changes {copied >> 20} MB in place; copying that for a check would cost too much"
        )

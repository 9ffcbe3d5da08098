"""A call as a transaction: the graph runs on copies, then either everything it did counts, or nothing.

    run the graph on copies of what it mutates → look at the flags of the checks → deliver the effects in order
      all as predicted: commit the mutations, return
      otherwise, or if the graph or an effect raised: throw the copies away, put the random state back, raise `Miss`

The frame around the graph (`_frames.Recovery`) answers a `Miss` by running the user's own code in eager, which is
always right. The backend behind us sees a pure graph: the markers are taken out, and what they carry becomes further
outputs.
"""

import contextlib
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch
import torch.fx

from graphmend import _effects, _speculate, _torch_private

# Copying what a graph mutates costs a pass over it; above this the checks are left as breaks instead.
MAX_COPIED_BYTES = 64 * 2**20


class Miss(BaseException):
    """A prediction failed, or the graph or an effect raised; nothing has happened yet, but effects that were delivered.

    No `Exception`: user code catches those.
    """

    def __init__(self, delivered: int = 0, error: BaseException | None = None) -> None:
        super().__init__()
        self.delivered = delivered
        # What the effect after them raised.
        self.error = error


class _CannotUndoError(Exception):
    """What this graph does could not be undone, so it must carry no marker."""


class _SharedMemoryError(Exception):
    """An input that the graph changes shares its memory with another: copies would come apart."""


@dataclass(frozen=True)
class _Effect:
    site: str
    spec: str
    # Constants, or indices of outputs.
    ints: tuple[Any, ...]
    tensors: tuple[int, ...]


@dataclass(frozen=True)
class _Seen:
    """A prediction: what was predicted, and where the value comes out."""

    key: str
    text: str
    value: int


@dataclass(frozen=True)
class _Output:
    index: int


class FrameRecord(threading.local):
    """What happened to the frame that this thread is compiling."""

    graphs = 0
    ops = 0
    has_transaction = False
    # Python's own random numbers are drawn before the graph.
    draws = False
    # Nothing is mended in it.
    plain = False
    # Why the last mend that was traced does not apply.
    trouble: str | None = None

    def __init__(self) -> None:
        # Sites at which all sides of a branch are computed.
        self.selected: list[str] = []
        # The predictions in its graph.
        self.keys: set[str] = set()
        # How often each site that wants a value was passed, in which attempt, and the values so far.
        self.passed: dict[str, int] = {}
        self.attempt: object = None
        self.shadow = _speculate.Shadow()
        # Sites whose markers are in the graphs.
        self.marked: set[str] = set()
        # The functions' own code that was traced, with its globals.
        self.traced: dict[CodeType, dict[str, Any]] = {}


_numbers = itertools.count()


class MendedBackend:
    """The backend that Dynamo calls for our frames; `inner` is the one the user asked for."""

    def __init__(self, inner: Callable[..., Any], speculates: bool | str = False) -> None:
        self.inner = inner
        # Each has its own predictions.
        self.number = next(_numbers)
        # True, False, or "report": then predictions are only told of.
        self.speculates = speculates
        self.frame = FrameRecord()
        self.disabled = False
        # Code whose frames were compiled, as Dynamo knows it.
        self.codes: weakref.WeakSet[CodeType] = weakref.WeakSet()
        # How often frames with predictions were compiled, by their code.
        self.versions: dict[CodeType, int] = {}
        # Why the branch at a site is not selected: for good, and the last time that it was traced.
        self.declined: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        # Why the graph of a frame can carry no marker.
        self.cannot_carry: dict[CodeType, str] = {}
        if hasattr(inner, "get_compiler_config"):
            self.get_compiler_config = inner.get_compiler_config
        self.__name__ = getattr(inner, "compiler_name", None) or getattr(inner, "__name__", type(inner).__name__)

    def begin_frame(self, code: CodeType, space: dict[str, Any]) -> None:
        self.frame.graphs = self.frame.ops = 0
        self.frame.has_transaction = self.frame.draws = False
        self.frame.trouble = None
        self.frame.selected.clear()
        self.frame.marked.clear()
        self.frame.keys.clear()
        self.frame.traced.clear()
        self.frame.traced[code] = space

    def end_frame(self) -> None:
        """Lets go of the call's values."""
        self.frame.attempt = None
        self.frame.shadow = _speculate.Shadow()

    @contextlib.contextmanager
    def without_mends(self) -> Iterator[None]:
        self.frame.plain = True
        try:
            yield
        finally:
            self.frame.plain = False

    def _decline_drawn_numbers(self, graph: torch.fx.GraphModule) -> None:
        """A number that Python has just drawn passes for a tensor while tracing, and would be shown as one."""
        for node in graph.graph.nodes:
            if _torch_private.marker_name(node.target) == "emit":
                site, _, _, values = node.args
                if any(_torch_private.is_drawn_number(value) for value in values):
                    self.declined[site] = "a number drawn from `random` cannot be told from a tensor"
                    raise _torch_private.TraceAgain(restart_reason=self.declined[site])

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy of a compiled model starts afresh.
        return MendedBackend, (self.inner, self.speculates)

    def reset(self) -> None:
        if hasattr(self.inner, "reset"):
            self.inner.reset()

    def __call__(self, graph: torch.fx.GraphModule, example_inputs: Sequence[Any], **kwargs: Any) -> Callable[..., Any]:
        for node in [node for node in graph.graph.nodes if _torch_private.marker_name(node.target) == "wanted"]:
            graph.graph.erase_node(node)
        names = [node.args[0] for node in graph.graph.nodes if _torch_private.marker_name(node.target)]
        _remove_joined(graph, self.declined)
        self._decline_drawn_numbers(graph)
        markers = [node for node in graph.graph.nodes if _torch_private.marker_name(node.target)]
        plan = None
        if markers:
            try:
                plan = _lift(graph, markers)
            except _CannotUndoError as error:
                self.cannot_carry[_torch_private.traced_code()] = str(error)
                raise _torch_private.TraceAgain(restart_reason=str(error)) from None
        _torch_private.finish_graph(graph)
        self.frame.graphs += 1
        self.frame.marked.update(map(_speculate.site_of, names))
        if plan is not None:
            self.frame.keys.update(seen.key for seen in plan.seen)
        self.frame.draws |= _torch_private.draws_python_random()
        self.frame.ops += sum(node.op.startswith("call") for node in graph.graph.nodes)
        try:
            compiled: Callable[..., Any] = self.inner(graph, example_inputs, **kwargs)
        except Exception as error:
            code = _torch_private.traced_code()
            if not names or code in self.cannot_carry:
                raise
            # What a mend has joined may be more than the backend takes; in pieces it may be right.
            self.cannot_carry[code] = f"the backend fails on the whole graph ({type(error).__name__})"
            raise _torch_private.TraceAgain(restart_reason=self.cannot_carry[code]) from None
        if plan is None:
            return compiled
        self.frame.has_transaction = True
        return functools.partial(plan.run, compiled)


@dataclass(frozen=True)
class _Plan:
    outputs: int
    flag: int | None
    seen: tuple[_Seen, ...]
    effects: tuple[_Effect, ...]
    mutated: tuple[int, ...]
    unrecorded: frozenset[int]
    hidden: frozenset[int]
    random: bool

    def run(self, compiled: Callable[..., Any], *args: Any) -> Any:
        before = _random_state() if self.random else None
        results: Any = None
        try:
            working = list(args)
            if self.mutated:
                self._copy(working)
            results = compiled(*working)
            missed = self.flag is not None and bool(results[self.flag])
        except _torch_private.StopRecomputation:
            raise
        except Exception:
            missed = True
        if missed:
            _set_random_state(before)
            if results is not None:
                self._learn(results)
            raise Miss from None
        for seen in self.seen:
            _speculate.sites[seen.key].hits += 1
        self._deliver(results, before)
        return self._commit(args, working, results)

    def _learn(self, results: Sequence[Any]) -> None:
        """The first value that was not as predicted is certain; those after it may come of that."""
        for seen in self.seen:
            value = _speculate.python_value(results[seen.value])
            if _speculate.encode(value) != seen.text:
                _speculate.missed(seen.key, value)
                return

    def _copy(self, working: list[Any]) -> None:
        """Puts copies in the place of what the graph changes."""
        storages = [arg.untyped_storage()._cdata for arg in working if isinstance(arg, torch.Tensor)]
        for i in self.mutated:
            if storages.count(working[i].untyped_storage()._cdata) > 1:
                raise _SharedMemoryError
        for i in self.mutated:
            working[i] = _copy_of(working[i])

    def _deliver(self, results: Sequence[Any], before: "_RandomState | None") -> None:
        def read(value: Any) -> Any:
            return results[value.index] if isinstance(value, _Output) else value

        for i, effect in enumerate(self.effects):
            try:
                _effects.deliver(
                    effect.site, effect.spec, [read(i) for i in effect.ints], [results[i] for i in effect.tensors]
                )
            except BaseException as error:
                _set_random_state(before)
                raise Miss(i, _effects.without_delivery(effect.site, error)) from None

    def _commit(self, args: Sequence[Any], working: Sequence[Any], results: Sequence[Any]) -> tuple[Any, ...]:
        returned = list(results[: self.outputs])
        for i in self.mutated:
            try:
                self._copy_back(i, args[i], working[i])
            except Exception:
                # Half of a call must not count: copying is the same done twice.
                self._copy_back(i, args[i], working[i])
            returned = [args[i] if output is working[i] else output for output in returned]
        return tuple(returned)

    def _copy_back(self, i: int, target: torch.Tensor, value: torch.Tensor) -> None:
        if i in self.unrecorded:
            with torch.no_grad():
                target.copy_(value)
        elif i in self.hidden or (target.is_leaf and target.requires_grad):
            # A leaf cannot have been changed in any other way.
            target.data.copy_(value.data)
        else:
            target.copy_(value)


_RandomState = tuple[Any, Any]


def _copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, gaps included. Raises where elements overlap."""
    copy = tensor.clone()
    if copy.stride() == tensor.stride():
        return copy
    made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor)


def _random_state() -> _RandomState:
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None


def _set_random_state(state: _RandomState | None) -> None:
    if state is None:
        return
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state_all(state[1])


def _lift(graph: torch.fx.GraphModule, markers: Sequence[torch.fx.Node]) -> _Plan:
    """Takes the markers out of the graph; their operands become outputs, all flags are reduced to one."""
    predictions = [node for node in markers if _torch_private.marker_name(node.target) == "predicted"]
    checks = [node for node in markers if _torch_private.marker_name(node.target) == "check"] + predictions
    try:
        facts = _torch_private.graph_facts(graph)
    except Exception as error:
        raise _CannotUndoError(f"what the graph changes could not be told ({type(error).__name__})") from None
    _require_undoable(graph, facts)
    output = next(node for node in graph.graph.nodes if node.op == "output")
    outputs = list(output.args[0])
    count = len(outputs)
    changes = _Changes(graph, facts)

    def add(value: torch.fx.Node, marker: torch.fx.Node) -> int:
        # An operand that changes after the marker is copied where the marker stood.
        if changes.may_come_after(marker, value):
            with graph.graph.inserting_before(marker):
                value = _call(graph, "clone", value)
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
                lifted_ints.append(_Output(len(outputs) - 1))
            else:
                lifted_ints.append(value)
        effects.append(_Effect(site, spec, tuple(lifted_ints), tuple(add(value, marker) for value in values)))
    flag = None
    if checks:
        with graph.graph.inserting_before(output):
            # The flag is a marker's last operand.
            total = checks[0].args[-1]
            for check in checks[1:]:
                joined = graph.graph.call_function(torch.logical_or, (total, check.args[-1]))
                joined.meta = dict(checks[0].args[-1].meta)
                total = joined
        outputs.append(total)
        flag = len(outputs) - 1
    seen = tuple(_Seen(node.args[0], node.args[1], add(node.args[2], node)) for node in predictions)
    output.args = (tuple(outputs),)
    for marker in reversed(markers):
        graph.graph.erase_node(marker)
    graph.recompile()
    return _Plan(
        outputs=count,
        flag=flag,
        seen=seen,
        effects=tuple(effects),
        mutated=facts.mutated,
        unrecorded=facts.unrecorded,
        hidden=facts.hidden,
        random=facts.random,
    )


def _call(graph: torch.fx.GraphModule, method: str, value: torch.fx.Node) -> torch.fx.Node:
    made = graph.graph.call_method(method, (value,))
    made.meta = dict(value.meta)
    return made


class _Changes:
    """What a graph changes in place, and where."""

    def __init__(self, graph: torch.fx.GraphModule, facts: _torch_private.GraphFacts | None = None) -> None:
        nodes = list(graph.graph.nodes)
        self.place = {node: i for i, node in enumerate(nodes)}
        self.changed = []
        for node in nodes:
            for each in _torch_private.changes_in_place(node):
                self.changed.append((self.place[node], _torch_private.storage_of(each)))
        # What is known to change, but not by which node: statistics of a normalisation.
        inputs = [node for node in nodes if node.op == "placeholder"]
        self.somewhere = {_torch_private.storage_of(inputs[i]) for i in facts.mutated} if facts else set()

    def may_come_after(self, marker: torch.fx.Node, *values: Any) -> bool:
        """Whether one of the values is changed behind the marker."""
        storages = {_torch_private.storage_of(value) for value in values}
        at = self.place[marker]
        return bool(storages & self.somewhere) or any(i > at and storage in storages for i, storage in self.changed)


def _remove_joined(graph: torch.fx.GraphModule, declined: dict[str, str]) -> None:
    """Takes the markers of joined branches out, or traces again without those whose aliases would matter.

    A joined value is a new tensor where the program has one that already was. That shows when one of them is changed
    in place later, or when the new one leaves the graph and the old one was known outside.
    """
    nodes = list(graph.graph.nodes)
    joined = [node for node in nodes if _torch_private.marker_name(node.target) == "joined"]
    if not joined:
        return
    outside = {_torch_private.storage_of(node) for node in nodes if node.op in ("placeholder", "get_attr")}
    (output,) = (node for node in nodes if node.op == "output")
    returned = [_torch_private.storage_of(node) for node in output.args[0]]
    changes = _Changes(graph)
    for marker in joined:
        site, result, *sides = marker.args
        known = {_torch_private.storage_of(side) for side in sides} & (outside | set(returned))
        reason = None
        if changes.may_come_after(marker, result, *sides):
            reason = "a side's tensor is changed in place later"
        elif _torch_private.storage_of(result) in returned and known:
            reason = "a side's result is a tensor that is known outside of the graph"
        if reason is not None:
            declined[site] = reason
            raise _torch_private.TraceAgain(restart_reason=reason)
        graph.graph.erase_node(marker)
    graph.recompile()


def _require_undoable(graph: torch.fx.GraphModule, facts: _torch_private.GraphFacts) -> None:
    if facts.reshapes_inputs:
        raise _CannotUndoError("the graph changes the shape or storage of an input, which could not be undone")
    if facts.aliased_outputs:
        raise _CannotUndoError("an output is a view of an input that the graph changes")
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    values = [node.meta.get("example_value") for node in placeholders]
    if torch.is_grad_enabled() and any(values[i].requires_grad for i in facts.unrecorded):
        # Captured whole, AOTAutograd lets gradients flow through what was written there.
        raise _CannotUndoError("an input that requires grad is changed under no_grad")
    if _torch_private.talks_to_other_processes(graph):
        raise _CannotUndoError("the graph talks to other processes, which might not run it again")
    copied = 0
    for i in facts.mutated:
        value = values[i]
        if isinstance(value, torch.Tensor):
            copied += value.numel() * value.element_size() if all(isinstance(s, int) for s in value.shape) else 0
    if copied > MAX_COPIED_BYTES:
        raise _CannotUndoError(
            f"the graph changes {copied >> 20} MB in place; copying that for a check would cost too much"
        )

"""A call as a transaction: the graph runs on copies, then either everything it did counts, or nothing.

    run the graph on copies of what it mutates → look at the flags of the checks
      all as predicted: commit the mutations, deliver the effects in order, return
      otherwise, or if the graph raised: throw the copies away, put the random state back, raise `Miss`

Whoever owns the call (`_compile`) answers a `Miss` by running the user's own code in eager, which is always right. The
backend behind us sees a pure graph: the markers are taken out, and what they carry becomes further outputs.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

from graphmend import _effects, _torch_private

# Copying what a graph mutates costs a pass over it; above this the checks are left as breaks instead.
MAX_COPIED_BYTES = 64 * 2**20


class Miss(BaseException):
    """A prediction failed or the graph raised; nothing has happened yet. No `Exception`: user code catches those."""

    def __init__(self, site: str | None) -> None:
        super().__init__(site)
        self.site = site


class CannotRecoverError(Exception):
    """Raised while compiling: what this graph does could not be undone, so its checks must stay breaks."""


@dataclass(frozen=True)
class _Effect:
    site: str
    spec: str
    # Constants, or indices of outputs.
    ints: tuple[Any, ...]
    tensors: tuple[int, ...]


@dataclass(frozen=True)
class _Output:
    index: int


class MendedBackend:
    """The backend that Dynamo calls for an owned call; `inner` is the one the user asked for."""

    def __init__(self, inner: Callable[..., Any]) -> None:
        self.inner = inner
        # Whether a failed check can be answered: only when the whole call is one graph.
        self.recovers = True
        self.graphs = 0
        self.ops = 0
        # Called when a graph of ours is about to run for the first time in a call.
        self._local = threading.local()
        if hasattr(inner, "get_compiler_config"):
            self.get_compiler_config = inner.get_compiler_config
        self.__name__ = getattr(inner, "compiler_name", None) or getattr(inner, "__name__", type(inner).__name__)

    @property
    def on_run(self) -> Callable[[], None] | None:
        return getattr(self._local, "on_run", None)

    @on_run.setter
    def on_run(self, action: Callable[[], None] | None) -> None:
        self._local.on_run = action

    def reset(self) -> None:
        if hasattr(self.inner, "reset"):
            self.inner.reset()

    def __call__(self, graph: torch.fx.GraphModule, example_inputs: Sequence[Any], **kwargs: Any) -> Callable[..., Any]:
        markers = [node for node in graph.graph.nodes if _torch_private.is_marker(node.target)]
        self.graphs += 1
        self.ops += sum(node.op.startswith("call") for node in graph.graph.nodes) - len(markers)
        if not markers:
            return self._plain(self.inner(graph, example_inputs, **kwargs))
        plan = _lift(graph, markers)
        return self._transaction(self.inner(graph, example_inputs, **kwargs), plan)

    def _plain(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            if self.on_run is not None:
                self.on_run()
            return compiled(*args)

        # Boxed calling conventions (the list of arguments is emptied by the callee) pass through.
        if getattr(compiled, "_boxed_call", False):
            run._boxed_call = True  # type: ignore[attr-defined]
        return run

    def _transaction(self, compiled: Callable[..., Any], plan: "_Plan") -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            if self.on_run is not None:
                self.on_run()
            return plan.run(compiled, args)

        return run


@dataclass(frozen=True)
class _Plan:
    outputs: int
    flag: int | None
    sites: tuple[str, ...]
    effects: tuple[_Effect, ...]
    mutated: tuple[int, ...]
    random: bool

    def run(self, compiled: Callable[..., Any], args: Sequence[Any]) -> Any:
        if self.flag is None:
            results = compiled(*args)
            self._deliver(results)
            return results[: self.outputs]
        working = list(args)
        for i in self.mutated:
            working[i] = args[i].clone()
        state = torch.get_rng_state() if self.random else None
        cuda_state = torch.cuda.get_rng_state_all() if self.random and torch.cuda.is_initialized() else None
        failed: str | None = None
        try:
            results = compiled(*working)
            missed = bool(results[self.flag])
        except Exception as error:
            missed, failed = True, type(error).__name__
        if missed:
            if state is not None:
                torch.set_rng_state(state)
            if cuda_state is not None:
                torch.cuda.set_rng_state_all(cuda_state)
            raise Miss(failed or (self.sites[0] if len(self.sites) == 1 else None)) from None
        returned = list(results[: self.outputs])
        for i in self.mutated:
            args[i].copy_(working[i])
            returned = [args[i] if output is working[i] else output for output in returned]
        self._deliver(results)
        return tuple(returned)

    def _deliver(self, results: Sequence[Any]) -> None:
        def read(value: Any) -> Any:
            return results[value.index] if isinstance(value, _Output) else value

        for effect in self.effects:
            _effects.deliver(
                effect.site, effect.spec, [read(i) for i in effect.ints], [results[i] for i in effect.tensors]
            )


def _lift(graph: torch.fx.GraphModule, markers: Sequence[torch.fx.Node]) -> _Plan:
    """Takes the markers out of the graph; their operands become outputs, all flags are reduced to one."""
    checks = [node for node in markers if not _torch_private.is_emit(node.target)]
    facts = _torch_private.graph_facts(graph)
    if checks:
        _require_recoverable(graph, facts)
    output = next(node for node in graph.graph.nodes if node.op == "output")
    outputs = list(output.args[0])
    count = len(outputs)
    mutates = _mutations_after(graph, facts)

    def add(value: torch.fx.Node, marker: torch.fx.Node) -> int:
        # An operand that changes after the marker is copied where the marker stood. Outputs that user code may keep
        # must not be buffers a backend reuses, so they are copies in any case.
        with graph.graph.inserting_before(marker):
            if mutates:
                value = _call(graph, "clone", value)
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
                lifted_ints.append(_Output(len(outputs) - 1))
            else:
                lifted_ints.append(value)
        effects.append(_Effect(site, spec, tuple(lifted_ints), tuple(add(value, marker) for value in values)))
    flag = None
    if checks:
        with graph.graph.inserting_before(output):
            total = checks[0].args[1]
            for check in checks[1:]:
                joined = graph.graph.call_function(torch.logical_or, (total, check.args[1].args and check.args[1]))
                joined.meta = dict(checks[0].args[1].meta)
                total = joined
        outputs.append(total)
        flag = len(outputs) - 1
    output.args = (tuple(outputs),)
    for marker in reversed(markers):
        graph.graph.erase_node(marker)
    graph.recompile()
    return _Plan(
        outputs=count,
        flag=flag,
        sites=tuple(check.args[0] for check in checks),
        effects=tuple(effects),
        mutated=facts.mutated if checks else (),
        random=facts.random,
    )


def _call(graph: torch.fx.GraphModule, method: str, value: torch.fx.Node) -> torch.fx.Node:
    made = graph.graph.call_method(method, (value,))
    made.meta = dict(value.meta)
    return made


def _mutations_after(graph: torch.fx.GraphModule, facts: _torch_private.GraphFacts) -> bool:
    """Whether anything in the graph changes a tensor in place: then operands are copied where their marker stands."""
    if facts.mutated:
        return True
    for node in graph.graph.nodes:
        name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
        in_place = name.endswith("_") and not name.endswith("__")
        if in_place or name in ("setitem", "iadd", "isub", "imul", "itruediv") or "out" in node.kwargs:
            return True
        if node.kwargs.get("inplace"):
            return True
    return False


def _require_recoverable(graph: torch.fx.GraphModule, facts: _torch_private.GraphFacts) -> None:
    if facts.reshapes_inputs:
        raise CannotRecoverError("the graph changes the shape or storage of an input, which could not be undone")
    if facts.aliased_outputs:
        raise CannotRecoverError("an output is a view of an input that the graph changes")
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    copied = 0
    for i in facts.mutated:
        value = placeholders[i].meta.get("example_value")
        if isinstance(value, torch.Tensor):
            copied += value.numel() * value.element_size() if all(isinstance(s, int) for s in value.shape) else 0
    if copied > MAX_COPIED_BYTES:
        raise CannotRecoverError(
            f"the graph changes {copied >> 20} MB in place; copying that for a check would cost too much"
        )

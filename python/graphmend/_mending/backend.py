"""The backend that Dynamo calls for our frames, and what it keeps of the frame that is being compiled."""

import contextlib
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from types import CodeType
from typing import Any, ClassVar, NoReturn

import torch
import torch.fx
from torch.utils.weak import WeakIdKeyDictionary

from graphmend._mending import checkpointed, speculate
from graphmend._mending.changed_inputs import has_gradients, reads_what_it_changes
from graphmend._mending.draws import draws_for_nothing, keep_draws, spell_out_draws
from graphmend._mending.learnt import Learnt
from graphmend._mending.lift import SHARED_MEMORY, CannotShowError, CannotUndoError, lift, remove_joined
from graphmend._mending.numbers_apart import take_numbers
from graphmend._mending.requirements import (
    TOGETHER,
    Required,
    require_apart,
    require_together,
    run_if_holds,
    take_requirements,
)
from graphmend._mending.returned import put_back, take_returned
from graphmend._mending.shadow import Shadow
from graphmend._mending.traced import Traced
from graphmend._mending.transaction import Plan
from graphmend._torch.caches import changes_cached
from graphmend._torch.compiling import drawn_as_in_eager
from graphmend._torch.doubles import floats_as_doubles
from graphmend._torch.extremes import changes_extreme
from graphmend._torch.generators import leaves_generators_open
from graphmend._torch.graphs import (
    as_drawn,
    finish_graph,
    has_asserts,
    is_drawn_number,
    loses_number,
    share_memory,
    turn_asserts_into_checks,
)
from graphmend._torch.guards import drop_own_guards
from graphmend._torch.markers import marker_name
from graphmend._torch.matrices import loses_checks_of_matrices
from graphmend._torch.modes import Modes, without_inference_mode
from graphmend._torch.powers import keep_signs
from graphmend._torch.tracing import (
    RestartAnalysis,
    TraceAgain,
    changes_default_device,
    draws_python_random,
    is_tracing,
    traced_code,
)


class FrameRecord(threading.local):
    """What happened to the frame that this thread is compiling."""

    graphs = 0
    ops = 0
    has_transaction = False
    # Python's own random numbers are drawn before the graph.
    draws = False
    # Nothing is mended in it.
    plain = False
    # There are asserts in its graphs.
    asserts = False
    # Settings of Dynamo's by which values of tensors are symbols.
    captures: tuple[str, ...] = ()
    # A break is left in it, behind which the program goes on.
    goes_on = False
    # A check fails in this call, and what comes behind it is not known.
    fails = False
    # Something in it was predicted wrongly too often.
    given_up = False
    # Why the last mend that was traced does not apply.
    trouble: str | None = None

    def __init__(self) -> None:
        # What Dynamo does otherwise than Python is put right from now on.
        self.put_right: Callable[[], None] = lambda: None
        # Sites at which all sides of a branch are computed.
        self.selected: list[str] = []
        # The predictions in its graph.
        self.keys: set[str] = set()
        # Those of the last attempt to trace it.
        self.predicted: set[str] = set()
        # How often each site that wants a value was passed, in which attempt, and the values so far.
        self.passed: dict[str, int] = {}
        self.attempt: object = None
        self.shadow = Shadow()
        # Types of breaks for which Dynamo's settings are changed, or were in vain.
        self.set_for: set[str] = set()
        self.refused: set[str] = set()
        # Why a break stays for which the setting is changed.
        self.refusal = ""
        # Sites whose markers are in the graphs.
        self.marked: set[str] = set()
        # The functions' own code that was traced, with its globals.
        self.traced = Traced()
        # Code that is called through a cache.
        self.cached = Traced()


_numbers = itertools.count()


def _first(count: int, compiled: Callable[..., Any], *args: Any) -> Any:
    return tuple(compiled(*args)[:count])


class MendedBackend:
    """The backend that Dynamo calls for our frames; `inner` is the one the user asked for."""

    # Of all, also of copies.
    disabled: ClassVar[bool] = False
    known: ClassVar[weakref.WeakSet["MendedBackend"]] = weakref.WeakSet()

    def __init__(self, inner: Callable[..., Any], speculates: bool | str = False, fullgraph: bool = False) -> None:
        self.inner = inner
        # Each has its own predictions.
        self.number = next(_numbers)
        # True, False, or "report": then predictions are only told of.
        self.speculates = speculates
        # No graph may break: what does not work out runs as it is written.
        self.fullgraph = fullgraph
        self.frame = FrameRecord()
        self.known.add(self)
        # Code whose frames were compiled, as Dynamo knows it.
        self.codes: MutableMapping[CodeType, None] = WeakIdKeyDictionary()
        # Why the branch at a site is not selected: for good, and the last time that it was traced.
        self.declined: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self._learnt: MutableMapping[CodeType, Learnt] = WeakIdKeyDictionary()
        if hasattr(inner, "get_compiler_config"):
            self.get_compiler_config = inner.get_compiler_config
        self.__name__ = getattr(inner, "compiler_name", None) or getattr(inner, "__name__", type(inner).__name__)

    def learnt(self, code: CodeType) -> Learnt:
        """What is known of the frames of this code."""
        return self._learnt.setdefault(code, Learnt())

    def begin_frame(self, code: CodeType, space: dict[str, Any]) -> None:
        self.frame.graphs = self.frame.ops = 0
        self.frame.has_transaction = self.frame.draws = self.frame.goes_on = self.frame.asserts = False
        self.frame.fails = self.frame.given_up = False
        self.frame.trouble = None
        self.frame.captures = tuple(self.learnt(code).captures.places)
        self.frame.selected.clear()
        self.frame.marked.clear()
        self.frame.keys.clear()
        self.frame.predicted.clear()
        self.frame.traced.clear()
        self.frame.traced.add(code, space)
        self.frame.cached.clear()
        self.notes.clear()

    def end_frame(self) -> None:
        """Lets go of the call's values."""
        self.frame.captures = ()
        self.frame.attempt = None
        self.frame.shadow = Shadow()

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
            if marker_name(node.target) == "emit":
                site, _, _, values = node.args
                if any(is_drawn_number(value) for value in values):
                    self.declined[site] = "a number drawn from `random` cannot be told from a tensor"
                    raise TraceAgain(restart_reason=self.declined[site])

    def do_with_less(self, code: CodeType, reason: str, blamed: str = "") -> list[tuple[str, int]]:
        """Takes something out of the frame's next compilation: symbols, if it has any, those of the setting that is to
        blame first, else all markers; the places that are not mended in this way any more."""
        learnt = self.learnt(code)
        if learnt.captures.places:
            return learnt.captures.refuse_setting(blamed)
        learnt.cannot_carry = reason
        return []

    def trace_with_mends(self) -> None:
        """Begins the trace anew, unless it is known already that there is more in the frame than plain `torch.compile`
        has in a graph: only then Dynamo does what it does otherwise than Python where a break would heal it."""
        learnt = self.learnt(traced_code())
        if not learnt.is_mended:
            learnt.is_mended = True
            self.frame.put_right()
            raise TraceAgain(restart_reason="there is something mended in it")

    def trace_without(self, site: str, reason: str) -> None:
        """Begins the trace anew, without the mend at a site."""
        self.declined[site] = reason
        raise TraceAgain(restart_reason=reason)

    def do_without(self, code: CodeType, unmet: Required, reason: str) -> None:
        """Does without what takes for granted what does not hold, in the frame's next compilation."""
        if unmet.kind == TOGETHER:
            # It was for those inputs alone that it was left as it is written.
            self.learnt(code).as_written = None
            return
        self.declined.update(dict.fromkeys(unmet.sites, reason))
        self.learnt(code).without_settings = reason

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy of a compiled model starts afresh.
        return MendedBackend, (self.inner, self.speculates, self.fullgraph)

    def reset(self) -> None:
        """Dynamo has forgotten what it compiled, and nothing that was learnt of it counts any more."""
        self._learnt.clear()
        self.declined.clear()
        speculate.forget(self.number)
        if hasattr(self.inner, "reset"):
            self.inner.reset()

    def __call__(self, graph: torch.fx.GraphModule, example_inputs: Sequence[Any], **kwargs: Any) -> Callable[..., Any]:
        self.frame.asserts |= has_asserts(graph)
        # Where the frame is traced by somebody else, or as it is written, nobody would answer a miss.
        is_ours = is_tracing() and not self.frame.plain
        if is_ours:
            try:
                checkpointed.take_out(graph)
            except CannotUndoError as error:
                self._carry_nothing(error)
        # A marker in a graph that nobody looks at would be taken for granted.
        if is_ours and (self.frame.asserts or any(marker_name(node.target) for node in graph.graph.nodes)):
            self.trace_with_mends()
        if not is_ours or not self.learnt(traced_code()).is_mended:
            self._note_graph(graph, (), None)
            as_it_is: Callable[..., Any] = self.inner(graph, example_inputs, **kwargs)
            return as_it_is
        for node in [node for node in graph.graph.nodes if marker_name(node.target) == "wanted"]:
            graph.graph.erase_node(node)
        names = [node.args[0] for node in graph.graph.nodes if marker_name(node.target)]
        required = take_requirements(graph, self.declined)
        remove_joined(graph, self.declined, self.frame.goes_on)
        self._decline_drawn_numbers(graph)
        if self.learnt(traced_code()).cannot_carry is None:
            turn_asserts_into_checks(graph)
        returned = take_returned(graph)
        apart = require_apart(graph, self.frame.marked)
        changed = [i for each in apart for i in each.inputs]
        shared = not names and share_memory(graph, changed)
        if shared:
            self.leave_as_written(SHARED_MEMORY)
        if changes_extreme(graph):
            self.leave_as_written("what `max` or `min` of tensors gives is changed in place")
        if changes_cached(graph):
            raise TraceAgain(restart_reason="what a function with a cache gave is changed in place")
        is_more = bool(names or self.frame.captures or self._is_joined())
        if is_more and not self.frame.goes_on and leaves_generators_open():
            self.leave_as_written("a generator is left early, and has something to do when Python closes it")
        differs = checkpointed.differs_again(graph, str(self.__name__))
        if changes_default_device():
            differs = "it changes the device on which tensors are made by default"
        if differs is not None:
            self.leave_as_written(differs)
        plan = self._plan(graph, is_more, changes_inputs=bool(apart))
        if shared:
            required += require_together(graph, changed)
        elif plan is None:
            required += apart
        apart_numbers = take_numbers(graph) if plan is not None or self._is_joined() else None
        count = len(next(node for node in graph.graph.nodes if node.op == "output").args[0])
        draws = draws_for_nothing(graph) if plan is None else ()
        keep_draws(graph, draws)
        random_decides = plan is not None and plan.random_decides
        if random_decides:
            spell_out_draws(graph)
        keep_signs(graph)
        finish_graph(graph)
        self._note_graph(graph, names, plan)
        with drawn_as_in_eager() if random_decides else contextlib.nullcontext():
            compiled = self._compile(graph, as_drawn(graph, example_inputs), has_markers=bool(names), **kwargs)
        if draws:
            compiled = functools.partial(_first, count, compiled)
        if apart_numbers is not None:
            compiled = functools.partial(apart_numbers.run, compiled)
        if plan is not None:
            compiled = functools.partial(plan.run, compiled)
        if returned:
            compiled = functools.partial(put_back, returned, compiled)
        if required:
            compiled = functools.partial(run_if_holds, required, compiled)
        self.frame.has_transaction |= plan is not None or bool(required)
        drop_own_guards()
        return compiled

    def leave_as_written(self, reason: str) -> None:
        """The frame's graphs are to be those of plain `torch.compile`."""
        learnt = self.learnt(traced_code())
        if learnt.as_written is None:
            learnt.as_written = reason
            raise TraceAgain(restart_reason=reason)
        # Dynamo's settings are no marks, and have to go as well.
        if self.frame.captures or self.frame.set_for:
            raise CannotUndoError(reason)

    def _carry_nothing(self, error: CannotUndoError) -> NoReturn:
        """Begins anew, without symbols first, then without markers."""
        if self.frame.captures:
            raise error
        self.learnt(traced_code()).cannot_carry = str(error)
        raise TraceAgain(restart_reason=str(error)) from None

    def _is_joined(self) -> bool:
        """Whether a substitute or a setting has put more into the graph than plain `torch.compile` has in one."""
        return bool(self.frame.marked or self.frame.set_for)

    def _plan(self, graph: torch.fx.GraphModule, is_more: bool, changes_inputs: bool) -> Plan | None:
        """Takes the markers out of the graph; how its calls are transactions, or None if they need not be.

        Where there `is_more` in a graph than plain `torch.compile` has, symbols or the sides of a branch that were not
        meant, what raises there is to be undone.
        """
        markers = [node for node in graph.graph.nodes if marker_name(node.target)]
        if not markers and not is_more and not (has_gradients(graph) and reads_what_it_changes(graph)):
            return None
        try:
            if self.frame.captures and loses_number(graph):
                raise CannotUndoError("Dynamo loses a number that was to be a symbol")
            if loses_checks_of_matrices(graph):
                raise CannotUndoError("this torch would not see that a matrix cannot be inverted or decomposed")
            return lift(graph, markers, self.frame.goes_on)
        except CannotUndoError as error:
            if self.frame.captures or markers:
                self._carry_nothing(error)
            elif self.frame.marked and changes_inputs:
                self.declined.update(dict.fromkeys(self.frame.marked, str(error)))
                self.frame.marked.clear()
            else:
                return None
            raise TraceAgain(restart_reason=str(error)) from None
        except CannotShowError as error:
            self.declined[error.site] = str(error)
            raise TraceAgain(restart_reason=str(error)) from None

    def _note_graph(self, graph: torch.fx.GraphModule, names: Sequence[str], plan: Plan | None) -> None:
        self.frame.graphs += 1
        self.frame.ops += sum(node.op.startswith("call") for node in graph.graph.nodes)
        self.frame.marked.update(map(speculate.site_of, names))
        self.frame.draws |= is_tracing() and draws_python_random()
        if plan is not None:
            self.frame.keys.update(seen.key for seen in plan.seen)

    def _compile(
        self, graph: torch.fx.GraphModule, example_inputs: Sequence[Any], has_markers: bool, **kwargs: Any
    ) -> Callable[..., Any]:
        """The graph as the user's backend compiles it."""
        modes = Modes()
        try:
            with floats_as_doubles(graph):
                compiled: Callable[..., Any] = self.inner(graph, example_inputs, **kwargs)
            return compiled
        except RestartAnalysis:
            # A backend's way to tell Dynamo that a number cannot be a symbol.
            raise
        except Exception as error:
            modes.restore(error)
            if without_inference_mode(graph):
                return self._compile(graph, example_inputs, has_markers, **kwargs)
            learnt = self.learnt(traced_code())
            # What is to blame may be the symbols; the frame is then traced again without them.
            if self.frame.captures or not has_markers or learnt.cannot_carry is not None:
                raise
            # What a mend has joined may be more than the backend takes; in pieces it may be right.
            learnt.cannot_carry = f"the backend fails on the whole graph ({type(error).__name__})"
            raise TraceAgain(restart_reason=learnt.cannot_carry) from None

"""A compiled frame whose graph is a transaction: run as compiled, and if that must not count, as it was written."""

import inspect
import random
import weakref
from types import CodeType, FunctionType
from typing import Any

import torch

from graphmend._mending import mended_code, replay, speculate
from graphmend._mending.backend import MendedBackend
from graphmend._mending.transaction import Miss, put_back
from graphmend._reporting.report import Report
from graphmend._torch.breaks import SIZES
from graphmend._torch.frames import all_positional, drop_compiled, set_eval_frame, skip_code, stand_between
from graphmend._torch.modes import saved_tensors_have_hooks

# A compiled frame may run as written this often more than in a quarter of its calls, for other reasons than a
# predicted value.
_PATIENCE = 16
# The values that are predicted in a frame may be wrong this often, all together, before those that were are given up.
_PATIENCE_WITH_VALUES = 8
# The same where a size that is a symbol is one: it is likely to be that always.
_PATIENCE_WITH_ONE = 4


class Recovery:
    """Runs a frame as compiled; when the graph raises `Miss`, nothing of it has happened, and its own code runs."""

    def __init__(
        self, backend: MendedBackend, code: CodeType, compiled: Any, space: dict[str, Any], report: Report
    ) -> None:
        self.backend = weakref.ref(backend)
        self.code = code
        self.draws = backend.frame.draws
        self.speculates = bool(backend.speculates)
        # Dynamo takes the graph out of the globals when this code object is gone.
        self.kept = compiled.code
        self.compiled = all_positional(compiled.code)
        # It is Dynamo's output already.
        skip_code(self.compiled)
        self.guards = compiled.guard_manager
        # The predictions in its graph.
        self.keys = frozenset(backend.frame.keys)
        self.globals = space
        self.report = report
        self.model = backend.number
        self.learnt = backend.learnt(code)
        self.runs = 0
        self.misses = 0
        self.given_up = False
        # No graph may break: when it is given up, the graph that there is runs no more.
        self.stays_whole = backend.fullgraph and not self._may_predict(backend)

    @stand_between
    def __call__(self, closure: tuple[Any, ...], *values: Any) -> Any:
        self.report.calls += 1
        self.runs += 1
        self.learnt.runs += 1
        state = random.getstate() if self.draws else None
        try:
            # They would see what a graph has saved that missed; and in the backward, another one may be predicted.
            if self.keys and saved_tensors_have_hooks():
                raise Miss(learnt=True)
            if self.given_up and self.stays_whole:
                raise Miss(learnt=True)
            return FunctionType(self.compiled, self.globals, "", None, closure or None)(*values)
        except Miss as miss:
            # It would keep the call's values.
            missed = miss.with_traceback(None)
        # Outside of the handler, so that what the original raises has no trace of the miss.
        prior = set_eval_frame(None)
        try:
            self.report.misses += 1
            if state is not None:
                put_back(random.setstate, state)
            if not missed.delivered:
                result = self.run_code(self.code, closure, values)
                if not missed.learnt or self.stays_whole:
                    self._count_miss(missed)
                else:
                    self._count_wrong()
                return result
            # What is compiled inside would deliver again.
            again = replay.of(missed.delivered, missed.error)
            with again, mended_code.in_live_functions(self.speculates), torch.compiler.set_stance("force_eager"):
                code = mended_code.replacement(self.code, self.globals, self.speculates)
                return self.run_code(code, closure, values)
        finally:
            set_eval_frame(prior)

    def _may_predict(self, backend: MendedBackend) -> bool:
        """Whether there are symbols in its graph, in the place of which values could be predicted."""
        return backend.speculates is True and bool(backend.learnt(self.code).captures.places)

    def _count_wrong(self) -> None:
        """Predictions that take turns in being wrong cost as much as one that always is: a loop that ends somewhere
        else each time."""
        self.learnt.wrong += 1
        if self.learnt.wrong > _PATIENCE_WITH_VALUES + self.learnt.runs // speculate.HITS_PER_MISS:
            speculate.give_up_wrong(self.keys, self.model)

    def _count_miss(self, miss: Miss) -> None:
        """What goes on running as written, and does not raise, is better off as plain `torch.compile` has it."""
        self.misses += 1
        backend = self.backend()
        patience = (_PATIENCE_WITH_ONE if miss.single else _PATIENCE) + self.runs // 4
        if backend is None or self.given_up or self.misses <= patience:
            return
        self.given_up = True
        if self.stays_whole:
            return
        if miss.raised and self.keys:
            speculate.give_up(self.keys)
            return
        reason = f"the frame ran as written in {self.misses} of {self.runs} calls"
        if miss.unmet is not None:
            backend.do_without(self.code, miss.unmet, reason)
        else:
            blamed = SIZES if miss.single else ""
            self.report.take_back(backend.do_with_less(self.code, reason, blamed))
        drop_compiled(self.guards, reason)

    @stand_between
    def run_code(self, code: CodeType, closure: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        function = FunctionType(code, self.globals, code.co_name, None, closure or None)
        by_position, rest = values[: code.co_argcount], values[code.co_argcount :]
        keywords = dict(zip(code.co_varnames[code.co_argcount :], rest[: code.co_kwonlyargcount]))  # noqa: B905
        rest = rest[code.co_kwonlyargcount :]
        if code.co_flags & inspect.CO_VARARGS:
            by_position, rest = (*by_position, *rest[0]), rest[1:]
        if code.co_flags & inspect.CO_VARKEYWORDS:
            keywords |= rest[0]
        return function(*by_position, **keywords)


skip_code(saved_tensors_have_hooks.__code__)

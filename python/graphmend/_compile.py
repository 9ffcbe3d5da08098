"""`graphmend.compile`: a drop-in for `torch.compile` that mends what breaks the graph.

The first call asks Dynamo where it breaks (which runs nothing), mends that place, and asks again, until the call is
captured whole or nothing moves. Every later call is the compiled one; when a check in it fails, the user's own code
runs instead.
"""

import builtins
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

from graphmend import _marks, _swap, _torch_private
from graphmend._report import Break, Report
from graphmend._torch_private import OptimizedModule, Unsupported
from graphmend._transaction import CannotRecoverError, MendedBackend, Miss

_MAX_ROUNDS = 200

_disabled = False


def disable() -> int:
    """The kill switch: all functions get their own code back, and nothing is mended any more in this process."""
    global _disabled
    _disabled = True
    return _swap.restore_all()


def effect(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declares that a function only talks to the outside: a call of it as a statement may run after the graph."""
    _swap.declare_effect(function)
    return function


def compile(  # noqa: A001 - the name of what it stands in for
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **others: Any,
) -> Any:
    """As `torch.compile`, with the same arguments; what it returns has a `report` besides."""
    if model is None:
        return functools.partial(
            compile,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
            **others,
        )
    if disable or _disabled:
        return torch.compile(
            model,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
            **others,
        )
    _torch_private.require_torch()
    builtins.__graphmend__ = _marks.Marks  # type: ignore[attr-defined]
    options = dict(options) if options else None
    special = {key: options.pop(key) for key in ("guard_filter_fn",) if options and key in options}
    mended = MendedBackend(_torch_private.inner_backend(backend, mode, options or None, dynamic))
    compiled = torch.compile(
        model, fullgraph=fullgraph, dynamic=dynamic, backend=mended, options=special or None, **others
    )
    if isinstance(compiled, OptimizedModule):
        return _own_module(compiled, mended)
    return _own_function(model, compiled, mended)


class OwnedCall:
    """A compiled callable and the original it stands for."""

    def __init__(self, original: Callable[..., Any], compiled: Callable[..., Any], backend: MendedBackend) -> None:
        self.original = original
        self.compiled = compiled
        self.backend = backend
        self.report = Report()
        self._settled = False
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _disabled:
            return self.compiled(*args, **kwargs)
        self.report.calls += 1
        try:
            if self._settled:
                return self.compiled(*args, **kwargs)
            return self._first_call(args, kwargs)
        except Miss:
            self.report.misses += 1
        # Outside of the handler, so that what the original raises has no trace of the miss.
        return self.original(*args, **kwargs)

    def _first_call(self, args: Any, kwargs: Any) -> Any:
        with self._lock:
            started = time.perf_counter()
            for _ in range(_MAX_ROUNDS):
                place = None
                self.backend.graphs = self.backend.ops = 0
                try:
                    with _torch_private.breaks_are_errors() as end:
                        self.backend.on_run = functools.partial(self._running, end, started)
                        return self.compiled(*args, **kwargs)
                except Unsupported as error:
                    place = _torch_private.break_place(error)
                except Exception as error:
                    if not _caused_by(error, CannotRecoverError):
                        raise
                    self.backend.recovers = False
                    continue
                finally:
                    self.backend.on_run = None
                if place is None or not self._mend(place):
                    break
            # Something is left. What would need the whole call to be undone is not predicted then.
            self.backend.recovers = False
            self.backend.graphs = self.backend.ops = 0
            self.backend.on_run = functools.partial(self._running, lambda: None, started)
            try:
                return self.compiled(*args, **kwargs)
            finally:
                self.backend.on_run = None
                self.report.graphs, self.report.ops = self.backend.graphs, self.backend.ops

    def _running(self, end: Callable[[], None], started: float) -> None:
        end()
        if not self._settled:
            self._settled = True
            self.report.seconds = time.perf_counter() - started
        self.report.graphs, self.report.ops = self.backend.graphs, self.backend.ops

    def _mend(self, place: _torch_private.Place) -> bool:
        reason = _swap.mend_line(place.file, place.line)
        kind = None
        if reason is None:
            kinds = [mend.kind for mend in _swap.mended_sites(place.file) if mend.line == place.line]
            kind = kinds[0] if kinds else "postpone"
        entry = Break(place.gb_type, place.file, place.line, place.function, kind, reason or "")
        (self.report.left if reason else self.report.mended).append(entry)
        return reason is None


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind) or isinstance(getattr(error, "inner_exception", None), kind):
            return True
        error = error.__cause__ or error.__context__
    return False


class OwnedModule(OptimizedModule):  # type: ignore[misc,unused-ignore]
    """What `torch.compile` returns for a module, with its calls owned."""

    forward: Any

    def _initialize(self) -> None:
        super()._initialize()
        backend = self.__dict__.get("_graphmend_backend")
        if backend is not None:
            self._own(backend)

    def _own(self, backend: MendedBackend) -> None:
        self.__dict__["_graphmend_backend"] = backend
        compiled: Callable[..., Any] = self.forward
        self.forward = OwnedCall(self._orig_mod, compiled, backend)

    @property
    def report(self) -> Report:
        """What broke, what was mended, what was left and why."""
        owned: OwnedCall = self.forward
        return owned.report


def _own_module(module: OptimizedModule, backend: MendedBackend) -> OptimizedModule:
    module.__class__ = OwnedModule
    module._own(backend)
    return module


def _own_function(original: Any, compiled: Callable[..., Any], backend: MendedBackend) -> Callable[..., Any]:
    owned = OwnedCall(original, compiled, backend)

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        return owned(*args, **kwargs)

    call.report = owned.report  # type: ignore[attr-defined]
    return call

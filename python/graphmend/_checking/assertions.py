"""`graphmend.assert_no_graph_breaks`: for tests that want to know when a model stops being captured whole."""

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from graphmend._mending.frames import MendingCallback
from graphmend._reporting.report import Break
from graphmend._torch.breaks import Place, Unsupported, break_place, trial
from graphmend._torch.calls import WrappedCallback, callbacks_wrapped, forget_broken_frames
from graphmend._torch.version import require_torch

_Function = TypeVar("_Function", bound=Callable[..., Any])

_NOT_MENDED = "`torch.compile` mends nothing; `graphmend.compile` may"


class GraphBreakError(AssertionError):
    """A graph broke where none may; `place` says where and why."""

    def __init__(self, place: Break) -> None:
        super().__init__(f"graph break: {place.explain()}")
        self.place = place


class assert_no_graph_breaks(contextlib.ContextDecorator):  # noqa: N801 - it is used as a function
    """Inside, a graph break in any compiled call raises an `AssertionError` that names the file, the line, the reason.

    >>> with graphmend.assert_no_graph_breaks():   # doctest: +SKIP
    ...     model(x)

    That holds for what `torch.compile` compiled and for what `graphmend.compile` did; for the latter, a break that is
    mended is none. Nothing of the call that would break has run when the error is raised, unless an earlier frame of
    it was compiled whole. If the program catches the error, it is raised again at the end of the block.

    What was compiled before with a break in it is compiled anew inside the block, and so noticed; what was captured
    whole is not compiled again. Code that runs under `torch._dynamo.error_on_graph_break(False)` may break, and a call
    that compiles nothing (`torch.compiler.set_stance("force_eager")`) does not break. The block covers all threads.

    It can decorate a function, too; with pytest, there is a fixture of the same name.
    """

    def __init__(self) -> None:
        self._opened: list[tuple[contextlib.AbstractContextManager[None], list[GraphBreakError]]] = []

    def __enter__(self) -> "assert_no_graph_breaks":
        require_torch()
        forget_broken_frames()
        raised: list[GraphBreakError] = []
        watched = callbacks_wrapped(lambda inner: _AssertingCallback(inner, raised))
        watched.__enter__()
        self._opened.append((watched, raised))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        watched, raised = self._opened.pop()
        watched.__exit__(kind, error, traceback)
        # The program may have caught it.
        if raised and error is None:
            raise raised[0].with_traceback(None)

    def __call__(self, function: _Function) -> _Function:
        """As a decorator."""
        return super().__call__(function)


class _AssertingCallback(WrappedCallback):
    """Compiles frames as usual, mends included, and does not go on when one of them breaks."""

    def __init__(self, inner: Any, raised: list[GraphBreakError]) -> None:
        super().__init__(inner)
        self.raised = raised

    def __call__(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        try:
            with trial():
                return self.inner(frame, cache_entry, frame_state)
        except Unsupported as error:
            place = break_place(error)
            if place is None:
                # No break but a wrong use of Dynamo, which says more about it than we could.
                raise
            found = _left(self.inner, place) or Break(
                place.gb_type, place.file, place.line, place.function, None, _NOT_MENDED, place.message
            )
        failure = GraphBreakError(found)
        self.raised.append(failure)
        raise failure


def _left(callback: Any, place: Place) -> Break | None:
    """What graphmend says about the place."""
    while isinstance(callback, WrappedCallback):
        callback = callback.inner
    if not isinstance(callback, MendingCallback):
        return None
    here = (place.file, place.line)
    return next((entry for entry in reversed(callback.report.left) if (entry.file, entry.line) == here), None)

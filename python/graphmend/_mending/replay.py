"""Running a program again of which some effects have already been delivered.

When an effect raises while it is delivered, nothing of the frame has happened yet but the effects before it. The frame
is then run again in eager, with its mended code: the statements that were delivered are passed over, and the one that
raised raises the same exception where it stands.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from types import FrameType


class _Replay(threading.local):
    active = False
    # Effects yet to be passed over, and what the one after them raised.
    delivered = 0
    error: BaseException | None = None
    # The frame in which that one stands, once it has raised.
    frame: FrameType | None = None


_replay = _Replay()


def active() -> bool:
    """Whether this thread is running something again."""
    return _replay.active


@contextlib.contextmanager
def of(delivered: int, error: BaseException) -> Iterator[None]:
    """Inside, the first `delivered` effects are passed over, and the next one raises `error`.

    Its traceback begins in the statement, as it was delivered; that is where the exception is found to come from.
    """
    before = vars(_replay).copy()
    statement = error.__traceback__
    _replay.active, _replay.delivered, _replay.error = True, delivered, error
    try:
        yield
    finally:
        entry = error.__traceback__
        while entry is not None and entry.tb_next is not None:
            if entry.tb_next.tb_frame is _replay.frame:
                entry.tb_next = statement
            entry = entry.tb_next
        vars(_replay).clear()
        vars(_replay).update(before)


def next_is_done() -> bool:
    """Whether the effect at which the program stands was delivered; raises if it is the one that raised."""
    if _replay.delivered:
        _replay.delivered -= 1
        return True
    error, _replay.error = _replay.error, None
    _replay.active = False
    if error is not None:
        # The statement stands in the function that has called the mark.
        _replay.frame = sys._getframe(2)
        traceback = error.__traceback__
        raise error.with_traceback(traceback.tb_next if traceback else None)
    return False

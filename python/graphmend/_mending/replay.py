"""Running a program again of which some effects have already been delivered.

When an effect raises while it is delivered, nothing of the frame has happened yet but the effects before it. The frame
is then run again in eager, with its mended code: the statements that were delivered are passed over, and the one that
raised raises the same exception where it stands.
"""

import contextlib
import threading
from collections.abc import Iterator


class _Replay(threading.local):
    active = False
    # Effects yet to be passed over, and what the one after them raised.
    delivered = 0
    error: BaseException | None = None


_replay = _Replay()


def active() -> bool:
    """Whether this thread is running something again."""
    return _replay.active


@contextlib.contextmanager
def of(delivered: int, error: BaseException | None) -> Iterator[None]:
    """Inside, the first `delivered` effects are passed over, and the next one raises `error`."""
    before = (_replay.active, _replay.delivered, _replay.error)
    _replay.active, _replay.delivered, _replay.error = True, delivered, error
    try:
        yield
    finally:
        _replay.active, _replay.delivered, _replay.error = before


def next_is_done() -> bool:
    """Whether the effect at which the program stands was delivered; raises if it is the one that raised."""
    if _replay.delivered:
        _replay.delivered -= 1
        return True
    error, _replay.error = _replay.error, None
    _replay.active = False
    if error is not None:
        raise error
    return False

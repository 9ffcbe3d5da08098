"""Running a program again of which some effects have already been delivered.

When an effect raises while it is delivered, or all are and the call cannot count, nothing of the frame has happened yet
but effects. The frame is then run again in eager, with its mended code: the statements that were delivered are passed
over, and the one that raised raises the same exception where it stands.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType


class _Replay(threading.local):
    # The sites of the effects that are to come: those to be passed over, and last the one that raised.
    sites: Sequence[str] = ()
    error: BaseException | None = None
    # The frame in which that one stands, once it has raised.
    frame: FrameType | None = None


_replay = _Replay()


def active() -> bool:
    """Whether this thread is running something again."""
    return bool(_replay.sites)


def waits_for(site: str) -> bool:
    """Whether the statement at this site was delivered; its arguments may have effects of their own, which came before
    it. Others were left to the program, which carries them out again."""
    return site in _replay.sites


def expects(site: str) -> bool:
    """Whether the statement at this site is the next one that was delivered."""
    return bool(_replay.sites) and _replay.sites[0] == site


@contextlib.contextmanager
def of(sites: Sequence[str], error: BaseException | None) -> Iterator[None]:
    """Inside, the effects at these sites are passed over, in this order, and the last of them raises `error`.

    Its traceback begins in the statement, as it was delivered; that is where the exception is found to come from.
    """
    before = vars(_replay).copy()
    statement = error.__traceback__ if error else None
    _replay.sites, _replay.error = sites, error
    try:
        yield
    finally:
        entry = error.__traceback__ if error else None
        while entry is not None and entry.tb_next is not None:
            if entry.tb_next.tb_frame is _replay.frame:
                entry.tb_next = statement
            entry = entry.tb_next
        vars(_replay).clear()
        vars(_replay).update(before)


def pass_over() -> None:
    """Passes over the effect that is expected; raises if it is the one that raised."""
    _replay.sites = _replay.sites[1:]
    if not _replay.sites and _replay.error is not None:
        error, _replay.error = _replay.error, None
        # The statement stands in the function that has called the mark.
        _replay.frame = sys._getframe(2)
        traceback = error.__traceback__
        raise error.with_traceback(traceback.tb_next if traceback else None)

"""Makes a failing input small. In: bytes and a test that says whether they still fail. Out: fewer bytes that fail.

Delta debugging: drop ever smaller runs of lines, then of tokens, then of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oracle import mutate


class _OutOfTestsError(Exception):
    pass


def reduce_source(source: bytes, still_fails: Callable[[bytes], bool], max_tests: int = 1500) -> bytes:
    """The smallest failing source found within `max_tests` tests."""
    tests = 0
    best = source

    def attempt(candidate: bytes) -> bool:
        nonlocal tests, best
        if tests >= max_tests:
            raise _OutOfTestsError
        tests += 1
        if still_fails(candidate):
            best = candidate
            return True
        return False

    try:
        before = b""
        while before != best:
            before = best
            _drop_runs(best.splitlines(keepends=True), attempt)
            _drop_runs(mutate.tokens_of(best), attempt)
            if len(best) <= 200:
                _drop_runs([bytes((byte,)) for byte in best], attempt)
    except _OutOfTestsError:
        pass
    return best


def _drop_runs(parts: Sequence[bytes], attempt: Callable[[bytes], bool]) -> None:
    kept: list[bytes] = list(parts)
    size = max(1, len(kept) // 2)
    while True:
        at = 0
        while at < len(kept):
            candidate = kept[:at] + kept[at + size :]
            if candidate != kept and attempt(b"".join(candidate)):
                kept = candidate
            else:
                at += size
        if size == 1:
            return
        size //= 2

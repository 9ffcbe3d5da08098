"""How long a call takes on a GPU. In: a call without arguments. Out: seconds, one after another and in a stream."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch


def one_by_one(call: Callable[[], Any], calls: int) -> float:
    """Seconds a call, when each is waited for: the median."""
    times = []
    for _ in range(calls):
        torch.cuda.synchronize()
        started = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def in_a_stream(call: Callable[[], Any], calls: int) -> float:
    """Seconds a call, when only the last is waited for."""
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(calls):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / calls

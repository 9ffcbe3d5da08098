"""What `torch.fx` writes to standard error when a graph's own code raises; not where the user's code runs then instead.

In: calls of graphs. Out: the same, `inside` of which nothing is written.
"""

import functools
import threading
from typing import Any

import torch.fx.graph_module


class _Quiet(threading.local):
    depth = 0


_quiet = _Quiet()


class _Inside:
    def __enter__(self) -> None:
        _quiet.depth += 1

    def __exit__(self, *_: object) -> None:
        _quiet.depth -= 1


inside = _Inside()


@functools.cache
def write_less() -> None:
    def write(*values: Any, **options: Any) -> None:
        if not _quiet.depth:
            print(*values, **options)

    # The module finds its own name before Python's.
    torch.fx.graph_module.print = write  # type: ignore[attr-defined,unused-ignore]

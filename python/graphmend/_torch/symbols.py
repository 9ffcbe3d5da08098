"""Symbols that stand for what is read from tensors: on which line of the program each of them was made."""

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

from torch._guards import TracingContext
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from graphmend._torch.replaced import replaced

_MAKERS = ("create_unbacked_symint", "create_unbacked_symfloat")
_NEEDED = re.compile(r"data-dependent expression (.+?) \(unhinted")
_NAME = re.compile(r"\b(?:u|zuf)\d+\b")


class _Made(threading.local):
    def __init__(self) -> None:
        # By the symbol's name: the frames of the program, the innermost last.
        self.stacks: dict[str, Any] = {}


_made = _Made()


@contextlib.contextmanager
def symbols_noted() -> Iterator[None]:
    """Inside, it is noted where symbols are made."""
    _made.stacks.clear()
    with replaced(*((ShapeEnv, name, _noting) for name in _MAKERS)):
        yield


def _noting(original: Any) -> Any:
    def create(*args: Any, **kwargs: Any) -> Any:
        symbol = original(*args, **kwargs)
        if TracingContext.try_get() is not None:
            # A trace that begins again has the same names for others.
            _made.stacks[str(symbol.node.expr)] = TracingContext.extract_stack()
        return symbol

    return create


def stacks_of_needed(error: BaseException) -> list[Any]:
    """Where the symbols were made that the program needs to know, by what an error of Dynamo's says."""
    needed = _NEEDED.search(str(error))
    names = _NAME.findall(needed[1]) if needed else []
    return [_made.stacks[name] for name in dict.fromkeys(names) if name in _made.stacks]

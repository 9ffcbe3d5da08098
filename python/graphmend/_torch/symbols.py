"""Symbols that stand for what is read from tensors: on which line of the program each of them was made."""

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.source import CallMethodItemSource
from torch._guards import TracingContext
from torch.fx.experimental.symbolic_shapes import ShapeEnv, free_unbacked_symbols

from graphmend._torch.replaced import replaced

_MAKERS = ("create_unbacked_symint", "create_unbacked_symfloat", "create_unbacked_symbool")
_NEEDED = re.compile(r"data-dependent expression (.+?) \(unhinted")
_NAME = re.compile(r"\b(?:u|zuf)\d+\b")


class _Made(threading.local):
    def __init__(self) -> None:
        # By the symbol's name: the frames of the program, the innermost last.
        self.stacks: dict[str, Any] = {}
        # Those that are true or false.
        self.truths: set[str] = set()


_made = _Made()


@contextlib.contextmanager
def symbols_noted() -> Iterator[None]:
    """Inside, it is noted where symbols are made."""
    _made.stacks.clear()
    _made.truths.clear()
    with replaced(*((ShapeEnv, name, _noting) for name in _MAKERS)):
        yield


def _noting(original: Any) -> Any:
    def create(*args: Any, **kwargs: Any) -> Any:
        symbol = original(*args, **kwargs)
        if TracingContext.try_get() is not None:
            # A trace that begins again has the same names for others. A truth is a number that is compared with 1.
            (name,) = _NAME.findall(str(symbol.node.expr))
            _made.stacks[name] = TracingContext.extract_stack()
            (_made.truths.add if isinstance(symbol, torch.SymBool) else _made.truths.discard)(name)
        return symbol

    return create


def read_symbols(value: Any) -> set[Any]:
    """The symbols in a number that were read from tensors: in the graph, or before it, of an input."""
    if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return set()
    sources = value.node.shape_env.var_to_sources
    of_inputs = {
        symbol
        for symbol in value.node.expr.free_symbols
        if any(isinstance(source, CallMethodItemSource) for source in sources.get(symbol, ()))
    }
    return of_inputs.union(free_unbacked_symbols(value))


def stacks_of_needed(error: BaseException) -> list[Any]:
    """Where the symbols were made that the program needs to know, by what an error of Dynamo's says."""
    return [_made.stacks[name] for name in _needed(error) if name in _made.stacks]


def needs_truth(error: BaseException) -> bool:
    """Whether all that the program needs to know was true or false when it was read."""
    needed = _needed(error)
    return bool(needed) and _made.truths.issuperset(needed)


def _needed(error: BaseException) -> list[str]:
    expression = _NEEDED.search(str(error))
    return list(dict.fromkeys(_NAME.findall(expression[1]))) if expression else []

"""The effects that were taken out of graphs: their code, and how they are delivered.

An effect's statement is compiled as a function of the values it needs, with the user's file, lines, columns and
function name, so that log records, warnings and tracebacks look as if the statement had run where it stands.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from graphmend import _torch_private, _values

# By site, which names file, place and text: the same site always means the same code.
_outlined: dict[str, Callable[..., Any]] = {}


def define(site: str, function: Callable[..., Any]) -> None:
    _outlined[site] = function


def deliver(site: str, spec: str, ints: Sequence[int], tensors: Sequence[torch.Tensor]) -> None:
    """Runs the statement with the values of the moment at which the graph passed it."""
    _outlined[site](*_values.rebuild(spec, ints, tensors))


def _fail_check(site: str, flag: torch.Tensor) -> None:
    # Only reached in a graph that nobody lifted, where nothing can be undone.
    if bool(flag):
        raise RuntimeError(f"graphmend: a check was compiled outside of its call ({site}); please report this")


_torch_private.register_markers(deliver, _fail_check)

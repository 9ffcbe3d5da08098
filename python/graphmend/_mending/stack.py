"""A stack as the user's program would have it, for effects that look at it: `stacklevel`, `stack_info`.

An effect is delivered from deep inside of graphmend and torch. What it would have seen above itself is known: the
functions that Dynamo had inlined when it passed the statement, and the real callers of the compiled frame. Calls are
made through functions with their names, files, lines and globals.
"""

import ast
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from graphmend._frame_file import FRAME_FILE
from graphmend._torch.compiling import OptimizedModule

_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Caller:
    """One frame of a stack."""

    file: str
    line: int
    function: str
    space: dict[str, Any]


def call_under(callers: Sequence[Caller], function: Callable[..., Any], values: Sequence[Any]) -> None:
    """Calls the function so that it sees these callers above itself, innermost last, and above them the real ones."""
    call = functools.partial(function, *values)
    for caller in reversed([*_real_callers(), *callers]):
        call = functools.partial(_stand_in(caller), call)
    call()


def _real_callers() -> list[Caller]:
    """Who called the compiled frame, outermost first; the frames of graphmend and Dynamo left out."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != FRAME_FILE:
        frame = frame.f_back
    callers = []
    while frame is not None:
        if not _is_machinery(frame):
            callers.append(Caller(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, frame.f_globals))
        frame = frame.f_back
    return callers[::-1]


def _is_machinery(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    if frame.f_code.co_filename == FRAME_FILE or module.partition(".")[0] == _PACKAGE:
        return True
    if module.startswith("torch._dynamo"):
        return True
    # The wrapper is a module too, and is called like one.
    return module == "torch.nn.modules.module" and isinstance(frame.f_locals.get("self"), OptimizedModule)


def _stand_in(caller: Caller) -> Callable[..., Any]:
    """A function that looks like the caller and calls what it is given."""
    name = caller.function if caller.function.isidentifier() else "stand_in"
    tree = ast.parse(f"def {name}(graphmend_call): graphmend_call()")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = caller.line  # type: ignore[attr-defined]
    space: dict[str, Any] = {}
    exec(compile(tree, caller.file, "exec"), caller.space, space)
    made: Callable[..., Any] = space[name]
    made.__code__ = made.__code__.replace(co_name=caller.function)
    return made

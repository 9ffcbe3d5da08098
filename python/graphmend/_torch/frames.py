"""Frames: the code that Dynamo converts, what it has compiled for it, and code that stands in for a frame."""

import functools
import inspect
import sys
import threading
from collections.abc import Callable, MutableMapping
from types import CodeType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo import bytecode_transformation as bytecode
from torch._dynamo import convert_frame, eval_frame, guards
from torch._dynamo.eval_frame import set_code_exec_strategy
from torch._dynamo.eval_frame import set_eval_frame as set_eval_frame
from torch._dynamo.eval_frame import skip_code as skip_code
from torch._dynamo.types import ConvertFrameReturn, FrameAction, FrameExecStrategy
from torch.utils.weak import WeakIdKeyDictionary

from graphmend._frame_file import FRAME_FILE


def know_code(code: CodeType) -> None:
    """`torch._dynamo.reset` forgets what was compiled for the code that it knows."""
    convert_frame.input_codes.add(code)


def forget_code(code: CodeType) -> None:
    """Drops what Dynamo compiled for this code object, and for nothing else."""
    torch._dynamo.eval_frame.reset_code(code)


def drop_compiled(guards_of_it: Any, reason: str) -> None:
    """Dynamo does not run what it compiled under these guards again: the frame is compiled anew when it is next called.

    What is running goes on. Dynamo does the same when an object that it guards on is gone.
    """
    entry, known = guards_of_it.cache_entry, guards_of_it.extra_state
    if entry is not None and known is not None:
        known.invalidate(entry, guards.DeletedGuardManagerWrapper(reason))


def take_back_skips(model: Any) -> None:
    """Dynamo remembers by code object that a frame is not worth compiling, whoever compiled it; mended, it may be."""
    functions = [type(module).forward for module in model.modules()] if isinstance(model, torch.nn.Module) else [model]
    for function in functions:
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType) and not getattr(function, "_torchdynamo_disable", False):
            set_code_exec_strategy(code, FrameExecStrategy(FrameAction.DEFAULT, FrameAction.DEFAULT))


def run_once_as_it_is(fullgraph: bool) -> Any:
    """A converter's answer: the frame runs in eager this time, and the next time it is asked about again. Where no
    graph may break, what it calls runs in eager too."""
    if fullgraph:
        _ran_as_it_is.noted = True
    for_calls = FrameAction.SKIP if fullgraph else FrameAction.DEFAULT
    return ConvertFrameReturn(FrameExecStrategy(FrameAction.DEFAULT, for_calls), apply_to_code=False)


def skip_from_now_on() -> Any:
    """A converter's answer: the code runs in eager from now on; what it calls is asked about."""
    return ConvertFrameReturn(FrameExecStrategy(FrameAction.SKIP, FrameAction.DEFAULT))


class _RanAsItIs(threading.local):
    noted = False


_ran_as_it_is = _RanAsItIs()


def _counting(original: Callable[[int], int]) -> Callable[[int], int]:
    """Dynamo counts what is compiled in a call, from zero until it says -1, and under `fullgraph=True` raises if there
    was nothing; what was to run as it is counts."""

    def set_count(value: int) -> int:
        count, ran = original(value), _ran_as_it_is.noted
        _ran_as_it_is.noted = False
        return max(count, 1) if ran and value < 0 <= count else count

    return set_count


# Not all versions of torch count.
if hasattr(eval_frame, "set_fullgraph_compiled_frame_count"):
    eval_frame.set_fullgraph_compiled_frame_count = _counting(eval_frame.set_fullgraph_compiled_frame_count)


class FrameView:
    """A frame that is about to run, with other code in the place of its own; what Dynamo's converter looks at."""

    def __init__(self, frame: Any, code: CodeType) -> None:
        self._frame = frame
        # A function that mended code has made runs that code itself: what is traced for another is a copy of it.
        if code not in _copies:
            _copies[code] = code.replace()
        self.f_code = _copies[code]
        _own_code[self.f_code] = frame.f_code

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)


# What was compiled for a frame is kept with its own code, whatever code was traced.
# Code of two files may be equal, and is told apart by what it is, not by what it says.
_own_code: MutableMapping[CodeType, CodeType] = WeakIdKeyDictionary()
_copies: MutableMapping[CodeType, CodeType] = WeakIdKeyDictionary()


def own_code(code: CodeType) -> CodeType:
    """A frame's own code, of the code that is traced for it."""
    return _own_code.get(code, code)


@functools.cache
def go_by_own_code() -> None:
    """Guards find a frame's variables where its own code has them, and recompilations are counted by it."""
    guards.get_framelocals_idx = _by_own_code(guards.get_framelocals_idx)
    for name in ("_get_cache_entries_for_region", "_get_total_cache_entry_count"):
        original = getattr(convert_frame, name, None)
        if original is not None:
            setattr(convert_frame, name, _by_own_code(original))


@functools.cache
def decode_by_file() -> None:
    """Dynamo keeps the instructions of code it has seen, and takes those of equal code; but what they hold, the code of
    lambdas and comprehensions, has a file."""
    original = bytecode._cached_cleaned_instructions
    decoded = functools.lru_cache(lambda file, code, safe: original.__wrapped__(code, safe))
    bytecode._cached_cleaned_instructions = lambda code, safe=False: decoded(code.co_filename, code, safe)


def _by_own_code(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def by_own_code(code: CodeType, *args: Any) -> Any:
        return original(own_code(code), *args)

    return by_own_code


_HAS_FREE_VARIABLE_COPY = sys.version_info >= (3, 11)


def can_wrap_frame(code: CodeType) -> bool:
    """Whether `frame_that_calls` can stand in for this code."""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return False
    # Before 3.11 the interpreter moves such arguments into their cells before the first instruction.
    return _HAS_FREE_VARIABLE_COPY or not set(code.co_cellvars) & set(code.co_varnames)


def stand_between(function: Any) -> Any:
    """A decorator: the function's frames are of `FRAME_FILE`, and Dynamo leaves them alone."""
    function.__code__ = function.__code__.replace(co_filename=FRAME_FILE)
    skip_code(function.__code__)
    return function


def argument_names(code: CodeType) -> tuple[str, ...]:
    """The names of all arguments, in the order of the frame: by position, by keyword, `*args`, `**kwargs`."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def frame_that_calls(code: CodeType, target: Callable[..., Any]) -> CodeType:
    """Code that fits where `code` is run by Dynamo, and returns `target(closure, *arguments)`."""
    names = argument_names(code)

    def rewrite(instructions: list[Any], options: dict[str, Any]) -> None:
        new: list[Any] = []
        if _HAS_FREE_VARIABLE_COPY:
            if code.co_freevars:
                new.append(bytecode.create_instruction("COPY_FREE_VARS", arg=len(code.co_freevars)))
            new.append(bytecode.create_instruction("RESUME", arg=0))
        new += bytecode.add_push_null(bytecode.create_load_const(target, checked=False))
        load_cell = "LOAD_FAST" if sys.version_info >= (3, 13) else "LOAD_CLOSURE"
        new += [bytecode.create_instruction(load_cell, argval=name) for name in code.co_freevars]
        new.append(bytecode.create_instruction("BUILD_TUPLE", arg=len(code.co_freevars)))
        new += [bytecode.create_instruction("LOAD_FAST", argval=name) for name in names]
        new += bytecode.create_call_function(len(names) + 1, False)
        new.append(bytecode.create_instruction("RETURN_VALUE"))
        instructions[:] = new
        # Tracebacks show it by this name, and no line of the user's twice.
        options["co_filename"] = FRAME_FILE

    made: CodeType = bytecode.transform_code_object(code, rewrite)[0]
    # Dynamo knows its own outputs by these.
    convert_frame.orig_code_map[made] = code
    convert_frame.output_codes.add(made)
    return made


def all_positional(code: CodeType) -> CodeType:
    """The same code, taking each of its arguments by position: `*args` as a tuple, `**kwargs` as a dict."""
    return code.replace(
        co_argcount=len(argument_names(code)),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS),
    )

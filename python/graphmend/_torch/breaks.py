"""Breaks of the graph: where and why, and how a frame is tried without telling anybody of them."""

import contextlib
import functools
import linecache
import logging
import os
import re
import threading
import traceback
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch._dynamo import convert_frame, exc, symbolic_convert
from torch._dynamo import utils as dynamo_utils
from torch._dynamo.variables.tensor import TensorVariable
from torch._subclasses.fake_tensor import FakeTensor

from graphmend._torch.elements import elements_by_number
from graphmend._torch.exact import numbers_exact
from graphmend._torch.in_view import numbers_in_view
from graphmend._torch.replaced import replaced
from graphmend._torch.slices import slices_as_given
from graphmend._torch.symbols import stacks_of_needed, symbols_noted
from graphmend._torch.tracing import is_ours

Unsupported = exc.Unsupported
# Held by Dynamo while it compiles.
compile_lock = convert_frame.compile_lock
UserError = exc.UserError
# An operator refused its operands while they were only shapes.
TorchRuntimeError = exc.TorchRuntimeError


@dataclass(frozen=True)
class Place:
    """Where and why Dynamo broke."""

    file: str
    line: int
    function: str
    gb_type: str
    message: str
    # Characters in the line, from 0, where they are known.
    column: int | None = None
    end_column: int | None = None
    # File, line and function of the frames around it, the innermost first.
    around: tuple[tuple[str, int, str], ...] = ()

    def callers(self) -> Iterator["Place"]:
        """The same break, seen from the frames around it."""
        for file, line, function in self.around:
            yield Place(file, line, function, self.gb_type, self.message)


def break_place(error: BaseException) -> Place | None:
    return _place_in(getattr(error, "real_stack", None) or (), error)


def read_places(error: BaseException) -> list[Place]:
    """Where the program reads what it needs to know as more than a symbol."""
    places = [_place_in(stack, error) for stack in stacks_of_needed(error)]
    return [place for place in places if place is not None]


def _place_in(frames: Iterable[Any], error: BaseException) -> Place | None:
    # A break inside of what mended code calls is its caller's, and so is one of what a mode hands on.
    stack = [frame for frame in frames if not _is_between(frame)]
    if not stack:
        return None
    frame = stack[-1]
    message = str(error)
    needs_symbol = re.search(r"Could not .*data-dependent expression", message)
    named = needs_symbol[0] if needs_symbol else getattr(error, "gb_type", None)
    gb_type = named or message.split("\n")[0]
    columns = (getattr(frame, "colno", None), getattr(frame, "end_colno", None))
    if getattr(frame, "end_lineno", None) != frame.lineno:
        columns = (None, None)
    around = tuple((outer.filename, outer.lineno or 0, outer.name) for outer in reversed(stack[:-1]))
    return Place(frame.filename, frame.lineno or 0, frame.name, gb_type, message, *columns, around)


def _is_between(frame: Any) -> bool:
    """Whether a frame stands between a place of the program and what is called there: graphmend's own, those of torch's
    modes, as the one that a default device is, what Dynamo traces in the stead of builtins, and functions of torch's
    that hand on the sizes that they are given."""
    file: str = frame.filename
    return (
        is_ours(file)
        or (frame.name == "__torch_function__" and file.startswith(_TORCH))
        or file.startswith(_STANDING_IN)
        or (frame.name in _SIZED and file == torch.nn.functional.__file__)
    )


_TORCH = str(Path(torch.__file__).parent) + os.sep
# The mender knows the same ones.
_SIZED = frozenset(["pad", "interpolate", "adaptive_avg_pool2d", "adaptive_avg_pool3d"])
_STANDING_IN = str(Path(torch._dynamo.__file__).parent / "polyfills") + os.sep


@contextlib.contextmanager
def trial() -> Iterator[None]:
    """Inside, a frame that would break its graph is not compiled; `Unsupported` says where and why.

    Dynamo tells its user about some breaks as it meets them, once. That is put off until one stays.
    """
    told = set(dynamo_utils.warn_once_cache)
    has_told = TensorVariable._warn_capture_scalar_outputs.cache_info().currsize > 0
    _quiet.active = True
    try:
        with _same_dispatch_keys(), _marking_breaks(), torch._dynamo.error_on_graph_break(True):
            yield
    finally:
        _quiet.active = False
        dynamo_utils.warn_once_cache.intersection_update(told)
        if not has_told:
            TensorVariable._warn_capture_scalar_outputs.cache_clear()


def _marking_breaks() -> contextlib.AbstractContextManager[None]:
    """Dynamo refuses to trace what marks a tensor for it. As a break it can be mended."""

    def forbids(original: Any) -> Any:
        return lambda function: function is not torch._dynamo.mark_static_address and original(function)

    return replaced((symbolic_convert, "is_forbidden", forbids))


def told_of_the_program() -> contextlib.AbstractContextManager[None]:
    """Inside, what Dynamo tells its user of a number that is read names the program's lines alone."""

    def of_the_program(original: Any) -> Any:
        return lambda: traceback.StackSummary([frame for frame in original() if not is_ours(frame.filename)])

    def telling(original: Any) -> Any:
        def told() -> None:
            with replaced((torch._guards.TracingContext, "extract_stack", of_the_program)):
                original()

        return told

    return replaced((TensorVariable, "_warn_capture_scalar_outputs", telling))


@contextlib.contextmanager
def captured(convert: Any, settings: Collection[str], fullgraph: bool) -> Iterator[None]:
    """What of a tensor's values become symbols, by Dynamo's own settings; of numbers `fullgraph=True` has them so."""
    while convert is not None and not isinstance(convert, convert_frame.ConvertFrameAssert):
        convert = getattr(convert, "_inner_convert", None) or getattr(convert, "_torchdynamo_orig_backend", None)
    config = torch._dynamo.config
    # The converter is the same for all threads; what it had is known.
    with (
        _scalars,
        config.patch(
            fail_on_recompile_limit_hit=fullgraph or config.fail_on_recompile_limit_hit,
            **dict.fromkeys(settings, True),
        ),
    ):
        if convert is not None:
            convert._one_graph = False
        try:
            with contextlib.ExitStack() as stack:
                if settings:
                    stack.enter_context(symbols_noted())
                    stack.enter_context(numbers_exact())
                if NUMBERS in settings:
                    stack.enter_context(elements_by_number())
                    stack.enter_context(slices_as_given())
                    stack.enter_context(numbers_in_view())
                yield
        finally:
            if convert is not None:
                convert._one_graph = fullgraph


_scalars = threading.RLock()


# The setting by which numbers that are read from tensors are symbols.
NUMBERS = "capture_scalar_outputs"
SIZES = "capture_dynamic_output_shape_ops"
# What a line says on which the program reads a number, or gives a tensor for one.
_READS = ("item(", "int(", "float(", "alpha=", "value=")


def capture_for(place: Place) -> str | None:
    """The setting of Dynamo's by which what broke would be a symbol: a number that the program itself reads from a
    tensor, the position of an element, or the size of a tensor that hangs on values.

    What torch or Dynamo reads because it takes a whole number, the bound of a slice say, is predicted first: backends
    then know the shapes.
    """
    if place.gb_type == "Dynamic shape operator":
        return SIZES
    text = linecache.getline(place.file, place.line)
    words = ("[", "tolist(") if place.gb_type == "Data dependent operator" else _READS
    return NUMBERS if is_read(place) and any(word in text for word in words) else None


def is_read(place: Place) -> bool:
    """Whether a number that is read from a tensor breaks the graph."""
    if place.gb_type == "Data dependent operator":
        return "_local_scalar_dense" in place.message
    return place.gb_type.startswith("Unsupported Tensor.item() call")


def hangs_on_symbol(error: BaseException) -> bool:
    """Whether the program needs to know a number that is a symbol."""
    return "data-dependent expression" in str(error) or "nbacked" in str(error)


def is_guard(place: Place) -> bool:
    """Whether what is needed there is the truth of what hangs on a symbol."""
    return "Could not guard on" in place.message


def hits_limit(error: BaseException) -> bool:
    """Whether Dynamo has compiled the function as often as it may."""
    return getattr(error, "gb_type", None) == "Dynamo recompile limit exceeded"


def is_raise(error: BaseException) -> bool:
    """Whether the program itself raises, as far as was traced."""
    return str(getattr(error, "gb_type", None)).startswith("Observed exception")


def comes_from_us(error: BaseException) -> bool:
    """Whether code of graphmend's own has raised an exception that ended a trace."""
    steps = list(traceback.walk_tb(error.__traceback__))
    return bool(steps) and is_ours(steps[-1][0].f_code.co_filename)


def fails_tracing(error: BaseException) -> bool:
    """Whether Dynamo could not trace what Python may be able to run: it says all else by exceptions of its own."""
    is_own = isinstance(error, exc.TorchDynamoException)
    return not is_own or isinstance(error, (exc.TorchRuntimeError, exc.InternalTorchDynamoError))


def _same_dispatch_keys() -> contextlib.AbstractContextManager[Any]:
    """Puts torch's dispatch keys back: a trace of torch 2.11 that ends in `inference_mode` leaves its own behind."""
    included, excluded = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    context: contextlib.AbstractContextManager[Any] = torch._C._ForceDispatchKeyGuard(included, excluded)
    return context


class _Quiet(threading.local):
    active = False


_quiet = _Quiet()


@functools.cache
def tell_less() -> None:
    """Lets `trial` keep Dynamo from telling of breaks."""
    warn_once = dynamo_utils.warn_once

    def tell(text: str, stacklevel: int = 1) -> None:
        if not _quiet.active:
            warn_once(text, stacklevel + 1)

    dynamo_utils.warn_once = tell
    logging.getLogger(TensorVariable.__module__).addFilter(
        lambda record: not (_quiet.active and record.funcName == "_warn_capture_scalar_outputs")
    )
    # An operator that fails on shapes alone; what then becomes of the frame is not decided yet.
    logging.getLogger(FakeTensor.__module__).addFilter(lambda record: not _quiet.active)


def forget_errors(convert: Any) -> None:
    """A converter remembers whether breaks were errors when it last traced, also for where it does not trace."""
    while convert is not None and not hasattr(convert, "_inner_convert"):
        convert = getattr(convert, "_torchdynamo_orig_backend", None)
    if convert is not None:
        convert._inner_convert._box.error_on_graph_break = False

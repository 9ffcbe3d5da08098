"""What is only needed to look at calls from outside: to verify, to explain, to assert."""

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo import convert_frame, eval_frame

from graphmend._mending.frames import MendingCallback
from graphmend._mending.recovery import Recovery
from graphmend._torch.compiling import OptimizedModule, compile_context
from graphmend._torch.frames import forget_code

# Takes Dynamo's callback and gives the one to use in its stead.
Wrap = Callable[[Any], Any]

_RESUME = "__resume_at_"

_lock = threading.Lock()
_wraps: list[Wrap] = []
_plain_callback_from_stance: Any = None


def original_of(model: Any) -> tuple[Any, Any]:
    """What `torch.compile` or `graphmend.compile` was given, and the backend; the model itself and None otherwise."""
    backend = None
    while True:
        context = compile_context(model)
        callback = getattr(context, "callback", None)
        if backend is None and isinstance(callback, MendingCallback):
            backend = callback.backend.inner
        elif backend is None and callable(callback):
            backend = _innermost(callback)
        if isinstance(model, OptimizedModule):
            model = model._orig_mod
        elif isinstance(model, FunctionType) and hasattr(model, "_torchdynamo_orig_callable"):
            model = model._torchdynamo_orig_callable
        else:
            return model, backend


def _innermost(callback: Any) -> Any:
    while hasattr(callback, "_torchdynamo_orig_backend"):
        callback = callback._torchdynamo_orig_backend
    return callback


def backend_name(backend: Any) -> str:
    """A backend's name as one would give it to `torch.compile`."""
    if isinstance(backend, str):
        return backend
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)
    return str(name or type(backend).__name__)


def options_of_their_own() -> dict[str, Any]:
    """Arguments of `torch.compile` that keep what it compiles away from other users of the same code, if it has any."""
    names = inspect.signature(torch.compile).parameters
    return {"isolate_recompiles": True} if "isolate_recompiles" in names else {}


def random_as_in_eager() -> contextlib.AbstractContextManager[Any]:
    """Inductor draws the numbers that eager draws."""
    import torch._inductor.config

    patched: contextlib.AbstractContextManager[Any] = torch._inductor.config.patch(fallback_random=True)
    return patched


@contextlib.contextmanager
def callbacks_wrapped(wrap: Wrap) -> Iterator[None]:
    """Inside, in all threads, a compiled call uses `wrap(callback)` for frames that are not compiled yet.

    Relies on `compile_wrapper` asking `_callback_from_stance` for its callback at each call.
    """
    global _plain_callback_from_stance
    with _lock:
        if not _wraps:
            _plain_callback_from_stance = eval_frame._callback_from_stance
            eval_frame._callback_from_stance = _wrapped_callback
        _wraps.append(wrap)
    try:
        yield
    finally:
        with _lock:
            _wraps.remove(wrap)
            if not _wraps:
                eval_frame._callback_from_stance = _plain_callback_from_stance


def _wrapped_callback(callback: Any) -> Any:
    callback = _plain_callback_from_stance(callback)
    if callback is None or callback is False:
        return callback
    for wrap in tuple(_wraps):
        callback = wrap(callback)
    return callback


class WrappedCallback:
    """A callback around another; Dynamo takes both for the same backend, and so shares what it has compiled."""

    def __init__(self, inner: Any) -> None:
        self._torchdynamo_orig_backend = inner

    @property
    def inner(self) -> Any:
        return self._torchdynamo_orig_backend

    def __call__(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        return self.inner(frame, cache_entry, frame_state)


def wrap_own_callback(compiled: Any, model: Any, wrap: Wrap) -> Any:
    """The same as `compiled`, which `torch.compile` made of `model`, with another callback."""
    context = compile_context(compiled)
    if context is None:
        return compiled
    context.callback = wrap(context.callback)
    return context(model)


def forget_broken_frames() -> None:
    """What Dynamo compiled with a break in it, or decided to skip, is compiled anew at its next call.

    Relies on the list of all code that Dynamo has seen. Frames that were captured whole stay as they are.
    """
    for reference in list(convert_frame.input_codes.seen):
        code = reference()
        if code is None:
            continue
        entries = eval_frame._debug_get_cache_entry_list(code)
        if not entries or any(_breaks(entry.code) for entry in entries):
            forget_code(code)


def _breaks(compiled: CodeType) -> bool:
    """Whether code that Dynamo made goes on in a function that resumes after a break."""
    if any(name.startswith(_RESUME) for name in compiled.co_names):
        return True
    return any(_breaks(constant.kept) for constant in compiled.co_consts if isinstance(constant, Recovery))

"""What `torch.compile` makes of its arguments, and the settings that it goes by."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.eval_frame import OptimizedModule as OptimizedModule
from torch.utils import checkpoint

try:
    from torch._dynamo.backends.registry import get_default_backend
except ImportError:
    get_default_backend = None


def inner_backend(
    backend: Any, mode: str | None, options: dict[str, Any] | None, dynamic: bool | None, name: str | None
) -> tuple[Any, dict[str, Any]]:
    """The compiler that `torch.compile` would use for these arguments, and those options that are not for it."""
    if backend is None:
        backend = get_default_backend() if get_default_backend else "inductor"
    if mode is not None and options is not None:
        # `torch.compile` knows what to say.
        torch.compile(lambda: None, mode=mode, options=options)
    options = dict(options) if options else None
    special = {key: options.pop(key) for key in ("guard_filter_fn", "use_aoti") if options and key in options}
    if special.get("use_aoti"):
        raise ValueError("graphmend.compile does not mend for use_aoti; use torch.compile")
    if backend == "inductor":
        extra = (name,) if name is not None else ()
        return torch._TorchCompileInductorWrapper(mode or "default", options or None, dynamic, *extra), special
    return torch._TorchCompileWrapper(backend, mode, options or None, dynamic), special


def compile_context(compiled: Any) -> Any | None:
    """The context through which `torch.compile` made this callable; None if it compiles nothing."""
    if isinstance(compiled, OptimizedModule):
        return compiled.dynamo_ctx
    for cell in getattr(compiled, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if isinstance(content, torch._dynamo.eval_frame._TorchDynamoContext) and callable(content.callback):
            return content
    return None


# Ends a recomputation for `torch.utils.checkpoint`: no failure of the graph.
StopRecomputation = checkpoint._StopRecomputationError


def changing_attributes() -> contextlib.AbstractContextManager[Any]:
    """An int attribute of a module that has changed since the last trace is traced as a number that may change."""
    context: contextlib.AbstractContextManager[Any] = torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True)
    return context


@contextlib.contextmanager
def drawn_as_in_eager() -> Iterator[None]:
    """Inside, Inductor compiles random operators as what eager calls, with eager's numbers."""
    import torch._inductor.config as inductor

    with inductor.patch(fallback_random=True):
        yield


def recompile_limit() -> int:
    limit: int = torch._dynamo.config.recompile_limit
    return limit

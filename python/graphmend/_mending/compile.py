"""`graphmend.compile`: a drop-in for `torch.compile` that mends what breaks the graph."""

import builtins
from collections.abc import Callable
from typing import Any

import torch

from graphmend import _config
from graphmend._mending import mended_code, talkers
from graphmend._mending.backend import MendedBackend
from graphmend._mending.frames import MendingCallback
from graphmend._mending.marks import Marks
from graphmend._mending.marks_asked import code_to_trace, traces_gradients
from graphmend._reporting.report import Report
from graphmend._torch.compiling import OptimizedModule, compile_context, inner_backend
from graphmend._torch.frames import forget_code, take_back_skips
from graphmend._torch.settings import keep_backward_inside
from graphmend._torch.tracing import inline_other_code, pass_objects
from graphmend._torch.version import require_torch, torch_version


def disable() -> int:
    """The kill switch: nothing is mended any more in this process, and what was compiled mended is compiled anew."""
    MendedBackend.disabled = True
    for backend in MendedBackend.known:
        for code in backend.codes:
            forget_code(code)
    return mended_code.forget_all()


def effect(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declares that a function only talks to the outside: a call of it as a statement may run after the graph."""
    talkers.declare(function)
    return function


def compile(  # noqa: A001 - the name of what it stands in for
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    speculate: bool | str | None = None,
    **others: Any,
) -> Any:
    """As `torch.compile`, with the same arguments; what it returns has a `report` besides.

    `speculate`: whether values that Python needs of tensors are predicted; "report" only tells what would be. Unless
    it is given, the setting of that name rules, which is on by default.
    """
    if speculate is None:
        speculate = _config.current().speculate
    if speculate not in (True, False, "report"):
        raise ValueError(f"speculate is True, False or 'report', not {speculate!r}")
    if model is None:

        def decorate(function: Any) -> Any:
            if function is None:
                raise RuntimeError("Model can't be None")
            return compile(
                function,
                fullgraph=fullgraph,
                dynamic=dynamic,
                backend=backend,
                mode=mode,
                options=options,
                disable=disable,
                speculate=speculate,
                **others,
            )

        return decorate
    if disable or MendedBackend.disabled or _config.current().disable:
        chosen = {} if backend is None else {"backend": backend}
        return torch.compile(
            model,
            fullgraph=fullgraph,
            dynamic=dynamic,
            mode=mode,
            options=options,
            disable=disable,
            **chosen,
            **others,
        )
    require_torch()
    builtins.__graphmend__ = Marks  # type: ignore[attr-defined]
    inline_other_code(code_to_trace)
    pass_objects()
    keep_backward_inside(traces_gradients)
    inner, special = inner_backend(backend, mode, options, dynamic, others.pop("name", None))
    mended = MendedBackend(inner, speculate, fullgraph)
    compiled = torch.compile(
        model, fullgraph=fullgraph, dynamic=dynamic, backend=mended, options=special or None, **others
    )
    context = compile_context(compiled)
    if context is None:
        return compiled
    report = Report(name=getattr(model, "__qualname__", type(model).__qualname__))
    if hasattr(mended, "get_compiler_config"):
        context.compiler_config = mended.get_compiler_config()
    context.callback = MendingCallback(context.callback, mended, report, fullgraph)
    take_back_skips(model)
    owned = context(model)
    if isinstance(owned, OptimizedModule):
        owned.__class__ = MendedModule
    else:
        owned.report = report
    return owned


class MendedModule(OptimizedModule):  # type: ignore[misc,unused-ignore]
    """What `torch.compile` returns for a module, with a report."""

    @property
    def report(self) -> Report:
        """What broke, what was mended, what was left and why."""
        report: Report = self.dynamo_ctx.callback.report
        return report

    if torch_version() < (2, 12):

        def __bool__(self) -> bool:
            # OptimizedModule has a length, also where its module has none, and Dynamo asks when it calls one.
            return bool(self._orig_mod)

"""What Dynamo is tracing in this thread, and what may be said to it while it does.

Relies on `InstructionTranslator.current_tx` and on the `TracingContext`.
"""

import builtins
import functools
import logging
import operator
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, TypeVar

import torch
import torch._dynamo
from torch._dynamo import exc, symbolic_convert
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.polyfills import getattr_and_trace
from torch._dynamo.source import AttrSource
from torch._dynamo.symbolic_convert import InliningInstructionTranslator, InstructionTranslator
from torch._dynamo.variables import functions
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import init_cellvars
from torch._dynamo.variables.misc import ConstantLikeVariable, LoggingLoggerVariable, PythonModuleVariable
from torch._dynamo.variables.user_defined import UserDefinedObjectVariable
from torch.utils._device import DeviceContext

from graphmend._torch.frames import own_code
from graphmend._torch.markers import marker_name

_Function = TypeVar("_Function", bound=Callable[..., Any])

_TAKES_OBJECTS = "_graphmend_takes_objects"
_TAKES_VARIABLES = "_graphmend_takes_variables"


def assume_constant_result(function: _Function) -> _Function:
    """A function that Dynamo calls while it traces; what it returns is a constant of the trace."""
    made: _Function = torch._dynamo.assume_constant_result(function)
    return made


@assume_constant_result
def captures_numbers() -> bool:
    """Whether a number that is read from a tensor becomes a symbol."""
    return bool(torch._dynamo.config.capture_scalar_outputs)


def takes_objects(function: Callable[..., str]) -> Callable[..., str]:
    """Like `assume_constant_result`, for a function that may be given any object that Dynamo has found in the program.

    What is compiled holds for that very object, and for what `holds_for` says of it. For what Dynamo has made or
    changed itself it is given None.
    """
    setattr(function, _TAKES_OBJECTS, True)
    made: Callable[..., str] = assume_constant_result(function)
    return made


def on_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Dynamo calls while it traces, on what it knows of the operands: its own variables.

    It is given the translator first, and returns the variable that stands for its result. Variables may be such that
    Dynamo has not looked at yet.
    """
    setattr(function, _TAKES_VARIABLES, True)
    made: Callable[..., Any] = assume_constant_result(function)
    return made


def pass_objects() -> None:
    """From now on, Dynamo gives functions that take objects, or its own variables, what it has no constant for."""
    original = functions.invoke_and_store_as_constant
    if hasattr(original, _TAKES_OBJECTS):
        return

    @functools.wraps(original)
    def invoke(tx: Any, function: Any, name: str, args: Any, kwargs: Any) -> Any:
        if hasattr(function, _TAKES_VARIABLES):
            return function(tx, *args)
        if hasattr(function, _TAKES_OBJECTS):
            _given.sources.clear()
            args = [arg if arg.is_python_constant() else ConstantLikeVariable(_object_behind(arg)) for arg in args]
        if _is_own(function) and not kwargs and all(arg.is_python_constant() for arg in args):
            result = function(*(arg.as_python_constant() for arg in args))
            # Dynamo would leave it among the program's globals.
            return VariableTracker.build(tx, result)
        return original(tx, function, name, args, kwargs)

    setattr(invoke, _TAKES_OBJECTS, True)
    vars(functions)["invoke_and_store_as_constant"] = invoke


def _is_own(function: Any) -> bool:
    return str(function.__module__).startswith("graphmend.")


def _object_behind(variable: Any) -> object | None:
    variable = variable.realize()
    kinds = (LoggingLoggerVariable, UserDefinedObjectVariable, PythonModuleVariable)
    if not isinstance(variable, kinds) or not variable.source or _is_changed(variable):
        return None
    install_guard(variable.source.make_guard(GuardBuilder.ID_MATCH))
    found: object = variable.value
    _given.sources[id(found)] = variable.source
    return found


def _is_changed(variable: Any) -> bool:
    """Whether the frame has changed the object, or what its fields hold: that is written back after the graph."""
    effects = InstructionTranslator.current_tx().output.side_effects
    held = [variable.value, *getattr(variable.value, "__dict__", {}).values()]
    known = (effects.id_to_variable.get(id(each)) for each in held)
    return any(effects.is_modified(each) for each in known if each is not None)


def stand_in(variable: Any) -> Any:
    """The fake tensor that a variable is traced with: one for each tensor of the program."""
    return variable.as_proxy().node.meta.get("example_value")


def hooked_inputs() -> list[Any]:
    """What stands for the inputs that get a hook when the graph has run."""
    hooks = InstructionTranslator.current_tx().output.side_effects.tensor_hooks.values()
    return [stand_in(tensor) for tensor, *_ in hooks]


def holds_while(source: Any, same: Callable[[Any], bool], what: str) -> None:
    """What is being compiled holds as long as `same` says so of what is found there."""

    def add(builder: Any, guard: Any) -> None:
        add_guard(builder, guard, same, what)

    install_guard(source.make_guard(add))


def holds_as_it_is(source: Any, ask: Callable[[Any], object], what: str) -> None:
    """What is being compiled holds as long as `ask`, named by `what`, says of what is found there what it says now."""

    def add(builder: Any, guard: Any) -> None:
        named = f"{guard.name}: {what}"
        if named in builder.already_added_code_parts:
            return
        builder.already_added_code_parts.add(named)
        told = ask(builder.get(guard))
        add_guard(builder, guard, lambda value: ask(value) == told, what)

    install_guard(source.make_guard(add))


def add_guard(builder: Any, guard: Any, same: Callable[[Any], bool], what: str) -> None:
    """Where Dynamo makes a guard, makes one of its own kind: that `same` says so of what is found there."""
    manager = builder.get_guard_manager(guard)
    try:
        manager.add_lambda_guard(same, [what], guard.user_stack)
    except TypeError:
        # Before torch 2.13 nobody asks for the stack.
        manager.add_lambda_guard(same, [what])


class _Given(threading.local):
    """Where Dynamo found the objects that a function is given."""

    def __init__(self) -> None:
        self.sources: dict[int, Any] = {}


_given = _Given()


def holds_for(owner: object, path: str) -> None:
    """What is being compiled holds as long as an attribute of a given object equals what it is now."""
    source = _given.sources[id(owner)]
    for name in path.split("."):
        source = AttrSource(source, name)
    install_guard(source.make_guard(GuardBuilder.EQUALS_MATCH))


# The folder of this package: frames of its files are not the user's.
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
# Nor are those that lead from a compiled function to the one that is inlined.
_DYNAMO = str(Path(torch._dynamo.__file__).parent) + os.sep


def is_ours(file: str) -> bool:
    """Whether a file is one of graphmend's own."""
    return file.startswith(_PACKAGE)


def traced_backend() -> object | None:
    """The backend, as the user's code gave it, for which Dynamo is tracing in this thread."""
    translator = InstructionTranslator.current_tx()
    backend: object = translator.output.compiler_fn
    while True:
        inner = getattr(backend, "_torchdynamo_orig_backend", None)
        if inner is None and isinstance(backend, torch._TorchCompileWrapper):
            inner = backend.compiler_fn
        if inner is None:
            return backend
        backend = inner


def last_wanted() -> torch.fx.Node:
    """The value that was marked as wanted last, in the graph that is being traced."""
    nodes = InstructionTranslator.current_tx().output.graph.nodes
    marker = next(node for node in reversed(nodes) if marker_name(node.target) == "wanted")
    return marker.args[0]


def outside(node: torch.fx.Node) -> torch.fx.Node | None:
    """What the input of a function stands for that an operator is given, in the graph around it; None for any other."""
    tracer = InstructionTranslator.current_tx().output.current_tracer
    while tracer.parent is not None:
        for outer, inner in tracer.lifted_freevars.items():
            if inner.node is node:
                return outer.node  # type: ignore[no-any-return,unused-ignore]
        tracer = tracer.parent
    return None


def real_input(node: torch.fx.Node) -> Any:
    """What this call has for an input of the graph that is being traced."""
    value = node.meta["grapharg"].example
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return value.node.hint
    if node.meta["grapharg"].pass_arg_as_tensor and not isinstance(value, torch.Tensor):
        return torch.as_tensor(value)
    return value


def traced_attribute(name: str) -> Any:
    """What the graph that is being traced has under a name: a tensor, or a function that an operator is given."""
    output = InstructionTranslator.current_tx().output
    return operator.attrgetter(name)(SimpleNamespace(**output.nn_modules))


def trace_attempt() -> object:
    """Something that is new for each attempt to trace a frame."""
    return torch._guards.TracingContext.get()


def is_tracing() -> bool:
    """Whether Dynamo is tracing in this thread."""
    return getattr(symbolic_convert.tls, "current_tx", None) is not None


def traced_code() -> CodeType:
    """The own code of the frame that Dynamo is compiling in this thread, whatever it has inlined."""
    return own_code(InstructionTranslator.current_tx().output.root_tx.f_code)


def passed_in_call(site: str) -> int:
    """How often the call that is being traced of the function around a site has come to it, this time included."""
    translator = InstructionTranslator.current_tx()
    while is_ours(translator.f_code.co_filename):
        translator = translator.parent
    passed: dict[str, int] = vars(translator).setdefault("_graphmend_passed", {})
    passed[site] = passed.get(site, 0) + 1
    return passed[site]


def draws_python_random() -> bool:
    """Whether the frame being compiled draws from Python's `random`, which Dynamo does ahead of the graph."""
    return bool(InstructionTranslator.current_tx().output.random_calls)


def operators_around() -> list[Any]:
    """The higher-order operators whose bodies the code being traced is part of, the innermost first."""
    found, tracer = [], InstructionTranslator.current_tx().output.current_tracer
    while tracer.parent is not None:
        found.append(tracer.source_target)
        tracer = tracer.parent
    return found


def in_function_mode() -> bool:
    """Whether a mode of the program's own may do something else where torch's functions are called."""
    state = InstructionTranslator.current_tx().symbolic_torch_function_state
    modes = state.mode_stack if state.torch_function_mode_enabled else ()
    # A default device is a mode of torch's.
    return any(mode.python_type() is not DeviceContext for mode in modes)


def handles_exception() -> bool:
    """Whether the code being traced, or what has called it, stands in a handler of an exception."""
    return len(InstructionTranslator.current_tx().exn_vt_stack) > 0


def changes_print_options() -> bool:
    """Whether the frame being traced has changed how tensors are printed: that is written back after the graph."""
    effects = InstructionTranslator.current_tx().output.side_effects
    options = effects.id_to_variable.get(id(torch._tensor_str.PRINT_OPTS))
    return options is not None and bool(effects.is_modified(options))


def changes_default_device() -> bool:
    """Whether the frame being traced has changed where tensors are made by default. The mode that does it is an object,
    which Dynamo loses behind a graph."""
    effects = InstructionTranslator.current_tx().output.side_effects
    objects = [each for each in effects.id_to_variable.values() if isinstance(each, UserDefinedObjectVariable)]
    return any(effects.is_modified(each) for each in objects if isinstance(each.value, DeviceContext))


def changes_streams() -> bool:
    """Whether the frame being traced has changed where texts go: that shows outside only when the graph has run."""
    effects = InstructionTranslator.current_tx().output.side_effects
    known = (effects.id_to_variable.get(id(each)) for each in (sys, warnings, logging, builtins))
    return any(effects.is_modified(each) for each in known if each is not None)


def traced_stack() -> list[tuple[str, int, str]]:
    """File, line and function of the program's frames that are being traced, outermost first."""
    summary = torch._guards.TracingContext.extract_stack()
    return [
        (frame.filename, frame.lineno or 0, frame.name)
        for frame in summary
        if not is_ours(frame.filename) and not frame.filename.startswith(_DYNAMO)
    ]


RestartAnalysis = exc.RestartAnalysis


class TraceAgain(exc.UnspecializeRestartAnalysis, exc.TensorifyScalarRestartAnalysis):  # type: ignore[misc,unused-ignore]
    """Raised by a backend: Dynamo traces the frame anew. The first base forgets the old attempt, the second passes."""


def _in_cache(translator: Any) -> bool:
    """Whether a function that is inlined there is called through `functools.cache` or `lru_cache`, which Dynamo passes
    by. Where such a function breaks the graph, Python calls the cache."""
    while translator is not None:
        if translator.f_code is getattr_and_trace.__code__:
            wrapper = translator.symbolic_locals.get("wrapper_obj")
            if hasattr(getattr(wrapper, "wrapper_obj", None), "cache_info"):
                return True
        translator = getattr(translator, "parent", None)
    return False


def inline_other_code(replace: Callable[[CodeType, dict[str, Any], bool], CodeType]) -> None:
    """From now on, when Dynamo inlines a function it asks `replace` for the code to trace in its stead. It is told
    whether the function is called through a cache.

    Nothing else sees that code: the function itself, and everybody who calls it, keep their own.
    """
    original = InliningInstructionTranslator.__init__
    if hasattr(original, "_graphmend_replaces"):
        return

    @functools.wraps(original)
    def init(self: Any, parent: Any, code: CodeType, *args: Any, **kwargs: Any) -> None:
        function = next(arg for arg in (*args, *kwargs.values()) if hasattr(arg, "get_globals"))
        new = replace(code, function.get_globals(), _in_cache(parent))
        if new is not code:
            # Arguments were bound for the function's own code; what only the new code's lambdas share has no cell yet.
            symbolic_locals = args[0] if args else kwargs["symbolic_locals"]
            added = [name for name in new.co_cellvars if name not in code.co_cellvars]
            init_cellvars(parent, symbolic_locals, code.replace(co_cellvars=tuple(added)))
        original(self, parent, new, *args, **kwargs)

    init._graphmend_replaces = True  # type: ignore[attr-defined]
    InliningInstructionTranslator.__init__ = init

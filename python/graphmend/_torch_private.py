"""Everything that touches torch's private parts, and nothing else.

Each function says what it relies on. `require_torch` is the probe that runs before anything is mended: a torch whose
parts have moved gets a clear refusal, not a wrong program.
"""

import contextlib
import functools
import inspect
import logging
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo import bytecode_transformation as bytecode
from torch._dynamo import convert_frame, exc, guards
from torch._dynamo import utils as dynamo_utils
from torch._dynamo.eval_frame import OptimizedModule, set_code_exec_strategy, set_eval_frame, skip_code
from torch._dynamo.source import RandomValueSource
from torch._dynamo.symbolic_convert import InliningInstructionTranslator, InstructionTranslator
from torch._dynamo.types import FrameAction, FrameExecStrategy
from torch._dynamo.variables.functions import init_cellvars
from torch._dynamo.variables.tensor import TensorVariable
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.utils import checkpoint

try:
    from torch._dynamo.backends.registry import get_default_backend
except ImportError:
    get_default_backend = None

_PACKAGE = str(Path(__file__).parent)

SUPPORTED = ((2, 11), (2, 13))

Unsupported = exc.Unsupported
UserError = exc.UserError
# An operator refused its operands while they were only shapes.
TorchRuntimeError = exc.TorchRuntimeError

__all__ = [
    "GraphFacts",
    "OptimizedModule",
    "Place",
    "TorchRuntimeError",
    "Unsupported",
    "UserError",
    "set_eval_frame",
    "skip_code",
]


class TorchVersionError(RuntimeError):
    """The installed torch is not one that graphmend knows."""


@functools.cache
def require_torch() -> None:
    """Raises unless this torch is one whose private parts are where this file expects them."""
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if not SUPPORTED[0] <= version <= SUPPORTED[1]:
        raise TorchVersionError(
            f"graphmend mends torch {'.'.join(map(str, SUPPORTED[0]))} to {'.'.join(map(str, SUPPORTED[1]))}; "
            f"this is torch {torch.__version__}"
        )
    needed = ((torch, "_TorchCompileWrapper"), (torch, "_TorchCompileInductorWrapper"), (guards, "get_framelocals_idx"))
    for module, name in needed:
        if not hasattr(module, name):
            raise TorchVersionError(f"torch {torch.__version__} has no {name}; graphmend cannot mend with it")
    tell_less()
    go_by_own_code()


# The marker operators. `emit` carries an effect's values out of the graph, `check` a flag that must hold its
# predicted value. They are lifted out before a backend sees the graph; where one is not (a graph that is not ours),
# being effectful keeps compilers from dropping it.
_library = torch.library.Library("graphmend", "DEF")
_library.define("emit(str site, str spec, SymInt[] ints, Tensor[] values) -> ()")
_library.define("check(str site, Tensor flag) -> ()")
# A value that Python needs; and the same with what was predicted for it, to be compared after the graph.
_library.define("wanted(Tensor value) -> ()")
_library.define("predicted(str key, str text, Tensor value, Tensor flag) -> ()")
# What a branch was joined to, and from what.
_library.define("joined(str site, Tensor result, Tensor one, Tensor other) -> ()")


_MARKERS = ("emit", "check", "wanted", "predicted", "joined")


def register_markers(emit: Callable[..., None], check: Callable[..., None]) -> None:
    """Gives the marker operators their meaning outside of lifted graphs."""
    _library.impl("emit", emit, "CompositeExplicitAutograd")
    _library.impl("check", check, "CompositeExplicitAutograd")
    _library.impl("predicted", lambda key, text, value, flag: check(key, flag), "CompositeExplicitAutograd")
    for name in ("wanted", "joined"):
        _library.impl(name, lambda *_: None, "CompositeExplicitAutograd")
    for name in _MARKERS:
        _library.impl(name, lambda *_: None, "Meta")
        _register_effectful_op(getattr(torch.ops.graphmend, name).default, _EffectType.ORDERED)


def marker_name(target: object) -> str | None:
    """ "emit", "check" or "joined"; None for what is no marker."""
    packet = getattr(target, "overloadpacket", target)
    for name in _MARKERS:
        if packet is getattr(torch.ops.graphmend, name):
            return name
    return None


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


def real_input(node: torch.fx.Node) -> Any:
    """What this call has for an input of the graph that is being traced."""
    value = node.meta["grapharg"].example
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return value.node.hint
    if node.meta["grapharg"].pass_arg_as_tensor and not isinstance(value, torch.Tensor):
        return torch.as_tensor(value)
    return value


def traced_root() -> Any:
    """Where the graph that is being traced finds its attributes."""
    output = InstructionTranslator.current_tx().output
    return torch.fx.GraphModule(output.nn_modules, torch.fx.Graph())


def trace_attempt() -> object:
    """Something that is new for each attempt to trace a frame."""
    return torch._guards.TracingContext.get()


def traced_code() -> CodeType:
    """The code of the frame that Dynamo is compiling in this thread, whatever it has inlined."""
    code: CodeType = InstructionTranslator.current_tx().output.root_tx.f_code
    return code


def draws_python_random() -> bool:
    """Whether the frame being compiled draws from Python's `random`, which Dynamo does ahead of the graph."""
    return bool(InstructionTranslator.current_tx().output.random_calls)


def finish_graph(graph: torch.fx.GraphModule) -> None:
    """Makes the code of a changed graph now: made late, its first call goes through a wrapper that prints errors."""
    graph.recompile()
    _LazyGraphModule.force_recompile(graph)


def in_higher_order_op() -> bool:
    """Whether the code being traced is the body of a higher-order operator (cond, checkpoint, vmap, …)."""
    output = InstructionTranslator.current_tx().output
    return output.current_tracer.parent is not None


def traced_stack() -> list[tuple[str, int, str]]:
    """File, line and function of the frames being traced, outermost first."""
    summary = torch._guards.TracingContext.extract_stack()
    return [(frame.filename, frame.lineno or 0, frame.name) for frame in summary]


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


def forget_errors(convert: Any) -> None:
    """A converter remembers whether breaks were errors when it last traced, also for where it does not trace."""
    while convert is not None and not hasattr(convert, "_inner_convert"):
        convert = getattr(convert, "_torchdynamo_orig_backend", None)
    if convert is not None:
        convert._inner_convert._box.error_on_graph_break = False


def changing_attributes() -> contextlib.AbstractContextManager[Any]:
    """An int attribute of a module that has changed since the last trace is traced as a number that may change."""
    context: contextlib.AbstractContextManager[Any] = torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True)
    return context


@contextlib.contextmanager
def trial() -> Iterator[None]:
    """Inside, a frame that would break its graph is not compiled; `Unsupported` says where and why.

    Dynamo tells its user about some breaks as it meets them, once. That is put off until one stays.
    """
    told = set(dynamo_utils.warn_once_cache)
    _quiet.active = True
    try:
        with torch._dynamo.error_on_graph_break(True):
            yield
    finally:
        _quiet.active = False
        dynamo_utils.warn_once_cache.intersection_update(told)
        TensorVariable._warn_capture_scalar_outputs.cache_clear()


class _Quiet(threading.local):
    active = False


_quiet = _Quiet()


@functools.cache
def tell_less() -> None:
    """Lets `trial` keep Dynamo from telling of breaks."""
    warn_once = dynamo_utils.warn_once
    dynamo_utils.warn_once = lambda *args, **kwargs: None if _quiet.active else warn_once(*args, **kwargs)
    logging.getLogger(TensorVariable.__module__).addFilter(
        lambda record: not (_quiet.active and record.funcName == "_warn_capture_scalar_outputs")
    )


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
    # A break inside of what mended code calls is its caller's.
    stack = [frame for frame in getattr(error, "real_stack", None) or () if not frame.filename.startswith(_PACKAGE)]
    if not stack:
        return None
    frame = stack[-1]
    message = str(error)
    gb_type = getattr(error, "gb_type", None) or message.split("\n")[0]
    columns = (getattr(frame, "colno", None), getattr(frame, "end_colno", None))
    if getattr(frame, "end_lineno", None) != frame.lineno:
        columns = (None, None)
    around = tuple((outer.filename, outer.lineno or 0, outer.name) for outer in reversed(stack[:-1]))
    return Place(frame.filename, frame.lineno or 0, frame.name, gb_type, message, *columns, around)


def know_code(code: CodeType) -> None:
    """`torch._dynamo.reset` forgets what was compiled for the code that it knows."""
    convert_frame.input_codes.add(code)


def forget_code(code: CodeType) -> None:
    """Drops what Dynamo compiled for this code object, and for nothing else."""
    torch._dynamo.eval_frame.reset_code(code)


class TraceAgain(exc.UnspecializeRestartAnalysis, exc.TensorifyScalarRestartAnalysis):  # type: ignore[misc,unused-ignore]
    """Raised by a backend: Dynamo traces the frame anew. The first base forgets the old attempt, the second passes."""


def take_back_skips(model: Any) -> None:
    """Dynamo remembers by code object that a frame is not worth compiling, whoever compiled it; mended, it may be."""
    functions = [type(module).forward for module in model.modules()] if isinstance(model, torch.nn.Module) else [model]
    for function in functions:
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType) and not getattr(function, "_torchdynamo_disable", False):
            set_code_exec_strategy(code, FrameExecStrategy(FrameAction.DEFAULT, FrameAction.DEFAULT))


# Ends a recomputation for `torch.utils.checkpoint`: no failure of the graph.
StopRecomputation = checkpoint._StopRecomputationError


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


class FrameView:
    """A frame that is about to run, with other code in the place of its own; what Dynamo's converter looks at."""

    def __init__(self, frame: Any, code: CodeType) -> None:
        self._frame = frame
        self.f_code = code
        _own_code[code] = frame.f_code

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)


# What was compiled for a frame is kept with its own code, whatever code was traced.
_own_code: weakref.WeakKeyDictionary[CodeType, CodeType] = weakref.WeakKeyDictionary()


@functools.cache
def go_by_own_code() -> None:
    """Guards find a frame's variables where its own code has them, and recompilations are counted by it."""
    guards.get_framelocals_idx = _by_own_code(guards.get_framelocals_idx)
    for name in ("_get_cache_entries_for_region", "_get_total_cache_entry_count"):
        original = getattr(convert_frame, name, None)
        if original is not None:
            setattr(convert_frame, name, _by_own_code(original))


def _by_own_code(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def by_own_code(code: CodeType, *args: Any) -> Any:
        return original(_own_code.get(code, code), *args)

    return by_own_code


def is_torch_function(target: Any) -> bool:
    """Whether a graph's function is one of torch's own or of Python's operators, and no operator on functions."""
    if isinstance(target, torch._ops.HigherOrderOperator):
        return False
    module = getattr(target, "__module__", None) or ""
    return isinstance(target, torch._ops.OpOverload) or module.partition(".")[0] in ("torch", "_operator", "math")


def recompile_limit() -> int:
    limit: int = torch._dynamo.config.recompile_limit
    return limit


def is_drawn_number(node: torch.fx.Node) -> bool:
    """Whether a node stands for a number of Python's `random`, or is made of such numbers alone."""
    inputs, seen, stack = [], set(), [node]
    while stack:
        each = stack.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.op == "placeholder":
            inputs.append(each)
        stack += each.all_input_nodes
    return bool(inputs) and all(isinstance(each.meta["grapharg"].source, RandomValueSource) for each in inputs)


def talks_to_other_processes(graph: torch.fx.GraphModule) -> bool:
    """Whether there are collective operations in the graph."""
    names = (str(node.target) for node in graph.graph.nodes if node.op == "call_function")
    return any("c10d" in name or "torch.distributed" in name for name in names)


def suppresses_errors() -> bool:
    """Whether a frame that cannot be compiled is to run as it is, without a word."""
    return bool(torch._dynamo.config.suppress_errors)


def inline_other_code(replace: Callable[[CodeType, dict[str, Any]], CodeType]) -> None:
    """From now on, when Dynamo inlines a function it asks `replace` for the code to trace in its stead.

    Nothing else sees that code: the function itself, and everybody who calls it, keep their own.
    """
    original = InliningInstructionTranslator.__init__
    if hasattr(original, "_graphmend_replaces"):
        return

    @functools.wraps(original)
    def init(self: Any, parent: Any, code: CodeType, *args: Any, **kwargs: Any) -> None:
        function = next(arg for arg in (*args, *kwargs.values()) if hasattr(arg, "get_globals"))
        new = replace(code, function.get_globals())
        if new is not code:
            # Arguments were bound for the function's own code; what only the new code's lambdas share has no cell yet.
            symbolic_locals = args[0] if args else kwargs["symbolic_locals"]
            added = [name for name in new.co_cellvars if name not in code.co_cellvars]
            init_cellvars(parent, symbolic_locals, code.replace(co_cellvars=tuple(added)))
        original(self, parent, new, *args, **kwargs)

    init._graphmend_replaces = True  # type: ignore[attr-defined]
    InliningInstructionTranslator.__init__ = init


# The file of frames made by `frame_that_calls`.
FRAME_FILE = "<graphmend>"
_HAS_FREE_VARIABLE_COPY = sys.version_info >= (3, 11)


def can_wrap_frame(code: CodeType) -> bool:
    """Whether `frame_that_calls` can stand in for this code."""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return False
    # Before 3.11 the interpreter moves such arguments into their cells before the first instruction.
    return _HAS_FREE_VARIABLE_COPY or not set(code.co_cellvars) & set(code.co_varnames)


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


@dataclass(frozen=True)
class GraphFacts:
    """What a graph does to its inputs: indices of mutated ones, which outputs are views of which mutated inputs."""

    mutated: tuple[int, ...]
    # Of these: changed where autograd does not look (`no_grad`), or behind its back (`.data`).
    unrecorded: frozenset[int]
    hidden: frozenset[int]
    # Mutations that copying back cannot redo (metadata: resize_, set_, transpose_).
    reshapes_inputs: bool
    aliased_outputs: bool
    random: bool


def _without_markers(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """A copy whose run delivers nothing."""
    bare = torch.fx.Graph()
    output = bare.graph_copy(graph.graph, {})
    bare.output(output)
    for node in reversed([node for node in bare.nodes if marker_name(node.target)]):
        bare.erase_node(node)
    made = torch.fx.GraphModule(graph, bare)
    finish_graph(made)
    return made


def graph_facts(graph: torch.fx.GraphModule) -> GraphFacts:
    """Runs the graph on fake tensors through AOTAutograd's own analysis; real tensors are not touched."""
    from torch._dispatch.python import enable_python_dispatcher
    from torch._functorch._aot_autograd.collect_metadata_analysis import run_functionalized_fw_and_collect_metadata
    from torch._functorch._aot_autograd.descriptors import PlainAOTInput
    from torch._functorch._aot_autograd.schemas import OutputType
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    random = False

    class Watch(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            nonlocal random
            random = random or torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
            return func(*args, **(kwargs or {}))

    graph = _without_markers(graph)
    traced = torch._guards.TracingContext.get().fake_mode
    fake = FakeTensorMode(shape_env=traced.shape_env if traced else None, allow_non_fake_inputs=True)
    inputs: list[Any] = []
    for node in graph.graph.nodes:
        if node.op != "placeholder":
            continue
        value = node.meta.get("example_value")
        # What is changed does not hang on numbers, but some operators want a positive one. A number that may change
        # comes as a tensor, of which the graph takes the item.
        if isinstance(value, torch.SymFloat):
            value = 0.5
        elif isinstance(value, torch.Tensor) and getattr(node.meta.get("grapharg"), "pass_arg_as_tensor", False):
            with fake:
                value = torch.tensor(0.5, dtype=value.dtype)
        elif isinstance(value, torch.Tensor):
            with fake:
                value = torch.empty_strided(
                    value.size(),
                    value.stride(),
                    dtype=value.dtype,
                    device=value.device,
                    requires_grad=value.requires_grad,
                )
        inputs.append(value)
    # Not `Interpreter.run`, whose progress bar settles how this process may start others.
    # Hooks on saved tensors belong to the real run.
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)
    with hooks, fake, enable_python_dispatcher(), Watch():
        metadata = run_functionalized_fw_and_collect_metadata(
            graph.forward,
            flat_args_descs=[PlainAOTInput(i) for i in range(len(inputs))],
            keep_input_mutations=True,
        )(*inputs)
    mutated = tuple(i for i, info in enumerate(metadata.input_info) if info.mutates_data)
    aliased = any(
        info.output_type == OutputType.alias_of_input and info.base_idx in mutated for info in metadata.output_info
    )
    infos = metadata.input_info
    return GraphFacts(
        mutated=mutated,
        unrecorded=frozenset(i for i in mutated if infos[i].mutations_under_no_grad_or_inference_mode),
        hidden=frozenset(i for i in mutated if infos[i].mutations_hidden_from_autograd),
        reshapes_inputs=any(info.mutates_metadata for info in metadata.input_info),
        aliased_outputs=aliased,
        random=random,
    )


_IN_PLACE_OPERATORS = {"setitem", *"iadd isub imul itruediv ifloordiv imod ipow iand ior ixor".split()}


def changes_in_place(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The operands that a node changes."""
    if not node.op.startswith("call"):
        return []
    changed: list[Any] = []
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    if (name.endswith("_") and not name.endswith("__")) or name in _IN_PLACE_OPERATORS or node.kwargs.get("inplace"):
        changed.append(node.args[0] if node.args else node.kwargs.get("input"))
    changed.append(node.kwargs.get("out"))
    schema = getattr(node.target, "_schema", None)
    if schema is not None:
        for argument, value in zip(schema.arguments, node.args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                changed.append(value)
    return [each for each in changed if isinstance(each, torch.fx.Node)]


def storage_of(node: Any) -> int | None:
    value = node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None

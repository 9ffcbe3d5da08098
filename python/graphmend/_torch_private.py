"""Everything that touches torch's private parts, and nothing else.

Each function says what it relies on. `require_torch` is the probe that runs before anything is mended: a torch whose
parts have moved gets a clear refusal, not a wrong program.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.eval_frame import OptimizedModule
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

SUPPORTED = ((2, 11), (2, 13))

Unsupported = torch._dynamo.exc.Unsupported

__all__ = ["GraphFacts", "OptimizedModule", "Place", "Unsupported"]


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
    for name in ("_TorchCompileWrapper", "_TorchCompileInductorWrapper"):
        if not hasattr(torch, name):
            raise TorchVersionError(f"torch {torch.__version__} has no {name}; graphmend cannot mend with it")


# The marker operators. `emit` carries an effect's values out of the graph, `check` a flag that must hold its
# predicted value. They are lifted out before a backend sees the graph; where one is not (a graph that is not ours),
# being effectful keeps compilers from dropping it.
_library = torch.library.Library("graphmend", "DEF")
_library.define("emit(str site, str spec, SymInt[] ints, Tensor[] values) -> ()")
_library.define("check(str site, Tensor flag) -> ()")


def register_markers(emit: Callable[..., None], check: Callable[..., None]) -> None:
    """Gives the marker operators their meaning outside of lifted graphs."""
    _library.impl("emit", emit, "CompositeExplicitAutograd")
    _library.impl("check", check, "CompositeExplicitAutograd")
    _library.impl("emit", lambda *_: None, "Meta")
    _library.impl("check", lambda *_: None, "Meta")
    for op in (EMIT, CHECK):
        _register_effectful_op(op, _EffectType.ORDERED)


EMIT = torch.ops.graphmend.emit.default
CHECK = torch.ops.graphmend.check.default


def is_marker(target: object) -> bool:
    return target in (EMIT, CHECK, torch.ops.graphmend.emit, torch.ops.graphmend.check)


def is_emit(target: object) -> bool:
    return target in (EMIT, torch.ops.graphmend.emit)


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


def in_higher_order_op() -> bool:
    """Whether the code being traced is the body of a higher-order operator (cond, checkpoint, vmap, …)."""
    output = InstructionTranslator.current_tx().output
    return output.current_tracer.parent is not None


def traced_stack() -> list[tuple[str, int, str]]:
    """File, line and function of the user's frames being traced, outermost first."""
    frames = []
    translator = InstructionTranslator.current_tx()
    while translator is not None:
        code = translator.f_code
        frames.append((code.co_filename, translator.lineno, code.co_name))
        translator = getattr(translator, "parent", None)
    return frames[::-1]


def inner_backend(backend: Any, mode: str | None, options: dict[str, Any] | None, dynamic: bool | None) -> Any:
    """The compiler that `torch.compile` would use for these arguments."""
    if backend == "inductor":
        return torch._TorchCompileInductorWrapper(mode or "default", options, dynamic)
    return torch._TorchCompileWrapper(backend, mode, options, dynamic)


@contextlib.contextmanager
def breaks_are_errors() -> Iterator[Callable[[], None]]:
    """A graph break raises `Unsupported` before anything has run. Call what is yielded to end that early."""
    context = torch._dynamo.error_on_graph_break(True)
    context.__enter__()
    ended = False

    def end() -> None:
        nonlocal ended
        if not ended:
            ended = True
            context.__exit__(None, None, None)

    try:
        yield end
    finally:
        end()


@dataclass(frozen=True)
class Place:
    """Where and why Dynamo broke."""

    file: str
    line: int
    function: str
    gb_type: str
    message: str


def break_place(error: BaseException) -> Place | None:
    stack = getattr(error, "real_stack", None)
    if not stack:
        return None
    frame = stack[-1]
    message = str(error)
    gb_type = getattr(error, "gb_type", None) or message.split("\n")[0]
    return Place(frame.filename, frame.lineno or 0, frame.name, gb_type, message)


def forget_code(code: Any) -> None:
    """Drops what Dynamo compiled for this code object, and for nothing else."""
    torch._dynamo.eval_frame.reset_code(code)


@dataclass(frozen=True)
class GraphFacts:
    """What a graph does to its inputs: indices of mutated ones, which outputs are views of which mutated inputs."""

    mutated: tuple[int, ...]
    # Mutations that copying back cannot redo (metadata: resize_, set_, transpose_).
    reshapes_inputs: bool
    aliased_outputs: bool
    random: bool


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

    traced = torch._guards.TracingContext.get().fake_mode
    fake = FakeTensorMode(shape_env=traced.shape_env if traced else None, allow_non_fake_inputs=True)
    inputs: list[Any] = []
    for node in graph.graph.nodes:
        if node.op != "placeholder":
            continue
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor):
            with fake:
                value = torch.empty_strided(
                    value.size(),
                    value.stride(),
                    dtype=value.dtype,
                    device=value.device,
                    requires_grad=value.requires_grad,
                )
        inputs.append(value)
    interpreter = torch.fx.Interpreter(graph)
    with fake, enable_python_dispatcher(), Watch():
        metadata = run_functionalized_fw_and_collect_metadata(
            lambda *args: interpreter.run(*args, enable_io_processing=False),
            flat_args_descs=[PlainAOTInput(i) for i in range(len(inputs))],
            keep_input_mutations=True,
        )(*inputs)
    mutated = tuple(i for i, info in enumerate(metadata.input_info) if info.mutates_data)
    aliased = any(
        info.output_type == OutputType.alias_of_input and info.base_idx in mutated for info in metadata.output_info
    )
    return GraphFacts(
        mutated=mutated,
        reshapes_inputs=any(info.mutates_metadata for info in metadata.input_info),
        aliased_outputs=aliased,
        random=random,
    )

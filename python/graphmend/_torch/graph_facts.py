"""What a graph does to its inputs and draws: AOTAutograd's own analysis, on fake tensors."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd import grad_mode

from graphmend._torch.graphs import every_node, functions_of, is_number_given, may_draw, storage_of
from graphmend._torch.markers import marker_name
from graphmend._torch.modes import Modes, leave_dual_levels, saved_tensors_have_hooks
from graphmend._torch.only_computes import only_computes


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
    # Nodes that draw random numbers.
    draws: tuple[torch.fx.Node, ...]
    # Others that may: by a function that an operator is given, and runs out of sight.
    draws_unseen: bool


class _Steps:
    """Runs a graph, but for its markers, and says at which of its nodes it is."""

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        self.nodes = [node for node in graph.graph.nodes if not marker_name(node.target)]
        self.interpreter = torch.fx.Interpreter(graph, garbage_collect_values=False)
        self.at: torch.fx.Node | None = None

    def __call__(self, *inputs: Any) -> Any:
        # Not `Interpreter.run`, whose progress bar settles how this process may start others.
        self.interpreter.args_iter = iter(inputs)
        values = self.interpreter.env
        for node in self.nodes:
            self.at = node
            # In inference mode functionalization refuses views of inputs. What counts here is that nothing is recorded.
            if node.target is grad_mode._enter_inference_mode:
                values[node] = torch.is_grad_enabled()
                torch.set_grad_enabled(not node.args[0])
            elif node.target is grad_mode._exit_inference_mode:
                torch.set_grad_enabled(values[node.args[0]])
            else:
                values[node] = self.interpreter.run_node(node)
        return values.pop(self.nodes[-1])


_NOTHING = GraphFacts(
    (), frozenset(), frozenset(), reshapes_inputs=False, aliased_outputs=False, draws=(), draws_unseen=False
)


def graph_facts(graph: torch.fx.GraphModule) -> GraphFacts:
    """What a graph does, told by what it calls if that is enough."""
    return _NOTHING if only_computes(graph) else analysed(graph)


def analysed(graph: torch.fx.GraphModule) -> GraphFacts:
    """Runs the graph on fake tensors through AOTAutograd's own analysis; real tensors are not touched."""
    from torch._dispatch.python import enable_python_dispatcher
    from torch._functorch._aot_autograd.collect_metadata_analysis import run_functionalized_fw_and_collect_metadata
    from torch._functorch._aot_autograd.descriptors import PlainAOTInput
    from torch._functorch._aot_autograd.schemas import OutputType
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    steps = _Steps(graph)
    # In their order, each once.
    draws: dict[torch.fx.Node | None, None] = {}
    unseen: list[torch.fx.Node] = []

    class Watch(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
        # Operators on functions, `flex_attention` say, and kernels of Triton's come by as well.
        supports_higher_order_operators = True

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            if torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()) and not _drops_nothing(
                func, args, kwargs
            ):
                draws[steps.at] = None
            # What its functions do does not come by.
            if isinstance(func, torch._ops.HigherOrderOperator) and steps.at:
                unseen.append(steps.at)
            return func(*args, **(kwargs or {}))

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
        elif is_number_given(node):
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
    # Hooks on saved tensors belong to the real run. Where there are none, functorch's gradients want none.
    hooks: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if saved_tensors_have_hooks():
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)
    # Operators on functions look there for the mode that they are in.
    tracing = torch._guards.tracing(torch._guards.TracingContext(fake))
    modes = Modes()
    try:
        with hooks, tracing, fake, enable_python_dispatcher(), Watch():
            metadata = run_functionalized_fw_and_collect_metadata(
                steps,
                flat_args_descs=[PlainAOTInput(i) for i in range(len(inputs))],
                keep_input_mutations=True,
            )(*inputs)
    except Exception as error:
        modes.restore(error)
        raise
    finally:
        modes.restore()
        leave_dual_levels(graph)
    mutated = tuple(i for i, info in enumerate(metadata.input_info) if info.mutates_data)
    infos = metadata.input_info
    placeholders = list(graph.graph.find_nodes(op="placeholder"))
    changed = {storage_of(placeholders[i]) for i in mutated}
    (outputs,) = next(iter(graph.graph.find_nodes(op="output"))).args
    aliased = any(
        (info.output_type == OutputType.alias_of_input and info.base_idx in mutated)
        # Of several views that one operation makes with a history, AOTAutograd hides that they are views.
        or (info.output_type == OutputType.non_alias and storage_of(node) in changed)
        for node, info in zip(outputs, metadata.output_info, strict=False)
    )
    return GraphFacts(
        mutated=mutated,
        unrecorded=frozenset(i for i in mutated if infos[i].mutations_under_no_grad_or_inference_mode),
        hidden=frozenset(i for i in mutated if infos[i].mutations_hidden_from_autograd),
        reshapes_inputs=any(info.mutates_metadata for info in metadata.input_info),
        aliased_outputs=aliased,
        draws=tuple(node for node in draws if node is not None),
        draws_unseen=any(map(_draws_inside, unseen)),
    )


def _drops_nothing(operator: Any, args: Sequence[Any], kwargs: dict[str, Any] | None) -> bool:
    """Whether it is one that draws for dropout alone, attention say, and is to drop nothing."""
    schema = getattr(operator, "_schema", None)
    for place, argument in enumerate(schema.arguments if schema else ()):
        if argument.name == "dropout_p":
            given = args[place] if place < len(args) else (kwargs or {}).get("dropout_p", argument.default_value)
            return isinstance(given, (int, float)) and given == 0
    return False


def _draws_inside(node: torch.fx.Node) -> bool:
    """Whether a function that an operator is given may draw random numbers."""
    inner = [each for body in functions_of(node) for each in every_node(body)]
    return any(may_draw(each) for each in inner if not isinstance(each.target, torch._ops.HigherOrderOperator))

"""Whether a graph only computes: changes nothing that it is given, and draws no random numbers.

In: a traced graph. Out: True where names and schemas of what it calls say so; False where it would take an analysis to
tell (`graph_facts`), which runs all of the graph on fake tensors and is a good part of what a compilation costs.
"""

import functools
from typing import Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensor

from graphmend._torch.graphs import changes_in_place, functions_of, is_torch_function, name_of, storage_of
from graphmend._torch.markers import marker_name

# What says nothing in its schema of what it does: statistics, shapes, files, gradients.
_NOT_TOLD = frozenset("backward data from_file grad resize resize_as retain_grad set_data".split())
_STATISTICS = (
    "batch_norm",
    "instance_norm",
    "fake_quant",
    "observe",
    "fractional",
    "rnn",
    "miopen",
    "cudnn",
    "quantized",
)
# Methods that have no operator of their name, or share it with one on lists.
_PURE_METHODS = frozenset("bfloat16 bool byte char double float half int long short sort type".split())
_ATTRIBUTES = frozenset("H T device dtype imag mH mT ndim real shape".split())
# These change shape, memory or history, and not only numbers.
_MORE_THAN_NUMBERS = frozenset(
    "as_strided_ detach_ requires_grad_ resize_ resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
    " rename_ coalesce_ share_memory_ apply_ map_ map2_ sparse_resize_ sparse_resize_and_clear_".split()
)
_DROPOUTS = frozenset("alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout".split())
_F = torch.nn.functional
# Functions whose operators have other names.
_KNOWN = frozenset(
    [
        _F.adaptive_max_pool1d,
        _F.adaptive_max_pool2d,
        _F.cross_entropy,
        _F.interpolate,
        _F.max_pool1d,
        _F.max_pool2d,
        _F.max_pool3d,
        _F.nll_loss,
        _F.normalize,
        torch._C._set_grad_enabled,
        torch.amp.autocast_mode._enter_autocast,
        torch.amp.autocast_mode._exit_autocast,
        torch.sym_float,
        torch.sym_int,
        torch.sym_ite,
        torch.sym_max,
        torch.sym_min,
        torch.sym_not,
        torch.sym_sum,
        torch.ops.aten._assert_scalar.default,
    ]
)


def only_computes(graph: torch.fx.GraphModule) -> bool:
    """Whether a graph surely changes none of its inputs and draws nothing."""
    nodes = list(graph.graph.nodes)
    given = [node for node in nodes if node.op in ("placeholder", "get_attr")]
    memories = {storage_of(node) for node in given if isinstance(_value(node), torch.Tensor)}
    # What a tensor of another class does when it is computed with is its own.
    is_plain = all(isinstance(_value(node), FakeTensor) for node in nodes if isinstance(_value(node), torch.Tensor))
    return is_plain and all(_is_harmless(node, memories) for node in nodes)


def _value(node: torch.fx.Node) -> Any:
    return node.meta.get("example_value")


def _is_harmless(node: torch.fx.Node, given: set[int | None]) -> bool:
    if not node.op.startswith("call") or marker_name(node.target):
        return True
    if node.op == "call_module" or functions_of(node) or isinstance(node.target, torch._ops.HigherOrderOperator):
        return False
    # What was made on the way may be changed.
    changed = {storage_of(each) for each in changes_in_place(node)}
    if changed & (given | {None}) or (changed and name_of(node) in _MORE_THAN_NUMBERS):
        return False
    if node.target is getattr:
        return node.args[1] in _ATTRIBUTES
    if node.target in _KNOWN:
        return True
    if isinstance(node.target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        space = str(node.target).partition(".")[0]
        return space == "graphmend" or (space == "aten" and _is_pure(name_of(node).partition(".")[0]))
    if node.op == "call_function" and not is_torch_function(node.target):
        return False
    if getattr(node.target, "__module__", None) in ("_operator", "math"):
        return True
    # A norm that is to be kept is put right in place.
    if node.target in (_F.embedding, _F.embedding_bag) and _operand(node, "max_norm", at=3) is not None:
        return False
    return _is_off(node) or _is_pure(name_of(node))


def _is_off(node: torch.fx.Node) -> bool:
    """Whether it is one of those that draw or keep statistics only in training, and is told that it is none."""
    name = name_of(node)
    if name in _DROPOUTS:
        return _operand(node, "training", "train", at=2) is False
    if name == "scaled_dot_product_attention":
        dropped = _operand(node, "dropout_p", at=4)
        return dropped is None or (isinstance(dropped, int | float) and dropped == 0)
    return node.target is _F.batch_norm and _operand(node, "training", at=5) is False


def _operand(node: torch.fx.Node, *names: str, at: int) -> Any:
    named = [node.kwargs[name] for name in names if name in node.kwargs]
    return named[0] if named else node.args[at] if at < len(node.args) else None


@functools.lru_cache(maxsize=4096)
def _is_pure(name: str) -> bool:
    """Whether an operator, by all its overloads, changes nothing but what its name says, and draws nothing."""
    if name.startswith("_") or name in _NOT_TOLD or any(part in name for part in _STATISTICS):
        return False
    if name in _PURE_METHODS:
        return True
    packet = getattr(torch.ops.aten, name, None)
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return False
    overloads = [getattr(packet, each) for each in packet.overloads()]
    return not any(
        torch.Tag.nondeterministic_seeded in each.tags or _changes_unsaid(name, each._schema) for each in overloads
    )


def _changes_unsaid(name: str, schema: Any) -> bool:
    """Whether it changes what neither its name nor an argument named `out` says."""
    written = [
        i
        for i, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write and not argument.kwarg_only
    ]
    return written not in ([], [0]) or (written == [0] and not name.endswith("_"))

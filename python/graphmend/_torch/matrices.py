"""Operators that refuse a matrix by its values. In: a graph. Out: whether this torch would lose the refusal."""

import functools

import torch
import torch.fx

from graphmend._torch.graphs import name_of


@functools.cache
def _checks_of_matrices_stay() -> bool:
    """Whether backends keep what looks whether a matrix could be inverted, decomposed and so on. Before torch 2.12 they
    take it for something that nothing comes of."""
    graph = torch.fx.Graph()
    return bool(graph.call_function(torch.ops.aten._linalg_check_errors.default).is_impure())


def loses_checks_of_matrices(graph: torch.fx.GraphModule) -> bool:
    """Whether something that raises in eager, of a matrix that it cannot do, would give numbers instead."""
    return not _checks_of_matrices_stay() and any(map(_may_refuse_matrix, graph.graph.nodes))


_TAKE_ANY_MATRIX = frozenset(
    f"linalg_{name}"
    for name in "cross det diagonal householder_product matmul matrix_norm multi_dot norm qr slogdet vander vecdot "
    "vector_norm".split()
)


def _may_refuse_matrix(node: torch.fx.Node) -> bool:
    if not node.op.startswith("call"):
        return False
    name = name_of(node)
    is_known = name in _TAKE_ANY_MATRIX or name.endswith("_ex")
    return name in ("inverse", "matrix_power", "pinverse") or (name.startswith("linalg_") and not is_known)

"""`is` and `is not` of what stands for more than one object while it is traced."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch._dynamo.symbolic_convert import compare_op_handlers
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.markers import marker_name
from graphmend._torch.tracing import is_ours


@contextlib.contextmanager
def identities_known(decline: Callable[[str, str], Any]) -> Iterator[None]:
    """Inside, a bool that was read from a tensor is one of the two that there are; and where the sides of a branch were
    joined, which of their tensors it is would show: `decline` gets the site of that, and does not return."""
    originals = {name: compare_op_handlers[name] for name in ("is", "is not")}
    compare_op_handlers.update({name: _asking(original, decline) for name, original in originals.items()})
    try:
        yield
    finally:
        compare_op_handlers.update(originals)


def _asking(original: Any, decline: Callable[[str, str], Any]) -> Any:
    def compare(tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if is_ours(tx.f_code.co_filename):
            return original(tx, args, kwargs)
        one, other = (each.realize() for each in args)
        if isinstance(one, TensorVariable) and isinstance(other, TensorVariable):
            for tensor in (one, other):
                site = _joined_at(tensor)
                if site is not None and one is not other:
                    decline(site, "which side's tensor it is shows in an `is`")
        return original(tx, [_truth(tx, one, other), _truth(tx, other, one)], kwargs)

    return compare


def _joined_at(tensor: Any) -> str | None:
    """The branch whose sides a tensor was joined from."""
    node = tensor.as_proxy().node
    for user in node.users:
        if marker_name(user.target) == "joined" and user.args[1] is node:
            return str(user.args[0])
    return None


def _truth(tx: Any, value: Any, other: Any) -> Any:
    """A bool as the one that it is, unless it is compared with what is none."""
    is_bool = isinstance(value, SymNodeVariable) and value.python_type() is bool
    if not is_bool or not free_unbacked_symbols(value.sym_num):
        return value
    asks = isinstance(other, SymNodeVariable) or (isinstance(other, ConstantVariable) and other.value is not None)
    return ConstantVariable.create(value.evaluate_expr(tx.output)) if asks else value

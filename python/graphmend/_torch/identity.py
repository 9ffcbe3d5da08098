"""Questions that tell which object it is, of what stands for more than one while it is traced."""

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.symbolic_convert import compare_op_handlers
from torch._dynamo.variables import BuiltinVariable, ConstantVariable, SymNodeVariable, TensorVariable
from torch._dynamo.variables.lists import BaseListVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.exact import as_constant, type_of_number
from graphmend._torch.markers import marker_name
from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import is_ours

# What two tensors of the same values may differ in, and what reaches the tensor itself.
_NAMES = frozenset(
    """__array__ __dict__ _backward_hooks _base _cdata _is_view _version data_ptr grad grad_fn is_conj is_inference
    is_leaf is_neg is_pinned is_set_to is_shared numpy output_nr register_hook register_post_accumulate_grad_hook
    resize_ retain_grad retains_grad set_ share_memory_ storage storage_offset untyped_storage""".split()
)

_TEXTS = (str, repr, format, str.format, operator.mod)

# Of these Python has one object each.
_KEPT = range(-5, 257)

Decline = Callable[[str, str], Any]
Leave = Callable[[str], None]


@contextlib.contextmanager
def identities_known(decline: Decline, leave: Leave) -> Iterator[None]:
    """Inside, a bool that was read from a tensor is one of the two that there are; and where the sides of a branch were
    joined, and which of their tensors it is would show, `decline` gets the site of that, and does not return. Where two
    numbers that may change are equal, and may be one object, `leave` gets a reason why nothing is to be mended."""
    originals = {name: compare_op_handlers[name] for name in ("is", "is not")}
    compare_op_handlers.update(
        {name: _compared(original, name == "is", decline, leave) for name, original in originals.items()}
    )
    # Its name before torch 2.12 is the other.
    hashed = "hash_impl" if hasattr(TensorVariable, "hash_impl") else "get_python_hash"
    try:
        with replaced(
            (TensorVariable, hashed, lambda original: _hashed(original, decline)),
            (SideEffects, "store_attr", lambda original: _kept(original, decline)),
            (BuiltinVariable, "call_function", lambda original: _in_builtins(original, decline)),
            (TorchInGraphFunctionVariable, "call_function", lambda original: _in_gradients(original, decline)),
            *(
                (TensorVariable, name, lambda original: _by_name(original, decline))
                for name in ("var_getattr", "call_method", "call_obj_hasattr")
            ),
        ):
            yield
    finally:
        compare_op_handlers.update(originals)


def _compared(original: Any, says: bool, decline: Decline, leave: Leave) -> Any:
    def compare(tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if is_ours(tx.f_code.co_filename):
            return original(tx, args, kwargs)
        one, other = (each.realize() for each in args)
        if isinstance(one, TensorVariable) and isinstance(other, TensorVariable) and one is not other:
            _ask(one, "an `is`", decline)
            _ask(other, "an `is`", decline)
        is_number = isinstance(one, SymNodeVariable) or isinstance(other, SymNodeVariable)
        if is_number and type_of_number(one) is type_of_number(other):
            return ConstantVariable.create(_is_one_number(tx, one, other, leave) == says)
        return original(tx, [_truth(tx, one, other), _truth(tx, other, one)], kwargs)

    return compare


def _is_one_number(tx: Any, one: Any, other: Any, leave: Leave) -> bool:
    if one is other:
        return True
    known = [as_constant(tx, each).as_python_constant() for each in (one, other)]
    if repr(known[0]) != repr(known[1]):
        return False
    if not isinstance(known[0], float) and known[0] in _KEPT:
        return True
    leave("whether two numbers that may change are one object hangs on how they came about")
    return False


def _hashed(original: Any, decline: Decline) -> Any:
    def hash_of(self: Any, *more: Any) -> Any:
        _ask(self, "a key, or in a set", decline)
        return original(self, *more)

    return hash_of


def _kept(original: Any, decline: Decline) -> Any:
    def store_attr(self: Any, item: Any, name: str, *more: Any, **options: Any) -> Any:
        _ask(item, f"`{name}`, which is set", decline)
        return original(self, item, name, *more, **options)

    return store_attr


def _in_builtins(original: Any, decline: Decline) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if self.fn is id and args:
            _ask(args[0], "its `id`", decline)
        if self.fn in _TEXTS:
            for each in (*args, *kwargs.values()):
                given = each.realize()
                # A text of a tensor that has a history names what made it.
                if isinstance(given, TensorVariable) and given.requires_grad:
                    _ask(given, "a text", decline)
        return original(self, tx, args, kwargs)

    return call_function


def _in_gradients(original: Any, decline: Decline) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if self.value is torch.autograd.grad or self.value is torch.autograd.backward:
            for each in [*args[1:], *kwargs.values()]:
                given = each.realize()
                for tensor in given.items if isinstance(given, BaseListVariable) else [given]:
                    _ask(tensor, "a gradient that is asked for", decline)
        return original(self, tx, args, kwargs)

    return call_function


def _by_name(original: Any, decline: Decline) -> Any:
    def ask(self: Any, tx: Any, name: str, *more: Any, **options: Any) -> Any:
        if (name in _NAMES or not hasattr(torch.Tensor, name)) and not is_ours(tx.f_code.co_filename):
            _ask(self, f"`{name}`", decline)
        return original(self, tx, name, *more, **options)

    return ask


def _ask(variable: Any, where: str, decline: Decline) -> None:
    """Which tensor a variable stands for is to be known."""
    tensor = variable.realize() if variable.is_realized() else variable
    site = _joined_at(tensor) if isinstance(tensor, TensorVariable) else None
    if site is not None:
        decline(site, f"which side's tensor it is shows in {where}")


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

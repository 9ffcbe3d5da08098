"""What changes of a tensor of which Dynamo has several variables: each operation in place makes one more, and so does
each that gives back what it was given.

In: traces. Out: the same, where what is set or changed through one variable is found through all, and reaches the
tensor.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import TensorVariable

from graphmend._torch.replaced import replaced


def changes_shared() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (SideEffects, "store_attr", lambda original: _of_one(original, _changed_or_first)),
        *(
            (SideEffects, name, lambda original: _of_one(original, _changed))
            for name in ("load_attr", "has_pending_mutation", "has_pending_mutation_of_attr")
        ),
        *((TensorVariable, name, _up_to_date) for name in ("var_getattr", "call_method", "unpack_var_sequence")),
        (TensorVariable, "var_getattr", _with_gradient),
    )


def _of_one(original: Any, chosen: Callable[[SideEffects, Any], Any]) -> Any:
    def asked(self: Any, item: Any, *more: Any, **options: Any) -> Any:
        one = chosen(self, item) if isinstance(item, TensorVariable) else None
        return original(self, item if one is None else one, *more, **options)

    return asked


def _changed(effects: SideEffects, item: Any) -> Any:
    """The variable of the same tensor by which attributes were set already."""
    return _of_same_tensor(effects.store_attr_mutations, item)


def _changed_or_first(effects: SideEffects, item: Any) -> Any:
    changed = _changed(effects, item)
    return changed if changed is not None else _of_same_tensor(effects.id_to_variable.values(), item)


def _of_same_tensor(variables: Iterable[Any], item: Any) -> Any:
    tensor = _stand_in(item)
    same = (each for each in variables if isinstance(each, TensorVariable) and _stand_in(each) is tensor)
    return next(same, None) if tensor is not None else None


def _stand_in(variable: Any) -> Any:
    return variable.as_proxy().node.meta.get("example_value")


def _up_to_date(original: Any) -> Any:
    def asked(self: Any, tx: Any, *more: Any, **options: Any) -> Any:
        if type(self) is TensorVariable and _is_stale(self):
            # Sizes that are not known any more are not among what is set.
            self._size = self.stride = self.is_contiguous = None
            self.synchronize_attributes(tx)
        return original(self, tx, *more, **options)

    return asked


def _is_stale(variable: Any) -> bool:
    """Whether what a variable knows of its tensor is how it was before a change in place, by whichever name."""
    tensor = _stand_in(variable)
    if not isinstance(tensor, torch.Tensor):
        return False
    if variable.requires_grad != tensor.requires_grad or variable.ndim != tensor.dim():
        return True
    if variable._size is None:
        return False
    sizes = (*tensor.shape, *tensor.stride())
    is_known = all(type(size) is int for size in sizes)
    return not is_known or sizes != (*variable._size, *variable.stride)


def _with_gradient(original: Any) -> Any:
    def var_getattr(self: Any, tx: Any, name: str) -> Any:
        first = None
        if name == "grad" and self.source is None:
            first = _of_same_tensor(tx.output.side_effects.id_to_variable.values(), self)
        return original(self if first is None else first, tx, name)

    return var_getattr

"""Attributes that a program sets on a tensor of which Dynamo has several variables: one for each operation in place.

In: traces. Out: the same, where what was set through one of them is found through all, and reaches the tensor.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import TensorVariable

from graphmend._torch.replaced import replaced


def attributes_shared() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (SideEffects, "store_attr", lambda original: _of_one(original, _changed_or_first)),
        *(
            (SideEffects, name, lambda original: _of_one(original, _changed))
            for name in ("load_attr", "has_pending_mutation", "has_pending_mutation_of_attr")
        ),
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

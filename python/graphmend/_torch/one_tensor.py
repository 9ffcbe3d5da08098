"""What changes of a tensor of which Dynamo has several variables: each operation in place makes one more, and so does
each that gives back what it was given.

In: traces. Out: the same, where what is set or changed through one variable is found through all, and reaches the
tensor.
"""

import contextlib
from typing import Any

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import TensorVariable, builtin
from torch._dynamo.variables.base import AttributeMutationNew

from graphmend._torch.attributes import NOT_OF_STAND_INS
from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import stand_in

_OWN = NOT_OF_STAND_INS | {"grad"}
# What Dynamo does where an attribute is set; each version of torch has one of them.
_SETTERS = [
    (owner, name)
    for owner in vars(builtin).values()
    if isinstance(owner, type)
    for name in ("_call_setattr", "call_setattr")
    if name in vars(owner)
]


def changes_shared() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (SideEffects, "store_attr", _stored_for_all),
        (SideEffects, "_track_obj", _tracked_with_others),
        *((TensorVariable, name, _up_to_date) for name in ("var_getattr", "call_method", "unpack_var_sequence")),
        *((TensorVariable, name, _as_given) for name in ("var_getattr", "call_obj_hasattr")),
        (TensorVariable, "_method_register_hook", _hooked_as_given),
        *((owner, name, _without_own_data) for owner, name in _SETTERS),
    )


def _stored_for_all(original: Any) -> Any:
    def store_attr(self: Any, item: Any, *more: Any, **options: Any) -> Any:
        same = _of_same_tensor(self, item) if isinstance(item, TensorVariable) else []
        # What is set on an input is set where that came from.
        item = next((each for each in same if each.source is not None), item)
        result = original(self, item, *more, **options)
        for each in same:
            _share(self, item, each)
        return result

    return store_attr


def _tracked_with_others(original: Any) -> Any:
    def track_obj(self: Any, given: Any, variable: Any, *more: Any, **options: Any) -> Any:
        result = original(self, given, variable, *more, **options)
        if isinstance(variable, TensorVariable):
            same = _of_same_tensor(self, variable)
            for each in [each for each in same if each in self.store_attr_mutations][:1]:
                _share(self, each, variable)
            if all(each is not variable for each in same):
                _known(self).setdefault(id(stand_in(variable)), []).append(variable)
        return result

    return track_obj


def _share(effects: Any, one: Any, other: Any) -> None:
    """What was set by one variable is set by the other: of those that are left in the end, each can write it."""
    if other.source is None and not isinstance(other.mutation_type, AttributeMutationNew):
        # One that was made inside of an operator like `cond`: nobody has it.
        return
    effects.store_attr_mutations[other] = effects.store_attr_mutations[one]
    # Not before torch 2.13.
    kinds = getattr(effects, "attr_mutation_kinds", {})
    if one in kinds:
        kinds[other] = kinds[one]


def _of_same_tensor(effects: Any, item: Any) -> list[Any]:
    tensor = stand_in(item)
    return [each for each in _known(effects).get(id(tensor), []) if stand_in(each) is tensor is not None]


def _known(effects: Any) -> dict[int, list[Any]]:
    """The variables of tensors by what stands for them, which is kept with what they are tracked by, for its copies
    not to have it."""
    known: dict[int, list[Any]] | None = vars(effects).get("_graphmend_known")
    if known is None:
        known = effects._graphmend_known = {}
        for each in effects.id_to_variable.values():
            if isinstance(each, TensorVariable):
                known.setdefault(id(stand_in(each)), []).append(each)
    return known


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
    tensor = stand_in(variable)
    if not isinstance(tensor, torch.Tensor):
        return False
    if variable.requires_grad != tensor.requires_grad or variable.ndim != tensor.dim():
        return True
    if variable._size is None:
        return False
    sizes = (*tensor.shape, *tensor.stride())
    is_known = all(type(size) is int for size in sizes)
    return not is_known or sizes != (*variable._size, *variable.stride)


def _as_given(original: Any) -> Any:
    def asked(self: Any, tx: Any, name: str) -> Any:
        # What an input has of its own is known of the variable that it came by.
        is_own = name in _OWN or not hasattr(torch.Tensor, name)
        return original(as_given(tx, self) if is_own else self, tx, name)

    return asked


def as_given(tx: Any, variable: Any) -> Any:
    """The variable that an input came by, if this is another of the same tensor."""
    same = []
    if variable.source is None and isinstance(variable, TensorVariable):
        same = _of_same_tensor(tx.output.side_effects, variable)
    return next((each for each in same if each.source is not None), variable)


def _hooked_as_given(original: Any) -> Any:
    def register_hook(self: Any, tx: Any, *more: Any, **options: Any) -> Any:
        # On an input it is put when the graph has run, in which it would be left behind by what raises later.
        return original(as_given(tx, self), tx, *more, **options)

    return register_hook


def _without_own_data(original: Any) -> Any:
    """`module.to(dtype)` gives each parameter the data that it has, where nothing is to be converted."""

    def call_setattr(self: Any, tx: Any, owner: Any, name: Any, value: Any) -> Any:
        if name.is_python_constant() and name.as_python_constant() == "data":
            variables = owner.realize(), value.realize()
            if all(isinstance(each, TensorVariable) for each in variables):
                one, other = map(stand_in, variables)
                if one is other is not None:
                    return value
        return original(self, tx, owner, name, value)

    return call_setattr

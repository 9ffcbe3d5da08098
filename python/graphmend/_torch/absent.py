"""What a program finds missing: Dynamo goes on as if that could never be there, and what it deletes as if it always had
been, or never.

In: traces. Out: the same, compiled for objects that have, of the names that were looked for in vain, asked for or
deleted, those that they had.
"""

import collections
import contextlib
import functools
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType
from typing import Any

import torch
from torch._dynamo.exc import ObservedAttributeError, ObservedKeyError
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ConstDictVariable,
    DeletedVariable,
    PythonModuleVariable,
    SetVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    builtin,
    dicts,
)
from torch._dynamo.variables.base import AttributeMutationNew

from graphmend._torch.classes import leave_if_changed
from graphmend._torch.one_tensor import as_given
from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced
from graphmend._torch.texts import raise_as_python
from graphmend._torch.tracing import holds_as_it_is

# Before torch 2.13, one variable stands for all builtins, and none for what an object's `__dict__` has.
_GETATTR: Any = getattr(builtin, "GetAttrBuiltinVariable", builtin.BuiltinVariable)
_OWN: Any = getattr(dicts, "SideEffectsProxyDict", None)
_OWN_DICT: Any = getattr(dicts, "DunderDictVariable", None)

_PLAIN_DICTS = (dict, collections.OrderedDict, collections.defaultdict)
_HOLDERS = (BaseListVariable, ConstDictVariable, SetVariable)
_WITHOUT_NAMES = frozenset(
    [bool, bytes, complex, dict, float, frozenset, int, list, range, set, slice, str, torch.Size, tuple, type(None)]
)
_OF_MODULES = torch.nn.Module.__getattr__
_NOTHING = object()
_TABLES = ("_parameters", "_buffers", "_modules")


def absence_guarded() -> contextlib.AbstractContextManager[None]:
    asked = (UserFunctionVariable, PythonModuleVariable, UserDefinedClassVariable)
    parts: list[tuple[Any, str, Callable[[Any], Any]]] = [
        (_GETATTR, "call_function", _read),
        *((kind, "call_obj_hasattr", _asked) for kind in asked),
        (SideEffects, "store_attr", _deleted),
        (ConstDictVariable, "getitem_const_raise_exception_if_absent", _read_by_key),
        (GuardBuilder, "requires_key_order_guarding", _in_order),
    ]
    if _OWN is not None:
        parts += [(_OWN, "__contains__", _looked_for), (_OWN, "__iter__", _listed)]
        parts += [(_OWN_DICT, "install_dict_contains_guard", _contained)]
    return replaced(*parts)


def _read(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        is_named = self.as_python_constant() is getattr and len(args) > 1 and args[1].is_python_constant()
        name = args[1].as_python_constant() if is_named else None
        if not isinstance(name, str):
            return original(self, tx, args, kwargs)
        asked = args[0].realize()
        if name == "__dict__" and isinstance(asked, UserDefinedClassVariable):
            # Dynamo does not hear of a break that is met further inside.
            leave_if_changed(tx, asked.value)
        if len(args) == 2 and _lacks(asked, name):
            # Dynamo raises it with another text, or where the value is wanted.
            kind = "torch.Size" if asked.python_type() is torch.Size else asked.python_type().__name__
            raise_as_python(AttributeError, tx, f"'{kind}' object has no attribute '{name}'")
        try:
            result = original(self, tx, args, kwargs)
        except ObservedAttributeError:
            _holds(as_given(tx, asked), name)
            raise
        _holds_while_asked(asked, name)
        return result

    return call_function


def _lacks(variable: Any, name: str) -> bool:
    """Whether this is an object of a type whose objects have no names of their own, and it has none like this."""
    if isinstance(variable, ConstantVariable):
        return type(variable.value) in _WITHOUT_NAMES and not hasattr(variable.value, name)
    is_known = isinstance(variable, _HOLDERS) and variable.python_type() in _WITHOUT_NAMES
    return is_known and not hasattr(variable.python_type(), name)


def _holds_while_asked(variable: Any, name: str) -> None:
    """What is being compiled holds as long as code of the program's is asked for a name, which may put it there."""
    if not isinstance(variable, UserDefinedObjectVariable) or variable.source is None:
        return
    is_asked = getattr(type(variable.value), "__getattr__", _OF_MODULES) is not _OF_MODULES
    if is_asked and hasattr(variable.value, "__dict__") and not any(_places(variable.value, name)):
        guard = functools.partial(GuardBuilder.NOT_PRESENT_IN_GENERIC_DICT, attr=name)
        install_guard(variable.source.make_guard(guard))


def _asked(original: Any) -> Any:
    def call_obj_hasattr(self: Any, tx: Any, name: str) -> Any:
        effects = tx.output.side_effects
        if effects.has_pending_mutation_of_attr(self, name):
            # Breaks the graph for what was deleted.
            effects.load_attr(self, name)
            return ConstantVariable.create(True)
        if not isinstance(self, UserDefinedClassVariable):
            # Of classes Dynamo guards on it.
            _holds(self, name)
        return original(self, tx, name)

    return call_obj_hasattr


def _deleted(original: Any) -> Any:
    def store_attr(self: Any, item: Any, name: str, value: Any, *more: Any, **options: Any) -> Any:
        before = self.store_attr_mutations.get(item, {}).get(name)
        if isinstance(value, DeletedVariable):
            if before is not None and _lacks_its_own(item, name):
                leave_to_python("A name is deleted that was set", name, "Dynamo deletes it where it is not.")
            _holds(item, name)
        elif isinstance(before, DeletedVariable):
            leave_to_python("A name is set that was deleted", name, "Dynamo leaves it among others where it was.")
        return original(self, item, name, value, *more, **options)

    return store_attr


def _lacks_its_own(variable: Any, name: str) -> bool:
    """Whether this is an object of the program's that has no such name before the graph."""
    is_made = isinstance(variable.mutation_type, AttributeMutationNew)
    return not is_made and name not in getattr(getattr(variable, "value", None), "__dict__", (name,))


def _read_by_key(original: Any) -> Any:
    def read(self: Any, tx: Any, key: Any) -> Any:
        try:
            return original(self, tx, key)
        except ObservedKeyError:
            self.install_dict_contains_guard(tx, [key])
            raise

    return read


def _in_order(original: Any) -> Any:
    """Guards that keep the keys of a dict in order pass over all else that there is of an empty one."""

    def asked(self: Any, source: Any) -> Any:
        return original(self, source) and not _is_bare(self.get(source))

    return asked


def _is_bare(value: Any) -> bool:
    return isinstance(value, dict) and type(value) not in _PLAIN_DICTS and dict.__len__(value) == 0


def _looked_for(original: Any) -> Any:
    def contains(self: Any, key: Any) -> Any:
        is_there = original(self, key)
        if not is_there:
            # What is there is guarded where it is read.
            _holds(self.item, self._maybe_unwrap_key(key))
        return is_there

    return contains


def _contained(original: Any) -> Any:
    def install(self: Any, tx: Any, args: Any) -> Any:
        if args[0].is_python_constant():
            _holds(self.items.item, args[0].as_python_constant())
        return original(self, tx, args)

    return install


def _listed(original: Any) -> Any:
    def iterate(self: Any) -> Any:
        _holds_as_it_is(self.item, lambda value: list(_own(value)), list, "the names that an object has")
        # Dynamo has those first that were set.
        place = {name: i for i, name in enumerate(self.item_dict)}
        return iter(sorted(original(self), key=lambda key: place.get(self._maybe_unwrap_key(key), len(place))))

    return iterate


def _holds(variable: Any, name: Any) -> None:
    """What is being compiled holds as long as what is found there has a name where it has it now, or has it not."""
    what = f"whether there is `{name}`"
    _holds_as_it_is(variable, lambda value: _places(value, name), lambda own: name in own, what)


def _holds_as_it_is(variable: Any, ask: Any, ask_own: Any, what: str) -> None:
    source = variable.source
    if source is None or not source.subguards_allowed():
        return
    if not isinstance(getattr(variable, "value", None), dict):
        holds_as_it_is(source, ask, what)
    elif hasattr(variable.value, "__dict__"):
        # Guards that keep the keys of a dict in order take none of ours besides.
        holds_as_it_is(AttrSource(source, "__dict__"), ask_own, what)


def _places(value: Any, name: str) -> tuple[bool, bool, bool]:
    """Whether an object has a name by itself, by its classes, as a module's part. Nothing of the program's is run."""
    own = _own(value)
    is_class = isinstance(value, type)
    classes = value.__mro__ if is_class else type(value).__mro__
    found = next((vars(each)[name] for each in classes if name in vars(each)), _NOTHING)
    if isinstance(found, MemberDescriptorType) and not is_class:
        try:
            found.__get__(value)
        except AttributeError:
            found = _NOTHING
    is_part = isinstance(value, torch.nn.Module) and any(name in (own.get(table) or ()) for table in _TABLES)
    return name in own, found is not _NOTHING, is_part


def _own(value: Any) -> Any:
    ask: Any = type(value).__getattribute__
    try:
        return (object.__getattribute__ if isinstance(ask, FunctionType) else ask)(value, "__dict__")
    except AttributeError:
        return {}

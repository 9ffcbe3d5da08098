"""Texts of the program's objects. Dynamo asks the object itself, which does not have yet what the frame has given it.

In: an object's variable. Out: the text that its own methods make of it while they are traced.
"""

import enum
import inspect
import os
from collections import deque
from types import FunctionType
from typing import Any

from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    NNModuleVariable,
    UnspecializedNNModuleVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.user_defined import UserDefinedExceptionObjectVariable, UserDefinedObjectVariable

# What they say of themselves is known, or told elsewhere.
_OTHERS = (NNModuleVariable, UnspecializedNNModuleVariable, UserDefinedExceptionObjectVariable)
# These do not change.
_FIXED = (enum.Enum, os.PathLike, tuple)
# Where Python keeps a `__repr__` from calling itself.
_GUARDS = ("dataclasses", "reprlib")


def is_object(variable: Any) -> bool:
    """Whether it is an object of the program's, which may be changed."""
    if not isinstance(variable, UserDefinedObjectVariable) or isinstance(variable, _OTHERS):
        return False
    return not isinstance(variable.value, _FIXED)


def has_text_of_its_own(variable: Any) -> bool:
    """Whether code of a program makes the text of an object, or it is made of what is in it."""
    if isinstance(variable.value, (dict, list, set, deque)):
        return True
    return any(_programmed(variable, name) for name in ("__format__", "__str__", "__repr__"))


def says_by_repr(variable: Any) -> bool:
    """Whether `str` of it is what its own `__repr__` says."""
    if not is_object(variable):
        return False
    kind: Any = type(variable.value)
    return kind.__str__ is object.__str__ and _programmed(variable, "__repr__") is not None


def text_of_object(tx: Any, variable: Any, spec: str) -> Any:
    """What `format` makes of an object; None if no code of a program does."""
    if not is_object(variable):
        return None
    if _programmed(variable, "__format__"):
        return variable.call_method(tx, "__format__", [ConstantVariable.create(spec)], {})
    kind: Any = type(variable.value)
    if spec or kind.__format__ is not object.__format__:
        return None
    if says_by_repr(variable):
        return text_by_repr(tx, variable)
    return BuiltinVariable(str).call_function(tx, [variable], {}) if _programmed(variable, "__str__") else None


def text_by_repr(tx: Any, variable: Any) -> Any:
    """What the object's own `__repr__` makes of it, without what guards a dataclass's against coming back to itself."""
    method = _programmed(variable, "__repr__")
    if method.__globals__.get("__name__") in _GUARDS:
        method = method.__wrapped__
    return UserFunctionVariable(method).call_function(tx, [variable], {})


def _programmed(variable: Any, name: str) -> Any:
    """The method of an object's class if it is a program's; None if it is Python's."""
    method = inspect.getattr_static(type(variable.value), name)
    return method if isinstance(method, FunctionType) else None

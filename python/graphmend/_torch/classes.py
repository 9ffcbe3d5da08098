"""What a function changes of a class is seen through its objects and its subclasses, also while it is traced.

Dynamo writes such a change back after the graph, and until then knows of it only where the class itself is asked.
"""

import contextlib
from typing import Any, NoReturn

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import BuiltinVariable, SuperVariable
from torch._dynamo.variables.user_defined import UserDefinedClassVariable, UserDefinedObjectVariable

from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced


def changes_of_classes_seen() -> contextlib.AbstractContextManager[None]:
    of_objects = (UserDefinedObjectVariable, "var_getattr", _for_objects)
    of_classes = (UserDefinedClassVariable, "var_getattr", _for_classes)
    of_bases = (SuperVariable, "_resolved_getattr_and_source", _for_bases)
    stored = (SideEffects, "store_attr", _stored)
    return replaced(of_objects, of_classes, of_bases, stored, (BuiltinVariable, "call_function", _asked))


def _for_objects(original: Any) -> Any:
    def var_getattr(self: Any, tx: Any, name: str) -> Any:
        kind: Any = type(self.value)
        changed = _changed(tx, kind.__mro__, name)
        is_asked = kind.__getattribute__ is object.__getattribute__
        return changed if changed is not None and is_asked and not _is_own(self, tx, name) else original(self, tx, name)

    return var_getattr


def _for_classes(original: Any) -> Any:
    def var_getattr(self: Any, tx: Any, name: str) -> Any:
        kind: Any = type(self.value)
        if name == "__dict__":
            leave_if_changed(tx, self.value)
        changed = _changed(tx, self.value.__mro__[1:], name)
        is_asked = kind.__getattribute__ is type.__getattribute__ and not hasattr(kind, name)
        return changed if changed is not None and is_asked and not _is_own(self, tx, name) else original(self, tx, name)

    return var_getattr


def _for_bases(original: Any) -> Any:
    def resolve(self: Any, tx: Any, name: str) -> Any:
        kind = self.objvar.python_type() if self.objvar else object
        classes = (self.objvar.value if issubclass(kind, type) else kind).__mro__
        before = self.typevar.as_python_constant()
        for each in classes[classes.index(before) + 1 :] if before in classes else ():
            if _given(tx, each, name) is not None:
                _leave(each)
        return original(self, tx, name)

    return resolve


def _stored(original: Any) -> Any:
    def store_attr(self: Any, item: Any, name: str, *more: Any, **options: Any) -> Any:
        if isinstance(item, UserDefinedClassVariable) and name.startswith("__") and name.endswith("__"):
            # Python asks the class itself for these, at many places.
            _leave(item.value)
        return original(self, item, name, *more, **options)

    return store_attr


def _asked(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        given = args[0].realize() if args and self.fn is dir else None
        for each in given.value.__mro__ if isinstance(given, UserDefinedClassVariable) else ():
            leave_if_changed(tx, each)
        return original(self, tx, args, kwargs)

    return call_function


def leave_if_changed(tx: Any, asked: type) -> None:
    """Breaks the graph where all is asked for that a class has, and the frame has changed it."""
    effects = tx.output.side_effects
    if effects.store_attr_mutations.get(effects.id_to_variable.get(id(asked))):
        _leave(asked)


def _leave(asked: type) -> NoReturn:
    leave_to_python("What a changed class has", asked, "Dynamo reads what it had before.")


def _changed(tx: Any, classes: tuple[type, ...], name: str) -> Any:
    """The variable that the first of the classes to have the attribute was given for it; None if it was given none.
    Functions and the like become something else where they are read, which is left to Python."""
    for each in classes:
        given = _given(tx, each, name)
        if given is not None and hasattr(_type(given), "__get__"):
            _leave(each)
        if given is not None or name in vars(each):
            return given
    return None


def _given(tx: Any, kind: type, name: str) -> Any:
    """The variable that a class was given for an attribute; None if it was given none."""
    effects = tx.output.side_effects
    variable = effects.id_to_variable.get(id(kind))
    return None if variable is None else effects.store_attr_mutations.get(variable, {}).get(name)


def _type(variable: Any) -> type:
    try:
        kind: type = variable.python_type()
    except NotImplementedError:
        # Of what was deleted, say.
        return property
    return kind


def _is_own(variable: Any, tx: Any, name: str) -> bool:
    """Whether an object has an attribute by itself."""
    given = tx.output.side_effects.store_attr_mutations.get(variable, {})
    return name in given or name in getattr(variable.value, "__dict__", {})

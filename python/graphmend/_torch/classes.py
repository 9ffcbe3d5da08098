"""What a function changes of a class is seen through its objects and its subclasses, also while it is traced.

Dynamo writes such a change back after the graph, and until then knows of it only where the class itself is asked.
"""

import contextlib
from typing import Any

from torch._dynamo.variables import BuiltinVariable
from torch._dynamo.variables.user_defined import UserDefinedClassVariable, UserDefinedObjectVariable

from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced


def changes_of_classes_seen() -> contextlib.AbstractContextManager[None]:
    of_objects = (UserDefinedObjectVariable, "var_getattr", _for_objects)
    of_classes = (UserDefinedClassVariable, "var_getattr", _for_classes)
    return replaced(of_objects, of_classes, (BuiltinVariable, "call_dir", _listed))


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


def _listed(original: Any) -> Any:
    def call_dir(self: Any, tx: Any, asked: Any) -> Any:
        for each in asked.value.__mro__ if isinstance(asked, UserDefinedClassVariable) else ():
            leave_if_changed(tx, each)
        return original(self, tx, asked)

    return call_dir


def leave_if_changed(tx: Any, asked: type) -> None:
    """Breaks the graph where all is asked for that a class has, and the frame has changed it."""
    effects = tx.output.side_effects
    if effects.store_attr_mutations.get(effects.id_to_variable.get(id(asked))):
        leave_to_python("What a changed class has", asked, "Dynamo reads what it had before.")


def _changed(tx: Any, classes: tuple[type, ...], name: str) -> Any:
    """The variable that the first of the classes to have the attribute was given for it; None if it was given none."""
    effects = tx.output.side_effects
    for each in classes:
        variable = effects.id_to_variable.get(id(each))
        given = None if variable is None else effects.store_attr_mutations.get(variable, {}).get(name)
        if given is not None:
            # Functions and the like become something else where they are read.
            return None if hasattr(_type(given), "__get__") else given
        if name in vars(each):
            return None
    return None


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

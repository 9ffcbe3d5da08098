"""`in`, which is a bool in Python, whatever `__contains__` says; in Dynamo it is that. Of numbers that may change,
Dynamo says that no constant is among them.

In: traces. Out: the same, where what is known to be in something, or not to be, is True or False, and numbers are
compared.
"""

import contextlib
import functools
import operator
import sys
from collections.abc import Iterable
from typing import Any

from torch._dynamo import utils
from torch._dynamo.variables import BuiltinVariable, ConstantVariable, SymNodeVariable

from graphmend._torch.instructions import on_instructions
from graphmend._torch.replaced import replaced

# What looks for something among items, and is known to several of Dynamo's modules.
_NAME = "iter_contains"


@functools.cache
def _users() -> list[Any]:
    own = getattr(utils, _NAME)
    modules = [module for path, module in sys.modules.items() if path.startswith("torch._dynamo.")]
    return [module for module in modules if vars(module).get(_NAME) is own]


def contents_told() -> contextlib.AbstractContextManager[None]:
    compared = [(module, _NAME, _by_comparing) for module in _users()]
    return replaced(*on_instructions(_as_bool, "CONTAINS_OP"), *compared)


def _as_bool(original: Any) -> Any:
    def contains(self: Any, instruction: Any) -> None:
        original(self, instruction)
        told = self.stack[-1] if self.stack else None
        if isinstance(told, ConstantVariable) and type(told.value) is not bool:
            self.stack[-1] = ConstantVariable.create(bool(told.value))

    return contains


def _by_comparing(original: Any) -> Any:
    def iter_contains(items: Iterable[Any], search: Any, tx: Any, *more: Any, **options: Any) -> Any:
        items = [each.realize() for each in items]
        search = search.realize()
        if not any(isinstance(each, SymNodeVariable) for each in (search, *items)):
            return original(items, search, tx, *more, **options)
        if not all(isinstance(each, SymNodeVariable) or each.is_python_constant() for each in (search, *items)):
            return original(items, search, tx, *more, **options)
        found = ConstantVariable.create(False)
        for each in items:
            same = _same(tx, each, search)
            if not same.is_python_constant():
                is_first = found.is_python_constant()
                found = same if is_first else BuiltinVariable(operator.or_).call_function(tx, [found, same], {})
            elif same.as_python_constant():
                return ConstantVariable.create(True)
        return found

    return iter_contains


def _same(tx: Any, one: Any, other: Any) -> Any:
    """Whether two of numbers and constants are the same object, or equal."""
    constants = [each.as_python_constant() for each in (one, other) if not isinstance(each, SymNodeVariable)]
    if len(constants) == 2:
        return ConstantVariable.create(constants[0] is constants[1] or bool(constants[0] == constants[1]))
    # What is no number is equal to none.
    if one is other or not all(isinstance(each, (int, float, complex)) for each in constants):
        return ConstantVariable.create(one is other)
    return BuiltinVariable(operator.eq).call_function(tx, [one, other], {})

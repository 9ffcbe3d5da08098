"""`in`, which is a bool in Python, whatever `__contains__` says; in Dynamo it is that.

In: traces. Out: the same, where what is known to be in something, or not to be, is True or False.
"""

import contextlib
from typing import Any

from torch._dynamo.variables import ConstantVariable

from graphmend._torch.instructions import on_instructions
from graphmend._torch.replaced import replaced


def contents_told() -> contextlib.AbstractContextManager[None]:
    return replaced(*on_instructions(_as_bool, "CONTAINS_OP"))


def _as_bool(original: Any) -> Any:
    def contains(self: Any, instruction: Any) -> None:
        original(self, instruction)
        told = self.stack[-1] if self.stack else None
        if isinstance(told, ConstantVariable) and type(told.value) is not bool:
            self.stack[-1] = ConstantVariable.create(bool(told.value))

    return contains

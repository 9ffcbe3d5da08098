"""`in`, which is a bool in Python, whatever `__contains__` says; in Dynamo it is that.

In: traces. Out: the same, where what is known to be in something, or not to be, is True or False.
"""

import contextlib
import dis
from typing import Any

from torch._dynamo.symbolic_convert import (
    InliningGeneratorInstructionTranslator,
    InliningInstructionTranslator,
    InstructionTranslator,
)
from torch._dynamo.variables import ConstantVariable

from graphmend._torch.replaced import replaced

_TRANSLATORS = (InstructionTranslator, InliningInstructionTranslator, InliningGeneratorInstructionTranslator)


def contents_told() -> contextlib.AbstractContextManager[None]:
    return replaced(*((kind, "dispatch_table", _as_bool) for kind in _TRANSLATORS))


def _as_bool(table: Any) -> Any:
    place = dis.opmap["CONTAINS_OP"]

    def contains(self: Any, instruction: Any) -> None:
        table[place](self, instruction)
        told = self.stack[-1] if self.stack else None
        if isinstance(told, ConstantVariable) and type(told.value) is not bool:
            self.stack[-1] = ConstantVariable.create(bool(told.value))

    return [contains if i == place else each for i, each in enumerate(table)]

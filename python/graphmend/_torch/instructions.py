"""What Dynamo does for an instruction of Python's, as a part to be replaced.

Relies on the table of functions by instruction that each of Dynamo's translators has.
"""

import dis
from collections.abc import Callable
from typing import Any

from torch._dynamo.symbolic_convert import (
    InliningGeneratorInstructionTranslator,
    InliningInstructionTranslator,
    InstructionTranslator,
)

_TRANSLATORS = (InstructionTranslator, InliningInstructionTranslator, InliningGeneratorInstructionTranslator)


def on_instructions(make: Callable[[Any], Any], *names: str) -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """For `replaced`: each of these instructions, as far as this Python has them, does what `make` makes of it."""
    places = {dis.opmap[name] for name in names if name in dis.opmap}

    def changed(table: Any) -> Any:
        return [make(each) if i in places and each is not None else each for i, each in enumerate(table)]

    return [(translator, "dispatch_table", changed) for translator in _TRANSLATORS]

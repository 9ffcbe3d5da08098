"""Generators that a function leaves early. Python closes them, and their `finally` runs; Dynamo does not."""

import contextlib
from typing import Any

from torch._dynamo.symbolic_convert import InliningGeneratorInstructionTranslator, InstructionTranslator

from graphmend._torch.replaced import replaced

_NOTED = "_graphmend_generators"
# The handler that Python itself puts around a generator, from 3.12 on.
_OF_PYTHON = "CALL_INTRINSIC_1"


def generators_noted() -> contextlib.AbstractContextManager[None]:
    """Inside, it is noted which generators are traced."""
    return replaced((InliningGeneratorInstructionTranslator, "__init__", _noting))


def _noting(original: Any) -> Any:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        vars(self.output).setdefault(_NOTED, []).append(self)

    return init


def leaves_generators_open() -> bool:
    """Whether a generator of the frame that is being compiled stands in a `try` or a `with`, and goes on no more."""
    output = InstructionTranslator.current_tx().output
    return any(_stands_in_try(each) for each in vars(output).get(_NOTED, ()))


def _stands_in_try(generator: Any) -> bool:
    if not generator.generated_items or generator.generator_exhausted:
        return False
    entry = generator.current_instruction.exn_tab_entry
    return entry is not None and entry.target.opname != _OF_PYTHON

"""Generators: those that a function leaves early, which Python closes, so that their `finally` runs, and Dynamo does
not; and those that end with a value, which `yield from` gives in Python, and in Dynamo None.
"""

import contextlib
from typing import Any

from torch._dynamo.symbolic_convert import InliningGeneratorInstructionTranslator, InstructionTranslator

from graphmend._torch.instructions import on_instructions
from graphmend._torch.replaced import replaced

_NOTED = "_graphmend_generators"
# The handler that Python itself puts around a generator, from 3.12 on.
_OF_PYTHON = "CALL_INTRINSIC_1"


def generators_noted() -> contextlib.AbstractContextManager[None]:
    """Inside, it is noted which generators are traced, and what they end with."""
    return replaced(
        (InliningGeneratorInstructionTranslator, "__init__", _noting),
        *on_instructions(_ending, "SEND"),
    )


def _noting(original: Any) -> Any:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        vars(self.output).setdefault(_NOTED, []).append(self)

    return init


def _ending(original: Any) -> Any:
    def send(self: Any, instruction: Any) -> None:
        receiver = self.stack[-2]
        original(self, instruction)
        generator = getattr(receiver, "inline_tracer", None)
        if generator is not None and generator.generator_exhausted and generator.symbolic_result is not None:
            self.stack[-1] = generator.symbolic_result

    return send


def leaves_generators_open() -> bool:
    """Whether a generator of the frame that is being compiled stands in a `try` or a `with`, and goes on no more."""
    output = InstructionTranslator.current_tx().output
    return any(_stands_in_try(each) for each in vars(output).get(_NOTED, ()))


def _stands_in_try(generator: Any) -> bool:
    if not generator.generated_items or generator.generator_exhausted:
        return False
    entry = generator.current_instruction.exn_tab_entry
    return entry is not None and entry.target.opname != _OF_PYTHON

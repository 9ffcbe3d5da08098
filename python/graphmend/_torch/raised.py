"""Exceptions of what is traced though Python may not come to it: a handler of the program's must not get them."""

import contextlib
from collections.abc import Callable
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslatorBase

from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import is_ours

# The mark that evaluates the later operands of `and` and `or`.
_MARK = "in_vain"

Ask = Callable[[str, int, bool], None]


def exceptions_in_vain(ask: Ask) -> contextlib.AbstractContextManager[None]:
    """Inside, `ask` gets the file and the line of what raises while it is traced, before a handler of the program's is
    looked for; and whether it is an operand that Python may not come to."""
    return replaced((InstructionTranslatorBase, "exception_handler", lambda original: _asking(original, ask)))


def _asking(original: Any, ask: Ask) -> Any:
    def exception_handler(self: Any, raised: Any) -> Any:
        translator, is_operand = self, False
        if is_ours(self.f_code.co_filename) and self.f_code.co_name == _MARK:
            is_operand = True
            while is_ours(translator.f_code.co_filename):
                translator = translator.parent
        if not is_ours(translator.f_code.co_filename):
            # Python 3.10 has lines alone.
            positions = getattr(translator.current_instruction, "positions", None)
            line = positions.lineno if positions is not None else None
            ask(translator.f_code.co_filename, line or translator.lineno, is_operand)
        return original(self, raised)

    return exception_handler

"""The code that Dynamo makes around a graph, where it fails to make it.

Both faults come with breaks that stay: a frame in pieces is longer, and hands its numbers on from piece to piece.
"""

import contextlib
from typing import Any

import torch
from torch._dynamo import bytecode_transformation
from torch._dynamo.variables import SymNodeVariable
from torch._dynamo.variables.builder import wrap_fx_proxy

from graphmend._torch.replaced import replaced


def code_assembled() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (bytecode_transformation, "fix_extended_args", _with_offsets),
        (SymNodeVariable, "as_tensor", _outside_of_modes),
    )


def _with_offsets(original: Any) -> Any:
    """The last round puts new prefixes in the place of the old, and a `try` may begin with one."""

    def fix_extended_args(instructions: Any) -> int:
        added: int = original(instructions)
        bytecode_transformation.update_offsets(instructions)
        return added

    return fix_extended_args


def _outside_of_modes(original: Any) -> Any:
    """A fraction leaves the graph as a tensor, which Dynamo asks the program's `torch.device` for. Nothing is traced
    any more by then, and what came back is None."""

    def as_tensor(self: Any, tx: Any, dtype: Any) -> Any:
        if self._tensor_var is None:
            arguments = (self.as_proxy(),), {"dtype": dtype}
            proxy = tx.output.create_proxy("call_function", torch.scalar_tensor, *arguments)
            self._tensor_var = wrap_fx_proxy(tx, proxy)
        return original(self, tx, dtype)

    return as_tensor

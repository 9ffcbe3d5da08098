"""What must hold before a graph counts, beyond what Dynamo guards: of its inputs, and of the process."""

import builtins
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any

import torch

from graphmend._torch.variables import fills_memory

# Memory that is written is nobody else's: what a transaction looks at for all that its graph changes.
APART = "apart"
# A tensor has its memory to itself, all of it, and no attributes or gradient.
WHOLE = "whole"
# There is no module of that name.
ABSENT = "absent"


@dataclass(frozen=True)
class Required:
    kind: str
    name: str
    # Indices of inputs.
    inputs: tuple[int, ...]

    def holds(self, args: Sequence[Any]) -> bool:
        if self.kind == ABSENT:
            return is_absent(self.name)
        return self.kind == APART or all(_is_whole(args[i]) for i in self.inputs)


def is_absent(name: str) -> bool:
    """Whether `import name` would find nothing. Its finders are asked as they are by the import."""
    if type(builtins.__import__) is not BuiltinFunctionType or name in sys.modules:
        return False
    try:
        return importlib.util.find_spec(name) is None
    except Exception:
        return False


def _is_whole(tensor: torch.Tensor) -> bool:
    return type(tensor) is torch.Tensor and not vars(tensor) and tensor.grad is None and fills_memory(tensor)

"""A dropout that is off gives its input back, as it does in eager; torch's compilers make a copy of it."""

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, TensorVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

from graphmend._torch.exact import as_constant
from graphmend._torch.replaced import replaced

_DROPOUTS = {
    torch.nn.functional.dropout: ("input", "p", "training", "inplace"),
    torch.dropout: ("input", "p", "train"),
}
_DEFAULTS: dict[str, Any] = {"p": 0.5, "training": True}


def dropouts_passed_on() -> contextlib.AbstractContextManager[None]:
    """Inside, no copy is traced where eager makes none."""
    return replaced((TorchInGraphFunctionVariable, "call_function", _pass_on))


def _pass_on(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        names = _DROPOUTS.get(self.value)
        given = dict(zip(names, args, strict=False)) | kwargs if names else {}
        operand = given["input"].realize() if "input" in given else None
        # A class of the user's, or a mode, may have a dropout of its own.
        is_torchs = type(operand) is TensorVariable and not tx.symbolic_torch_function_state.in_torch_function_mode()
        if is_torchs and _is_off(tx, given):
            return operand
        return original(self, tx, args, kwargs)

    return call_function


def _is_off(tx: Any, given: dict[str, Any]) -> bool:
    # With `dynamic=True` also how much is dropped is a number that may change.
    told = {name: as_constant(tx, each.realize()) for name, each in given.items() if name != "input"}
    if not all(isinstance(each, ConstantVariable) for each in told.values()):
        return False
    known = _DEFAULTS | {name: each.value for name, each in told.items()}
    chance, trains = known["p"], known.get("train", known["training"])
    return isinstance(chance, (int, float)) and (chance == 0 or (trains is False and 0 < chance <= 1))

"""Any Python value as plain data that can be compared and sent. In: objects. Out: strings, numbers, tuples, tensors.

Identity and shared storage are part of it: the same tensor met again is a reference to the first meeting.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

# What torch or Dynamo keep on a module for themselves.
_PRIVATE = frozenset(
    """_compiled_call_impl _is_full_backward_hook _non_persistent_buffers_set _backward_pre_hooks _backward_hooks
    _forward_hooks _forward_hooks_with_kwargs _forward_hooks_always_called _forward_pre_hooks
    _forward_pre_hooks_with_kwargs _state_dict_hooks _state_dict_pre_hooks _load_state_dict_pre_hooks
    _load_state_dict_post_hooks _is_torch_compile""".split()
)


@dataclass(frozen=True)
class TensorValue:
    """A tensor: `bits` are its elements in order, `storage` says with which other tensors it shares memory."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    requires_grad: bool
    leaf: bool
    inference: bool
    storage: int
    bits: bytes
    grad: Any = None

    def __repr__(self) -> str:
        values = self.numbers().reshape(-1)
        shown = ", ".join(f"{value:.6g}" for value in values[:8]) + (", …" if len(values) > 8 else "")
        flags = [name for name in ("requires_grad", "leaf", "inference") if getattr(self, name)]
        form = f"{self.kind} {self.dtype}{list(self.shape)} stride {list(self.stride)} {' '.join(flags)}"
        return f"<{form} storage {self.storage} [{shown}] grad {self.grad}>"

    def numbers(self) -> np.ndarray[Any, Any]:
        """The elements, for comparison with a tolerance."""
        name = self.dtype.removeprefix("torch.")
        if name == "bfloat16":
            wide = np.frombuffer(self.bits, dtype=np.uint16).astype(np.uint32) << 16
            return wide.view(np.float32)
        return np.frombuffer(self.bits, dtype=np.dtype(name))


class Describer:
    """Describes values that are met together; keeps them alive, so that no address is met twice."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._kept: list[object] = []

    def describe(self, value: object) -> Any:
        if value is None or type(value) in (bool, int, str, bytes):
            return value
        if type(value) is float:
            return ("float", value.hex() if value == value else "nan")
        if isinstance(value, (torch.dtype, torch.device, torch.Size)):
            return str(value)
        if isinstance(value, np.ndarray):
            return ("ndarray", str(value.dtype), value.shape, value.tobytes())
        if isinstance(value, np.generic):
            return ("numpy", str(value.dtype), repr(value))
        if isinstance(value, type):
            return ("type", value.__qualname__)
        if isinstance(value, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
            return ("function", value.__qualname__)
        if id(value) in self._seen:
            return ("again", self._seen[id(value)])
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._tensor(value) if isinstance(value, torch.Tensor) else self._object(value)

    def _object(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return (type(value).__name__, *(self.describe(item) for item in value))
        if isinstance(value, (set, frozenset)):
            return (type(value).__name__, sorted(map(repr, value)))
        if isinstance(value, dict):
            return (type(value).__name__, *((self.describe(key), self.describe(item)) for key, item in value.items()))
        if isinstance(value, types.CellType):
            return ("cell", self.describe(value.cell_contents))
        if isinstance(value, BaseException):
            return (type(value).__qualname__, self.describe(value.args), self.describe(vars(value)))
        if isinstance(value, torch.nn.Module):
            fields = {name: item for name, item in vars(value).items() if name not in _PRIVATE}
            return (type(value).__qualname__, {name: self.describe(item) for name, item in sorted(fields.items())})
        if type(value).__module__.startswith("generated_program"):
            return (type(value).__qualname__, {name: self.describe(item) for name, item in sorted(vars(value).items())})
        return ("object", type(value).__qualname__)

    def _tensor(self, value: torch.Tensor) -> Any:
        plain = value.detach()
        if value.is_inference():
            plain = plain.clone()
        storage = self._storages.setdefault(value.untyped_storage().data_ptr(), len(self._storages))
        contiguous = plain.contiguous()
        if contiguous.numel() == 1:
            # Of one element any stride is as good as another, but not to see it as bytes.
            contiguous = contiguous.as_strided((1,), (1,))
        raw = contiguous.reshape(-1).view(torch.uint8) if contiguous.numel() else torch.empty(0, dtype=torch.uint8)
        return TensorValue(
            kind=type(value).__name__,
            dtype=str(value.dtype),
            shape=tuple(value.shape),
            stride=value.stride(),
            offset=int(value.storage_offset()),
            requires_grad=value.requires_grad,
            leaf=_is_leaf(value),
            inference=value.is_inference(),
            storage=storage,
            bits=raw.cpu().numpy().tobytes(),
            grad=self.describe(value.grad) if _is_leaf(value) and value.grad is not None else None,
        )


def _is_leaf(value: torch.Tensor) -> bool:
    try:
        return bool(value.is_leaf)
    except RuntimeError:
        # A view made under no_grad, of something that was changed in place with gradients: nobody may ask.
        return False

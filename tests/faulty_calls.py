"""Faults for tests: functions that fail when they are told to. In: a function's owner and name. Out: a patch of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch


class InjectedError(Exception):
    """What goes wrong."""


class Switch:
    """A function that works until it is told to fail at its n-th call from now."""

    def __init__(self, original: Callable[..., Any], late: bool = False) -> None:
        self.original = original
        self.late = late
        self.left = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.left:
            return self.original(*args, **kwargs)
        self.left -= 1
        if self.left:
            return self.original(*args, **kwargs)
        if self.late:
            self.original(*args, **kwargs)
        raise InjectedError

    # A function on a class binds.
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else lambda *args, **kwargs: self(owner, *args, **kwargs)


def failing(name: str, nth: int, late: bool, owner: Any = torch.Tensor) -> Callable[[pytest.MonkeyPatch], None]:
    def inject(patch: pytest.MonkeyPatch) -> None:
        switch = Switch(getattr(owner, name), late)
        switch.left = nth
        patch.setattr(owner, name, switch)

    return inject

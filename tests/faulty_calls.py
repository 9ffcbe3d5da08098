"""Faults for tests: functions that fail when they are told to, and a model and its mended twin that meet them.

In: a function's owner and name; a model. Out: a patch of it; calls that do what eager does, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from compiled_calls import differences, observe, random_states, seed

from graphmend._mending.compile import compile as mended_compile


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


class Pair:
    """A model in eager and its mended twin, which make the same calls."""

    def __init__(self, make: Callable[[], torch.nn.Module], file: str, **settings: Any) -> None:
        self.file = file
        self.original, self.twin = make(), make()
        self.compiled: Any = mended_compile(self.twin, **settings)

    def call(self, x: torch.Tensor, fault: Callable[[pytest.MonkeyPatch], None] = lambda _: None) -> bool:
        """A call that does what eager does, or nothing, which only a fault excuses; False if it was nothing."""
        before = self._state()
        seed()
        started = random_states()
        expected = observe(self.original, (x.clone(),), self.file, self.original)
        seed()
        argument = x.clone()
        with pytest.MonkeyPatch.context() as patch:
            fault(patch)
            seen = observe(self.compiled, (argument,), self.file, self.twin)
        done = seen.error is None or seen.error[0] != "InjectedError"
        if not done:
            assert (seen.printed, seen.records, seen.random) == ("", [], started)
            assert torch.equal(argument, x) and self._state() == before
            seed()
            seen = observe(self.compiled, (x.clone(),), self.file, self.twin)
        found = differences(expected, seen)
        assert not found, "\n" + "\n".join(found[:4])
        return done

    def _state(self) -> Any:
        buffers = {name: value.tolist() for name, value in self.twin.state_dict().items()}
        return buffers, {name: value for name, value in vars(self.twin).items() if isinstance(value, (int, str))}

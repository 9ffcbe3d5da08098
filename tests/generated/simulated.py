"""A transaction over eager, without torch.compile. In: a target. Out: a callable that does the same in two steps.

It holds effects back, looks whether the call failed, and then commits and delivers, or restores and runs again: what
the product promises to do, in a few lines. Planted bugs break one of these steps, so that generator, observer and
comparer are known to see each of them, quickly and whatever state the product is in.
"""

from __future__ import annotations

import ast
import logging
import random
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .observe import Capture, Event
from .subject import Fired, Predicted, Target


def _same(value: Any) -> Any:
    return value


@dataclass
class Points:
    """The steps of a transaction at which a bug can be planted; the defaults are right."""

    transform: Callable[[ast.Module], ast.Module] | None = None
    # Before anything runs: the transaction and its arguments.
    begin: Callable[[Simulated, tuple[Any, ...]], None] = lambda call, args: None
    # Whether the call failed, and the error that says so.
    failed: Callable[[BaseException | None], bool] = lambda error: error is not None
    # What of the state is put back before the original runs: tensors, objects, rng.
    restores: tuple[str, ...] = ("tensors", "objects", "rng")
    # Effects that are delivered although the call failed.
    delivers_on_failure: bool = False
    # Running the original after a failure.
    rerun: Callable[[Target, tuple[Any, ...]], Any] = lambda target, args: target(*args)
    # After success: what is put back although it should be committed.
    forgets: Callable[[Snapshot, tuple[Any, ...]], None] = lambda state, args: None
    effects: Callable[[Simulated, list[Event]], list[Event]] = lambda call, held: held
    result: Callable[[Any, tuple[Any, ...]], Any] = lambda result, args: result


class Snapshot:
    """All state that can be reached from some roots, and how to put it back in place."""

    def __init__(self, roots: list[Any], names: dict[str, Any]) -> None:
        # The program's globals: one of them is a number.
        self.names = names
        self.ticks = names["TICKS"]
        self.tensors: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.objects: list[tuple[Any, Any]] = []
        # A tensor with history cannot be put back by writing into it.
        self.hard = False
        self.rng = (torch.get_rng_state(), random.getstate(), np.random.get_state())
        seen: set[int] = set()
        stack = [*roots, names["STATE"]]
        while stack:
            value = stack.pop()
            if id(value) in seen or value is None or isinstance(value, (int, float, str, type, types.ModuleType)):
                continue
            seen.add(id(value))
            stack += self._take(value)

    def _take(self, value: Any) -> list[Any]:
        if isinstance(value, torch.Tensor):
            self.hard |= value.requires_grad and not value.is_leaf
            self.tensors[id(value)] = (value, value.detach().clone())
            return [value.grad] if value.is_leaf else []
        if isinstance(value, (list, tuple)):
            if isinstance(value, list):
                self.objects.append((value, list(value)))
            return list(value)
        if isinstance(value, dict):
            self.objects.append((value, dict(value)))
            return list(value.values())
        if isinstance(value, types.CellType):
            self.objects.append((value, value.cell_contents))
            return [value.cell_contents]
        if isinstance(value, types.FunctionType):
            return [*(value.__closure__ or ()), value.__globals__.get("STATE")]
        if isinstance(value, types.MethodType):
            return [value.__self__, value.__func__]
        if isinstance(value, logging.Logger):
            return []
        return [vars(value)] if hasattr(value, "__dict__") else []

    def restore_tensors(self) -> None:
        for tensor, saved in self.tensors.values():
            if not _same_bits(tensor, saved):
                with torch.inference_mode() if tensor.is_inference() else torch.no_grad():
                    tensor.copy_(saved)

    def restore_objects(self) -> None:
        self.names["TICKS"] = self.ticks
        for value, saved in self.objects:
            if isinstance(value, list):
                value[:] = saved
            elif isinstance(value, dict):
                value.clear()
                value.update(saved)
            else:
                value.cell_contents = saved

    def restore_rng(self) -> None:
        torch.set_rng_state(self.rng[0])
        random.setstate(self.rng[1])
        np.random.set_state(self.rng[2])


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.equal(a, b)) or bool(
        torch.equal(a.nan_to_num(), b.nan_to_num()) and torch.equal(a.isnan(), b.isnan())
    )


class Simulated:
    """The subject, and one transaction: `compile` gives a Simulated with a target."""

    name = "simulated"

    def __init__(self, target: Target | None = None, points: Points | None = None) -> None:
        self.target = target
        self.points = points or Points()
        self.calls = 0
        # For planted bugs that remember an earlier call.
        self.memory: dict[str, Any] = {}

    @property
    def transform(self) -> Callable[[ast.Module], ast.Module] | None:
        return self.points.transform

    def compile(self, target: Target, backend: str, dynamic: bool | None) -> Target:
        return Simulated(target, self.points)

    def fired(self, compiled: Target) -> Fired:
        return Fired()

    def predicted(self) -> Predicted:
        return Predicted()

    def mended(self, module: types.ModuleType) -> None:
        return None

    def release(self) -> None:
        pass

    def owner(self) -> Any:
        return self.target if isinstance(self.target, torch.nn.Module) else getattr(self.target, "__self__", None)

    def __call__(self, *args: Any) -> Any:
        target, points = self.target, self.points
        assert target is not None
        self.calls += 1
        registries = [vars(module).setdefault("__warningregistry__", {}) for module in _warning_modules()]
        state = Snapshot([args, target, *registries], vars(sys.modules["generated_program"]))
        if state.hard:
            return target(*args)
        capture = next(handler for handler in logging.getLogger().handlers if isinstance(handler, Capture))
        before = list(capture.events)
        capture.events.clear()
        error: BaseException | None = None
        result: Any = None
        points.begin(self, args)
        try:
            result = target(*args)
        except BaseException as caught:
            error = caught
        held = list(capture.events)
        capture.events[:] = before
        if points.failed(error):
            if points.delivers_on_failure:
                capture.events.extend(held)
            error = None
            for what in points.restores:
                getattr(state, f"restore_{what}")()
            return points.rerun(target, args)
        points.forgets(state, args)
        capture.events.extend(points.effects(self, held))
        return points.result(result, args)


def _warning_modules() -> list[types.ModuleType]:
    names = ["generated_program", __name__, "torch.nn.modules.module", __name__.replace("simulated", "run")]
    return [sys.modules[name] for name in names if name in sys.modules]

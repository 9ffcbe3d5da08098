"""The planted bugs inside the product. In: a bug's name. Out: graphmend's run time with that mistake in it.

Everything here names private parts of python/graphmend. A part that has moved is an error and not a silent no-op.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

Patch = Callable[[], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def _patched(where: Any, name: str, change: Callable[[Any], Any]) -> Iterator[None]:
    # Looked up in the namespace itself, so that staticmethods and the like come back as they were.
    right = vars(where)[name]
    setattr(where, name, change(right))
    try:
        yield
    finally:
        setattr(where, name, right)


def _part(module: str) -> Any:
    return importlib.import_module(f"graphmend.{module}")


def _delivery(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Patch:
    """The list of effects is changed before it is delivered."""

    def patch(right: Any) -> Any:
        return lambda plan, results: right(dataclasses.replace(plan, effects=change(plan.effects)), results)

    return lambda: _patched(_part("_transaction")._Plan, "_deliver", patch)


def _plan(**changes: Any) -> Patch:
    """Calls run as if their plan said something else."""

    def patch(right: Any) -> Any:
        return lambda plan, compiled, args: right(dataclasses.replace(plan, **changes), compiled, args)

    return lambda: _patched(_part("_transaction")._Plan, "run", patch)


def _run(around: Callable[[Any, Any, Any, Any], Any]) -> Patch:
    """`around(right, plan, compiled, args)` instead of the run of a plan."""
    return lambda: _patched(
        _part("_transaction")._Plan,
        "run",
        lambda right: lambda plan, compiled, args: around(right, plan, compiled, args),
    )


def _ignore_flag(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    def without(*working: Any) -> Any:
        results = list(compiled(*working))
        if plan.flag is not None:
            results[plan.flag] = torch.tensor(False)
        return tuple(results)

    return right(plan, without, args)


def _uncommitted(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    copied = [a.clone() if i in plan.mutated and isinstance(a, torch.Tensor) else a for i, a in enumerate(args)]
    return right(plan, compiled, copied)


def _deliver_first(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    def early(*working: Any) -> Any:
        results = compiled(*working)
        if plan.flag is not None and bool(results[plan.flag]):
            plan._deliver(results)
        return results

    return right(plan, early, args)


def _draw(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    torch.rand(1)
    return right(plan, compiled, args)


def _results(change: Callable[[torch.Tensor], torch.Tensor]) -> Patch:
    def around(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
        return tuple(change(r) if isinstance(r, torch.Tensor) else r for r in right(plan, compiled, args))

    return _run(around)


def _outlined(**changes: Callable[[types.CodeType], Any]) -> Patch:
    """The functions that effects are outlined into are compiled with another line or name."""

    def patch(right: Any) -> Any:
        def define(site: str, function: Any, *rest: Any) -> Any:
            code = function.__code__
            function.__code__ = code.replace(**{name: change(code) for name, change in changes.items()})
            return right(site, function, *rest)

        return define

    return lambda: _patched(_part("_effects"), "define", patch)


def _check(change: Callable[[Any, str, Any, bool], Any]) -> Patch:
    def patch(right: Any) -> Any:
        raw = right.__func__ if isinstance(right, staticmethod) else right
        return staticmethod(lambda site, value, predicted: change(raw, site, value, predicted))

    return lambda: _patched(_part("_marks").Marks, "check", patch)


PRODUCT: dict[str, Patch] = {
    "effects-twice": _delivery(lambda effects: effects + effects),
    "effects-reversed": _delivery(lambda effects: effects[::-1]),
    "last-effect-lost": _delivery(lambda effects: effects[:-1]),
    "delivered-on-failure": _run(_deliver_first),
    "check-ignored": _run(_ignore_flag),
    "check-inverted": _check(lambda right, site, value, predicted: right(site, value, not predicted)),
    "inputs-not-committed": _run(_uncommitted),
    "buffers-not-committed": _run(_uncommitted),
    "tensors-not-restored": _plan(mutated=()),
    "rng-not-restored": _plan(random=False),
    "rng-drawn": _run(_draw),
    "later-value": lambda: _patched(_part("_transaction"), "_mutations_after", lambda right: lambda *_: False),
    "wrong-line": _outlined(co_firstlineno=lambda code: code.co_firstlineno + 1),
    "wrong-function": _outlined(co_name=lambda code: "outlined"),
    "gradient-lost": _results(lambda value: value.detach()),
    "identity-lost": _results(lambda value: value.clone()),
    "strides-changed": _results(lambda value: value.contiguous()),
    "stale-guard": lambda: _patched(_part("_torch_private"), "forget_code", lambda right: lambda code: None),
}


def planted_in_product(name: str) -> contextlib.AbstractContextManager[None]:
    """The context in which the product has the bug."""
    if name not in PRODUCT:
        raise NotImplementedError(f"`{name}` is not planted in the product yet, only in the simulation")
    return PRODUCT[name]()

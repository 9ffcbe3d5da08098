"""The planted bugs inside the product. In: a bug's name. Out: graphmend's run time with that mistake in it.

Everything here names private parts of python/graphmend. A part that has moved is an error and not a silent no-op.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Patch = Callable[[], contextlib.AbstractContextManager[None]]


class MisplantedError(BaseException):
    """A planted bug does not fit the product any more. No `Exception`: a transaction answers those by itself."""


@dataclass(frozen=True)
class ProductBug:
    """One bug: the promise it breaks, and how."""

    name: str
    breaks: str
    patch: Patch
    # Where it must show (the beginning of a difference's place): another difference is not this bug's.
    shows: str = ""
    # A program of seed 0 that shows it; only where a hunt begins.
    hint: int = 0


@contextlib.contextmanager
def patched(where: Any, name: str, change: Callable[[Any], Any]) -> Iterator[None]:
    # Looked up in the namespace itself, so that staticmethods and the like come back as they were.
    right = vars(where)[name]
    setattr(where, name, change(right))
    try:
        yield
    finally:
        setattr(where, name, right)


def part(module: str) -> Any:
    return importlib.import_module(f"graphmend.{module}")


# Bugs in the run of a transaction: `around(right, plan, compiled, args)` instead of it.


def run_instead(around: Callable[[Any, Any, Any, Any], Any]) -> Patch:
    def patch(right: Any) -> Any:
        return lambda plan, compiled, *args: around(right, plan, compiled, args)

    return lambda: patched(part("_mending.transaction").Plan, "run", patch)


def _plan(**changes: Any) -> Patch:
    """Calls run as if their plan said something else."""
    return run_instead(lambda right, plan, compiled, args: right(dataclasses.replace(plan, **changes), compiled, *args))


def _delivery(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Patch:
    """The list of effects is changed before it is delivered."""
    return run_instead(
        lambda right, plan, compiled, args: right(
            dataclasses.replace(plan, effects=change(plan.effects)), compiled, *args
        )
    )


def _results(change: Callable[[torch.Tensor], torch.Tensor]) -> Patch:
    def around(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
        return tuple(change(r) if isinstance(r, torch.Tensor) else r for r in right(plan, compiled, *args))

    return run_instead(around)


def _ignore_flag(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    return right(dataclasses.replace(plan, flag=None), compiled, *args)


def _uncommitted(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    return right(plan, compiled, *(arg.clone() if i in plan.mutated else arg for i, arg in enumerate(args)))


def _deliver_first(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    def early(*working: Any) -> Any:
        results = compiled(*working)
        if plan.flag is not None and bool(results[plan.flag]):
            try:
                plan._deliver(results)
            except TypeError as error:
                raise MisplantedError("_deliver takes other arguments") from error
        return results

    return right(plan, early, *args)


def _draw(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    torch.rand(1)
    return right(plan, compiled, *args)


def _first_value() -> contextlib.AbstractContextManager[None]:
    first: dict[str, tuple[Any, Any]] = {}

    def patch(right: Any) -> Any:
        def deliver(site: str, spec: str, ints: Any, tensors: Any) -> None:
            now = list(ints), list(tensors)
            kept = first.setdefault(site, now)
            right(site, spec, *(kept if list(map(len, kept)) == list(map(len, now)) else now))

        return deliver

    return patched(part("_mending.effects"), "deliver", patch)


def _values(change: Callable[[list[Any]], list[Any]]) -> Patch:
    """The values of an effect arrive otherwise than they left."""

    def patch(right: Any) -> Any:
        def rebuild(spec: str, ints: Any, tensors: Any) -> Any:
            stack, values = right(spec, ints, tensors)
            return stack, change(values)

        return rebuild

    return lambda: patched(part("_mending.effects"), "rebuild", patch)


def _outlined(**changes: Callable[[types.CodeType], Any]) -> Patch:
    """The functions that effects are outlined into are compiled with another line or name."""

    def patch(right: Any) -> Any:
        def define(site: str, text: str, function: types.FunctionType) -> Any:
            code = function.__code__
            function.__code__ = code.replace(**{name: change(code) for name, change in changes.items()})
            return right(site, text, function)

        return define

    return lambda: patched(part("_mending.effects"), "define", patch)


# Bugs in what is traced.


def _inverted_check() -> contextlib.AbstractContextManager[None]:
    def patch(right: staticmethod[Any, Any]) -> Any:
        real = right.__func__

        def check(site: str, value: Any, predicted: bool) -> Any:
            return predicted if real(site, value, not predicted) is (not predicted) else value

        return staticmethod(check)

    return patched(part("_mending.marks").Marks, "check", patch)


def _only_first_check() -> contextlib.AbstractContextManager[None]:
    marker_name = part("_torch.markers").marker_name

    def patch(right: Any) -> Any:
        def lift(graph: Any, markers: Sequence[Any], goes_on: bool) -> Any:
            dropped = [node for node in markers if marker_name(node.target) == "check"][1:]
            for node in dropped:
                graph.graph.erase_node(node)
            return right(graph, [node for node in markers if node not in dropped], goes_on)

        return lift

    return patched(part("_mending.backend"), "lift", patch)


def _aliases_ignored() -> contextlib.AbstractContextManager[None]:
    marker_name = part("_torch.markers").marker_name

    def remove(graph: Any, declined: Any, goes_on: bool) -> None:
        for node in list(graph.graph.nodes):
            if marker_name(node.target) == "joined":
                graph.graph.erase_node(node)
        graph.recompile()

    return patched(part("_mending.backend"), "remove_joined", lambda right: remove)


# Bugs in the recovery.


def _original(around: Callable[[Callable[[], Any]], Any]) -> Patch:
    """`around(run)` where the original is run."""

    def patch(right: Any) -> Any:
        return lambda *arguments: around(lambda: right(*arguments))

    return lambda: patched(part("_mending.recovery").Recovery, "run_code", patch)


def _twice(run: Callable[[], Any]) -> Any:
    with contextlib.suppress(Exception):
        run()
    return run()


def _swallow(run: Callable[[], Any]) -> Any:
    with contextlib.suppress(Exception):
        return run()


def _raise_other(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        raise RuntimeError(str(error)) from None


def _lose_frames(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        raise error.with_traceback(None)  # noqa: B904


def _no_random_state() -> contextlib.AbstractContextManager[None]:
    class Nothing:
        getstate = staticmethod(lambda: None)

    return patched(part("_mending.recovery"), "random", lambda right: Nothing)


PRODUCT = [
    ProductBug(
        "effects-twice", "each effect is delivered once", _delivery(lambda effects: effects + effects), shows="events"
    ),
    ProductBug(
        "effects-reversed", "effects come in order", _delivery(lambda effects: effects[::-1]), shows="events", hint=40
    ),
    ProductBug(
        "last-effect-lost", "each effect is delivered once", _delivery(lambda effects: effects[:-1]), shows="events"
    ),
    ProductBug(
        "delivered-on-failure",
        "a failed call delivers what eager does",
        run_instead(_deliver_first),
        shows="events",
        hint=42,
    ),
    ProductBug("first-value", "an effect shows this call's values", _first_value, shows="events", hint=40),
    ProductBug(
        "later-value",
        "an effect shows the value of its moment",
        lambda: patched(part("_mending.lift")._Changes, "may_come_after", lambda right: lambda *_: False),
        shows="events",
        hint=55,
    ),
    ProductBug(
        "values-swapped",
        "an effect's values come in order",
        _values(lambda values: values[::-1]),
        shows="events",
        hint=40,
    ),
    ProductBug(
        "wrong-line",
        "records have the user's line",
        _outlined(co_firstlineno=lambda code: code.co_firstlineno + 1),
        shows="events.line",
    ),
    ProductBug(
        "wrong-function",
        "records have the user's function",
        _outlined(co_name=lambda code: "outlined"),
        shows="events.function",
    ),
    ProductBug(
        "gradients-of-zero",
        "what is in the other side of a branch gets no gradient",
        lambda: patched(part("_mending.lift"), "spoils_gradients", lambda right: lambda *_: None),
        hint=72,
    ),
    ProductBug("check-ignored", "a guard that fires raises", run_instead(_ignore_flag), hint=42),
    ProductBug("check-inverted", "a guard fires when its test says so", _inverted_check, hint=86),
    ProductBug("only-first-check", "every guard counts", _only_first_check, hint=46),
    ProductBug("not-committed", "what is changed in place stays changed", run_instead(_uncommitted), hint=8),
    ProductBug("tensors-not-restored", "a failed call changes tensors once", _plan(mutated=()), hint=33),
    ProductBug(
        "rng-not-restored", "a failed call draws what eager draws", _plan(random=False), shows="rng.torch", hint=5
    ),
    ProductBug(
        "python-rng-not-restored", "a failed call draws what eager draws", _no_random_state, shows="rng.random", hint=68
    ),
    ProductBug("rng-drawn", "the random streams are eager's", run_instead(_draw), shows="rng.torch"),
    ProductBug("original-runs-twice", "a failed call counts once", _original(_twice), hint=45),
    ProductBug("exception-swallowed", "exceptions arrive", _original(_swallow), shows="error", hint=42),
    ProductBug(
        "exception-changed", "exceptions keep type and arguments", _original(_raise_other), shows="error", hint=5
    ),
    ProductBug(
        "traceback-lost", "tracebacks show the user's frames", _original(_lose_frames), shows="error.frames", hint=42
    ),
    ProductBug("gradient-lost", "gradients flow", _results(lambda value: value.detach()), hint=40),
    ProductBug("identity-lost", "a returned input is the input", _results(lambda value: value.clone()), hint=4),
    ProductBug("strides-changed", "outputs keep their strides", _results(lambda value: value.contiguous()), hint=8),
    ProductBug(
        "sides-swapped",
        "a select takes the side that was meant",
        lambda: patched(
            part("_mending.marks_select"),
            "_pick",
            lambda right: lambda site, flag, one, other: right(site, flag, other, one),
        ),
        hint=94,
    ),
    ProductBug("aliases-ignored", "a select makes no new tensor where that shows", _aliases_ignored, hint=72),
    ProductBug(
        "positions-lost",
        "mended code has the user's positions",
        lambda: patched(part("_mending.mended_file"), "relocate", lambda right: lambda *_: None),
    ),
]

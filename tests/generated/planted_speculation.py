"""The planted bugs of speculation. In: a bug's name. Out: graphmend's run time with that mistake in it.

They show in programs of `--speculate`; hints are programs of its seed 0. A part that has moved is an error here too,
as in planted_product.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from .planted_product import MisplantedError, ProductBug, part, patched, run_instead


def _dropped(is_dropped: Callable[[Any], bool]) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """The marks of some predictions are taken out of the graph: nobody compares them."""

    def patch(right: Any) -> Any:
        marker_name = part("_torch.markers").marker_name

        def lift(graph: Any, markers: Sequence[Any], goes_on: bool) -> Any:
            dropped = [node for node in markers if marker_name(node.target) == "predicted" and is_dropped(node)]
            for node in dropped:
                graph.graph.erase_node(node)
            return right(graph, [node for node in markers if node not in dropped], goes_on)

        return lift

    return lambda: patched(part("_mending.backend"), "lift", patch)


def _occurrence(node: Any) -> int:
    number = node.args[0].split("_")[1]
    if not number.isdigit():
        raise MisplantedError("predictions have other names")
    return int(number)


def _miss_counts(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    """The graph says that it was wrong, that is learnt, and its results are taken all the same."""
    if not plan.seen:
        return right(plan, compiled, *args)

    def watched(*working: Any) -> Any:
        results = compiled(*working)
        if bool(results[plan.flag]):
            plan._learn(results)
        return results

    return right(dataclasses.replace(plan, flag=None), watched, *args)


def _when_missed(**changes: Any) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Calls with predictions run as if their plan said something else."""

    def around(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
        return right(dataclasses.replace(plan, **changes) if plan.seen else plan, compiled, *args)

    return run_instead(around)


def _talks_when_missed(right: Any, plan: Any, compiled: Any, args: Any) -> Any:
    if not plan.seen or not plan.effects:
        return right(plan, compiled, *args)

    def early(*working: Any) -> Any:
        results = compiled(*working)
        if bool(results[plan.flag]):
            plan._deliver(results)
        return results

    return right(plan, early, *args)


def _blind() -> contextlib.AbstractContextManager[None]:
    """What is computed ahead may draw, and change the inputs."""

    def patch(right: Any) -> Any:
        return lambda self, func, types, args=(), kwargs=None: func(*args, **(kwargs or {}))

    return patched(part("_mending.shadow")._Watch, "__torch_dispatch__", patch)


SPECULATION = [
    ProductBug("prediction-unchecked", "a wrong prediction is noticed", _dropped(lambda node: True), hint=0),
    ProductBug(
        "only-first-occurrence",
        "each time round a loop has a prediction that is compared",
        _dropped(lambda node: _occurrence(node) > 0),
        hint=54,
    ),
    ProductBug("miss-counts", "a call with a wrong prediction counts for nothing", run_instead(_miss_counts), hint=0),
    ProductBug("miss-changes-tensors", "a missed call changes tensors once", _when_missed(mutated=()), hint=42),
    ProductBug(
        "miss-draws", "a missed call draws what eager draws", _when_missed(random=False), shows="rng.torch", hint=45
    ),
    ProductBug(
        "miss-talks", "a missed call delivers what eager does", run_instead(_talks_when_missed), shows="events", hint=0
    ),
    ProductBug("looking-ahead-shows", "to predict, nothing is drawn and no input is changed", _blind, hint=47),
]

"""`graphmend.explain`: where a call breaks the graph, why, and what was done about it or what to do."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from graphmend._checking.observe import Observation, observe
from graphmend._checking.worlds import World
from graphmend._mending.compile import compile as mended_compile
from graphmend._reporting.report import Break, Report, counted, distinct
from graphmend._torch.breaks import Place, Unsupported, break_place, trial
from graphmend._torch.calls import WrappedCallback, options_of_their_own, original_of, wrap_own_callback


@dataclass(frozen=True)
class Counts:
    """What a compiled call amounts to: its graphs, the ops in them, and the distinct places that break it."""

    graphs: int
    ops: int
    places: int

    @property
    def breaks(self) -> int:
        """Graphs less one, as others count them."""
        return max(0, self.graphs - 1)

    def __str__(self) -> str:
        graphs, places, ops = (
            counted(number, noun) for number, noun in ((self.graphs, "graph"), (self.places, "place"), (self.ops, "op"))
        )
        return f"{graphs} (graphs − 1 = {self.breaks}), broken at {places}, {ops}"


@dataclass(frozen=True)
class Explanation:
    """What one call showed; print it."""

    report: Report
    # As `torch.compile` has it, and mended.
    before: Counts
    after: Counts
    # What the call raised, if it did.
    error: BaseException | None = None

    @property
    def breaks(self) -> list[Break]:
        """Each place that breaks the graph of the unmended call, mended ones first."""
        return self.report.breaks

    def __str__(self) -> str:
        head = [str(self.report).split("\n")[0], f"  torch.compile: {self.before}", f"  mended:        {self.after}"]
        if self.error is not None:
            head.append(f"  the call raised {type(self.error).__qualname__}: {self.error}")
        return "\n\n".join(["\n".join(head), *(entry.explain() for entry in distinct(self.breaks))])


def explain(model: Any, /, *args: Any, **kwargs: Any) -> Explanation:
    """Calls a model with these arguments, on copies, once plainly compiled and once mended, and says where it breaks.

    >>> print(graphmend.explain(model, x))   # doctest: +SKIP

    The backend is `eager`: nothing is generated, only captured. As with `graphmend.verify`, your model, arguments,
    module-level values and random streams stay as they are, and what the call prints or logs is not shown.
    """
    original, _ = original_of(model)
    if not callable(original):
        raise TypeError(f"graphmend: expected a module or a function, found {type(original).__qualname__}")
    before = _plain_counts(original, args, kwargs)
    world = World(original, args, kwargs)
    mended = mended_compile(world.model, backend="eager", **options_of_their_own())
    seen = _call(world, mended)
    report = getattr(mended, "report", None)
    if not isinstance(report, Report):
        # Mends are switched off.
        return Explanation(Report(name=getattr(original, "__qualname__", "")), before, before, seen.error)
    generator = _generator(original)
    if generator is not None:
        report.left.append(generator)
        report.calls = max(report.calls, 1)
        before = replace(before, places=before.places + 1)
    after = Counts(report.graphs, report.ops, len(distinct(report.left)))
    return Explanation(report, before, after, seen.error)


def _generator(original: Any) -> Break | None:
    """What is compiled, if it is a generator: Dynamo passes it over without a word."""
    function = inspect.unwrap(getattr(original, "forward", original))
    if not inspect.isgeneratorfunction(function):
        return None
    code = function.__code__
    reason = "Dynamo does not compile generators"
    return Break("Attempt to trace generator", code.co_filename, code.co_firstlineno, code.co_name, None, reason)


def _call(world: World, called: Callable[..., Any]) -> Observation:
    with world.entered():
        return observe(lambda: called(*world.args, **world.kwargs), backward=False)


def _plain_counts(original: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Counts:
    graphs: list[int] = []
    places: set[tuple[str, str, int]] = set()

    def count(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        graphs.append(sum(node.op.startswith("call") for node in graph.graph.nodes))
        forward: Callable[..., Any] = graph.forward
        return forward

    def note(place: Place) -> None:
        places.add((place.gb_type, place.file, place.line))

    world = World(original, args, kwargs)
    compiled = torch.compile(world.model, backend=count, **options_of_their_own())
    noting = wrap_own_callback(compiled, world.model, lambda inner: _NotingCallback(inner, note))
    _call(world, noting)
    return Counts(len(graphs), sum(graphs), len(places))


class _NotingCallback(WrappedCallback):
    """Compiles frames as they are, and notes where each of them breaks."""

    def __init__(self, inner: Any, note: Callable[[Place], None]) -> None:
        super().__init__(inner)
        self.note = note

    def __call__(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        try:
            with trial():
                return self.inner(frame, cache_entry, frame_state)
        except Unsupported as error:
            place = break_place(error)
            if place is not None:
                self.note(place)
        return self.inner(frame, cache_entry, frame_state)

"""What happened to a compiled call: each place that broke, with its source, and what became of it.

A report grows while its call is used, and registers itself, so that `graphmend run` finds all of a program's.
"""

import itertools
import linecache
import os
import sys
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from graphmend._files import write_whole
from graphmend._mending.scope import is_users
from graphmend._reporting.advice import advice_for
from graphmend._reporting.decisions import decision_for
from graphmend._reporting.edits import Change
from graphmend._reporting.spot import Spot, tree_of

# What the kinds of mends mean to a reader.
_DONE = {
    "postpone": "it runs after the graph, with the values of its moment",
    "check": "predicted not to happen; when it does, your own code runs",
    "select": "both sides are computed, and the right one is taken",
    "capture": "the number is a symbol in the graph",
    "speculate": "its value is predicted; when it is another, your own code runs",
    "substitute": "another call that does the same is traced",
    "setting": "traced with another setting of Dynamo's",
}

_registry: "weakref.WeakValueDictionary[int, Report]" = weakref.WeakValueDictionary()
_numbers = itertools.count()
# In a run nothing may be lost when a compiled function is dropped before the end.
_kept: "list[Report] | None" = None


@dataclass(frozen=True)
class Break:
    """A place where the graph broke before anything was mended."""

    gb_type: str
    file: str
    line: int
    function: str
    # "postpone", "check", "select", or None when it was left.
    mend: str | None
    # Why it was left.
    reason: str
    # What Dynamo says about it, in full.
    message: str = ""
    # Characters in the line, from 0; None when they are not known.
    column: int | None = None
    end_column: int | None = None
    # The marks of its mends, and what kind of mend each is of.
    sites: tuple[tuple[str, str], ...] = ()
    # File, line and function of the frames around it, the innermost first.
    around: tuple[tuple[str, int, str], ...] = ()
    # The compiled model that it is a break of, which has its own predictions; None in a report of another process.
    model: int | None = None
    # Of a speculated place in a report of another process: how often the prediction was right, of how many times.
    predictions: tuple[int, int] = (0, 0)

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    @property
    def done(self) -> str:
        """What was done about it, in a sentence; nothing when it was left."""
        return _DONE.get(self.mend, self.mend) if self.mend else ""

    @property
    def hits(self) -> tuple[int, int]:
        """Of a speculated place: how often the prediction was right, of how many times."""
        if self.mend != "speculate" or self.model is None:
            return self.predictions
        rate: tuple[int, int] = sys.modules["graphmend._mending.speculate"].rate((s for s, _ in self.sites), self.model)
        return rate

    @property
    def hit_rate(self) -> str:
        """The same for people; nothing where nothing was predicted."""
        hits, total = self.hits
        return f" ({hits} of {total} right)" if total else ""

    @property
    def advice(self) -> str:
        """What you can do about it; nothing when it is mended."""
        if self.mend:
            return ""
        return self._sentences()[1] or advice_for(self.gb_type, self.message, self.reason)

    @property
    def decides(self) -> str:
        """The decision that is yours, where Dynamo's type is one of those; nothing when it is mended."""
        return "" if self.mend else self._sentences()[0]

    @property
    def change(self) -> Change | None:
        """The smallest change of your own lines that answers the decision, where it can be told from the source."""
        decision = decision_for(self.gb_type)
        if decision is None or self.mend or not is_users(self._own()[0]):
            return None
        spot = self._spot()
        return decision.change_at(spot) if spot else None

    def _own(self) -> tuple[str, int]:
        """The innermost line that is the user's; the one that broke where none is."""
        places = [(self.file, self.line), *((file, line) for file, line, _ in self.around)]
        return next((place for place in places if is_users(place[0])), places[0])

    def _spot(self) -> Spot | None:
        own = self._own()
        columns = (self.column, self.end_column) if own == (self.file, self.line) else (None, None)
        tree = tree_of(own[0])
        return Spot(tree, own[1], self.message, *columns, bool(self.around)) if tree else None

    def _sentences(self) -> tuple[str, str]:
        decision = decision_for(self.gb_type)
        if decision is None:
            return "", ""
        decides, to_do = decision.sentences(self._spot(), linecache.getline(*self._own()))
        if not is_users(self.file) and self.change is None:
            to_do += (
                f"; it is in `{Path(self.file).name}`, which is not yours: else call it outside of the compiled part"
            )
        return decides, to_do

    def to_dict(self) -> dict[str, Any]:
        change = self.change
        fields = asdict(self)
        # Of this process alone.
        del fields["model"]
        return {
            **fields,
            "predictions": self.hits,
            "source": self.source,
            "done": self.done,
            "advice": self.advice,
            "decides": self.decides,
            "change": change.to_dict() if change else None,
        }

    def __str__(self) -> str:
        done = f"mended: {self.mend}{self.hit_rate}" if self.mend else f"left: {self.reason}"
        return f"{Path(self.file).name}:{self.line} in {self.function}: {self.gb_type}\n    {self.source}\n    {done}"

    def explain(self, context: int = 2) -> str:
        """The place with the lines around it, Dynamo's reason, and what was done, or what to decide and to do."""
        lines = [f"{shown_path(self.file)}:{self.line} in {self.function}"]
        last = min(self.line + context, len(linecache.getlines(self.file)))
        width = len(str(last))
        for number in range(max(1, self.line - context), last + 1):
            text = linecache.getline(self.file, number).rstrip()
            mark = ">" if number == self.line else " "
            lines.append(f"{mark} {number:{width}} | {text}".rstrip())
            if number == self.line and text:
                lines.append(f"  {' ' * width} | {self.carets(text)}")
        lines.append(f"  why:    {self.gb_type}")
        if self.mend:
            lines.append(f"  mended: {self.mend}: {self.done}{self.hit_rate}")
        else:
            lines.append(f"  left:   {self.reason or 'no mend is known for it'}")
            lines += [f"  decide: {self.decides}"] if self.decides else []
            lines.append(f"  to do:  {self.advice}")
            change = self.change
            if change is not None:
                lines += change.lines(width)
        return "\n".join(lines)

    def carets(self, text: str) -> str:
        """Carets under the place, for the line as it is; under all of its text when the columns are not known."""
        start = len(text) - len(text.lstrip()) if self.column is None else min(self.column, len(text))
        end = len(text) if self.end_column is None else min(max(self.end_column, start + 1), len(text))
        # A tab keeps its width below itself.
        return "".join("\t" if letter == "\t" else " " for letter in text[:start]) + "^" * (end - start)


@dataclass(eq=False)
class Report:
    """Grows while the call is used; `print` it at any time."""

    mended: list[Break] = field(default_factory=list)
    left: list[Break] = field(default_factory=list)
    # Runs of transactions (of all frames under a `Recovery`), and compilations of frames without one; not calls.
    calls: int = 0
    # Calls in which a check failed or the graph raised, and the original ran instead.
    misses: int = 0
    graphs: int = 0
    ops: int = 0
    seconds: float = 0.0
    # The qualified name of what was compiled.
    name: str = ""

    def __post_init__(self) -> None:
        _registry[next(_numbers)] = self
        if _kept is not None:
            _kept.append(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy of a compiled model has a report of its own, and predicts for itself.
        self.__dict__.update(state)
        self.mended = [replace(entry, model=None) for entry in self.mended]
        self.__post_init__()

    @property
    def breaks(self) -> list[Break]:
        return [*self.mended, *self.left]

    @property
    def is_used(self) -> bool:
        """Whether it was called; a frame that Dynamo leaves to Python counts as no call of a compiled one."""
        return self.calls > 0 or bool(self.breaks)

    @property
    def whole(self) -> bool:
        """Whether nothing is left to break the graph."""
        return self.calls > 0 and not self.left

    def take_back(self, places: Iterable[tuple[str, int]]) -> None:
        """What is mended at these files and lines is not mended in that way any more."""
        gone = set(places)
        self.mended[:] = [entry for entry in self.mended if (entry.file, entry.line) not in gone]

    def count_for_good(self) -> None:
        """Keeps how often predictions were right: they are about to be forgotten."""
        self.mended[:] = [replace(entry, model=None, predictions=entry.hits) for entry in self.mended]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the JSON report has them."""
        return {
            "name": self.name,
            "whole": self.whole,
            "calls": self.calls,
            "misses": self.misses,
            "graphs": self.graphs,
            "ops": self.ops,
            "seconds": self.seconds,
            "mended": [entry.to_dict() for entry in self.mended],
            "left": [entry.to_dict() for entry in self.left],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report to a file, whose name ends in .html, .json or .txt."""
        save(path, [self])

    def explain(self) -> str:
        """The summary, and each place with its source and what was done or what to do."""
        return "\n\n".join([self._summary(), *(entry.explain() for entry in self.breaks)])

    def _summary(self) -> str:
        head = f"graphmend: {self.name}: " if self.name else "graphmend: "
        if not self.is_used:
            return head + "not called yet"
        return head + _counts([self])

    def __str__(self) -> str:
        return "\n".join([self._summary(), *(f"  {line}" for entry in self.breaks for line in str(entry).split("\n"))])


def all_reports() -> list[Report]:
    """The reports of this process that are still in use, oldest first; in a run, all that there were."""
    return list(_kept) if _kept is not None else [report for _, report in sorted(_registry.items())]


def keep_all() -> None:
    """From now on reports outlive the compiled functions that they are about."""
    global _kept
    if _kept is None:
        _kept = [report for _, report in sorted(_registry.items())]


def report_from_dict(data: dict[str, Any]) -> Report:
    """The reverse of `Report.to_dict`."""

    def place(entry: dict[str, Any]) -> Break:
        fields = {name: entry[name] for name in Break.__dataclass_fields__ if name in entry}
        # JSON knows no tuples.
        tuples = {name: tuple(tuple(each) for each in fields[name]) for name in ("sites", "around")}
        return Break(**{**fields, **tuples, "predictions": tuple(fields["predictions"])})

    numbers = {name: data[name] for name in ("name", "calls", "misses", "graphs", "ops", "seconds")}
    return Report(mended=[place(e) for e in data["mended"]], left=[place(e) for e in data["left"]], **numbers)


def distinct(entries: Iterable[Break]) -> list[Break]:
    """Each place once: a function that is compiled twice breaks twice at the same place."""
    return list({(entry.file, entry.line, entry.gb_type, entry.mend): entry for entry in entries}.values())


def summary(reports: Sequence[Report]) -> str:
    """One line on all reports of a program, and one for each place that is left."""
    used = [report for report in reports if report.is_used]
    if not used:
        what = "nothing that was compiled was called" if reports else "torch.compile was not called"
        return f"graphmend: {what}"
    lines = [f"graphmend: {_counts(used)}"]
    for entry in distinct(entry for report in used for entry in report.left):
        lines.append(f"  left: {shown_path(entry.file)}:{entry.line} in {entry.function}: {entry.source}")
        lines.append(f"        {entry.reason or entry.gb_type}")
    return "\n".join(lines)


def explanation(reports: Sequence[Report]) -> str:
    """The summary of all reports and every place in full."""
    used = [report for report in reports if report.is_used]
    head = summary(used if used else reports).split("\n")[0]
    places = distinct(entry for report in used for entry in report.breaks)
    return "\n\n".join([head, *(entry.explain() for entry in places)])


def save(path: str | os.PathLike[str], reports: Sequence[Report], program: str = "") -> None:
    """Writes reports to one file: a page, data or text, by the end of its name. It is complete, or not there."""
    target = Path(path)
    if target.suffix == ".html":
        from graphmend._reporting.html import page

        text = page(reports, program)
    elif target.suffix == ".json":
        import json

        data = {"format": 1, "program": program, "reports": [report.to_dict() for report in reports]}
        text = json.dumps(data, indent=2) + "\n"
    elif target.suffix == ".txt":
        text = "\n\n".join(report.explain() for report in reports) + "\n" if reports else summary(reports) + "\n"
    else:
        raise ValueError(f"graphmend: a report's name ends in .html, .json or .txt, not `{target.name}`")
    write_whole(target, text)


def shown_path(file: str) -> str:
    """A path as a reader wants it: relative where it lies below the current folder."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return file


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _counts(reports: Sequence[Report]) -> str:
    mended = len(distinct(entry for report in reports for entry in report.mended))
    left = len(distinct(entry for report in reports for entry in report.left))
    graphs = sum(report.graphs for report in reports)
    ops = sum(report.ops for report in reports)
    text = (
        f"{counted(mended + left, 'place')} broke, {mended} mended, {left} left" if mended + left else "nothing broke"
    )
    text += f"; {counted(graphs, 'graph')}, {counted(ops, 'op')}"
    if len(reports) > 1:
        text += f" in {len(reports)} compiled callables"
    if mended:
        text += f"; {sum(report.seconds for report in reports):.2f} s to mend"
    misses = sum(report.misses for report in reports)
    if misses:
        text += f"; the original ran in {misses} of {counted(sum(report.calls for report in reports), 'call')}"
    return text

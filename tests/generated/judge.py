"""The verdict on one program. In: its file, a subject, a backend. Out: the differences that no known one explains.

Compared with original/eager: the original after it was compiled, mended code in eager, and mended/compiled; the last,
where the committed list names a difference of Dynamo itself, with original/compiled.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .compare import Difference, Rules, compare, compare_values
from .known_differences import Explained
from .known_program import Program
from .observe import Observation
from .run import load, run_variant
from .subject import Fired, Plain, Predicted, Subject

# The program's own functions, once they have been compiled elsewhere.
AFTERWARDS = "original/eager afterwards"
# Mended code, called outside of torch.compile.
EAGER = "mended/eager"
COMPILED = "mended/compiled"

_GRADIENT_UNITS = 16


@dataclass
class Verdict:
    """What became of one program."""

    # Unexplained differences, by comparison.
    wrong: dict[str, list[Difference]] = field(default_factory=dict)
    # Differences of Dynamo itself that mended shares, by the name in the committed list.
    known: Counter[str] = field(default_factory=Counter)
    # Places where plain torch.compile differs from eager and the subject does not.
    better: Counter[str] = field(default_factory=Counter)
    fired: Fired = field(default_factory=Fired)
    predicted: Predicted = field(default_factory=Predicted)
    # Exceptions that the original raised in eager, by type.
    raised: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    events: int = 0
    seconds: float = 0.0
    # Whether graphmend has mended anything; plain torch.compile is measured by the list alone.
    is_mended: bool = True
    # Set when the program did not run to its end.
    crash: str = ""

    @property
    def kind(self) -> str:
        """The kind of failure: equal for failures that are the same. Empty when all is well."""
        if self.crash:
            return f"crash: {self.crash.splitlines()[0]}"
        for comparison, differences in self.wrong.items():
            if differences:
                return f"{comparison} {differences[0].place}"
        return ""


def judge(path: Path, subject: Subject, backend: str) -> Verdict:
    """Runs the variants of the program in `path` and compares them."""
    started = time.process_time()
    verdict = Verdict()
    rules = Rules(
        tolerance=2e-3 if backend == "inductor" or (backend != "eager" and _is_recurrent(path)) else 0.0,
        gradient_units=_GRADIENT_UNITS if backend == "aot_eager" else 0,
    )
    # Without collections what this makes stays young, and is gone after a cheap one: a second module from the same
    # file must not be found by what looks for live functions.
    gc.disable()
    original = load(path)
    expected = run_variant(original, lambda target: target, path)
    verdict.calls = len(expected)
    verdict.events = sum(len(seen.events) for seen in expected)
    verdict.raised.update(seen.error["type"] for seen in expected if seen.error)
    dynamic = original.SETTINGS["dynamic"]
    del original
    gc.collect(0)
    gc.enable()
    made: list[Any] = []

    def compile_target(target: Any) -> Any:
        made.append(subject.compile(target, backend, dynamic))
        return made[-1]

    module = load(path, subject.transform)
    seen = run_variant(module, compile_target, path, made.append)
    for compiled in made:
        one = subject.fired(compiled)
        verdict.fired.mended.update(one.mended)
        verdict.fired.left.update(one.left)
        verdict.fired.misses += one.misses
    verdict.is_mended = subject.name == "plain" or bool(verdict.fired.mended)
    verdict.predicted = subject.predicted()
    verdict.wrong[AFTERWARDS] = compare(expected, run_variant(module, lambda target: target, path), Rules())
    mended = subject.mended(module)
    if mended is not None:
        with mended:
            verdict.wrong[EAGER] = compare(expected, run_variant(module, lambda target: target, path), Rules())
    subject.release()
    # A gradient comes out of `torch.where` in memory of its own, where it may have been one number for all; what adds
    # it up goes through it in another order.
    joined = replace(rules, gradient_units=_GRADIENT_UNITS) if verdict.fired.mended["select"] else rules
    differences = compare(expected, seen, joined)
    if differences:
        plain = seen if subject.name == "plain" else _plain(path, backend, dynamic)
        differences = _unexplained(path, expected, plain, seen, differences, rules, verdict)
    verdict.wrong[COMPILED] = differences
    verdict.seconds = time.process_time() - started
    return verdict


def _is_recurrent(path: Path) -> bool:
    """Whether there is a layer that AOTAutograd takes apart, into operations that round otherwise."""
    return "self.cell = " in path.read_text(encoding="utf-8")


def _plain(path: Path, backend: str, dynamic: bool | None) -> list[Observation]:
    plain = Plain()
    module = load(path)
    seen = run_variant(module, lambda target: plain.compile(target, backend, dynamic), path)
    plain.release()
    return seen


def _unexplained(
    path: Path,
    expected: list[Observation],
    plain: list[Observation],
    seen: list[Observation],
    differences: list[Difference],
    rules: Rules,
    verdict: Verdict,
) -> list[Difference]:
    """The differences that no entry of the committed list explains."""
    from_plain = {d.path: d for d in compare(expected, plain, rules)}
    text = path.read_text(encoding="utf-8")
    breaks_left = bool(verdict.fired.left)
    explained = Explained(Program(text, expected, plain, seen, rules, breaks_left, verdict.is_mended))
    rest: list[Difference] = []
    for difference in differences:
        own = from_plain.get(difference.path)
        # Not Dynamo's doing unless plain torch.compile gives the very same value here. How a break shows depends on
        # where the breaks are, so there it is enough that some are left.
        same = own is not None and not compare_values(own.seen, difference.seen, rules)
        by_break = _same_error(difference, plain, seen)
        names = [
            known.name
            for known in explained.entries(difference)
            if same or known.anywhere or ((known.shows_breaks or by_break) and breaks_left)
        ]
        if names:
            verdict.known[names[0]] += 1
        else:
            rest.append(difference)
    return rest


def _same_error(difference: Difference, plain: list[Observation], seen: list[Observation]) -> bool:
    """Whether only the frames differ of an exception that plain torch.compile raises as well."""
    call = difference.path[0]
    assert isinstance(call, int)
    errors = [observations[call].error for observations in (plain, seen)]
    kinds = [error and (error["type"], repr(error["args"])) for error in errors]
    # Where eager raises nothing, the difference is the whole of the exception.
    return difference.place in ("error", "error.frames") and kinds[0] is not None and kinds[0] == kinds[1]

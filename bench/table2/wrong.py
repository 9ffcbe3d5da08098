"""The rows when predictions are wrong: other inputs and weights, and each prediction made to fail; compared with eager.

    python -m bench.table2.wrong [--programs t5 bart …] [--output bench/results/table2_wrong.md]

In: programs.py, wrong_inputs.py. Out: a table: calls with other inputs or weights and calls in which one prediction was
made to fail, how many of them ran the program as it was written, and how many gave something else than eager, bit by
bit (none is right); and of each line that predicts, how often it was right, or why no input can make it wrong.
"""

import argparse
import contextlib
import copy
import linecache
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._dynamo
from torch import Tensor, nn

from bench.page import Page
from bench.table2 import compare, mended
from bench.table2.paths import short
from bench.table2.programs import PROGRAMS
from bench.table2.wrong_inputs import CASES, Case
from graphmend._mending import mended_code, speculate
from graphmend._mending.transaction import Plan


def other_values(value: Tensor) -> Iterator[Tensor]:
    """Tensors of the same shape that a program may well be given: masks that end earlier, other words, other sounds."""
    if value.is_floating_point():
        yield from (value * 3, -value, torch.zeros_like(value))
        yield torch.where(torch.arange(value.numel()).reshape(value.shape) == 0, torch.inf, value)
        return
    yield value.flip(-1)
    half = value.clone()
    half[..., value.shape[-1] // 2 :] = 0
    yield half
    first = torch.zeros_like(value)
    first[..., :1] = value[..., :1]
    yield first


def longer(inputs: dict[str, Any]) -> dict[str, Any]:
    """A text of three times the length, with all that is said of its words."""
    return {
        name: torch.cat([value] * 3, 1) if isinstance(value, Tensor) and value.dtype == torch.long else value
        for name, value in inputs.items()
    }


def other_inputs(exchanged: Iterable[str], inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each of these inputs exchanged for others, and between them the ones that were learnt from."""
    for name in exchanged:
        value = inputs[name]
        if isinstance(value, Tensor) and value.dim() > 0:
            for other in other_values(value):
                yield {**inputs, name: other}
                yield inputs
    yield longer(inputs)
    yield inputs


class Rival:
    """A program in eager and its mended twin; counts the calls and those that are different."""

    def __init__(self, case: Case) -> None:
        torch._dynamo.reset()
        speculate.sites.clear()
        torch.manual_seed(0)
        self.eager, self.own_inputs = PROGRAMS[case.program].build()
        self.inputs = case.given(self.own_inputs)
        self.eager.eval()
        self.twin = copy.deepcopy(self.eager)
        self.compiled = mended.compile_model(self.twin, backend="eager")
        self.calls = 0
        self.different: list[str] = []

    def call(self, inputs: dict[str, Any]) -> None:
        self.calls += 1
        expected = self._seen(self.eager, self.eager, inputs)
        found = compare.compare(expected, self._seen(self.compiled, self.twin, inputs))
        if found:
            self.different.append(found[0])

    @contextlib.contextmanager
    def with_weights_times(self, factor: float, only: str | None = None) -> Iterator[None]:
        """Inside, what is computed may be more than a number in half precision can be."""
        named = [*self.eager.named_parameters(), *self.twin.named_parameters()]
        weights = [weight for name, weight in named if only in (None, name)]
        kept = [each.detach().clone() for each in weights]
        with torch.no_grad():
            torch._foreach_mul_(weights, factor)
        yield
        with torch.no_grad():
            torch._foreach_copy_(weights, kept)

    def _seen(self, run: Callable[..., Any], model: nn.Module, inputs: dict[str, Any]) -> compare.Flat:
        torch.manual_seed(1)
        with torch.no_grad():
            try:
                output = run(**copy.deepcopy(inputs))
            except Exception as error:
                output = (type(error).__qualname__, str(error))
        return compare.flatten({"output": output, "buffers": dict(model.named_buffers())})


class Looking:
    """Inside, counts by prediction how often a graph that was given up for a wrong one had another value there. The
    first of them is what graphmend counts as wrong; those behind it may come of it."""

    def __init__(self) -> None:
        self.wrong: Counter[str] = Counter()

    def __enter__(self) -> "Looking":
        learn = Plan._learn

        def looking(plan: Plan, results: Sequence[Any]) -> bool:
            values = [(seen.key, seen.text, speculate.python_value(results[seen.value])) for seen in plan.seen]
            self.wrong.update(key for key, text, value in values if speculate.encode(value) != text)
            return learn(plan, results)

        self.patch = mock.patch.object(Plan, "_learn", looking)
        self.patch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.patch.stop()


class Failing:
    """Inside, whatever is compiled looks here for the number of the check that finds another value than predicted."""

    check: int | None = None

    def __enter__(self) -> "Failing":
        run = Plan.run

        def tampered(plan: Plan, compiled: Callable[..., Any], *args: Any) -> Any:
            def other(*given: Any) -> Any:
                results = list(compiled(*given))
                if self.check is not None and self.check < len(plan.seen):
                    assert plan.flag is not None
                    results[plan.flag] = torch.tensor(True)
                    value = results[plan.seen[self.check].value]
                    results[plan.seen[self.check].value] = ~value if value.dtype == torch.bool else value + 1
                return tuple(results)

            return run(plan, other, *args)

        self.patch = mock.patch.object(Plan, "run", tampered)
        self.patch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.patch.stop()


@dataclass
class Line:
    """What became of all predictions of one line."""

    file: str
    number: int
    predictions: int = 0
    first: int = 0
    behind: int = 0
    right: int = 0
    looked_at: int = 0

    def cells(self, never: str) -> tuple[object, ...]:
        source = linecache.getline(self.file, self.number).strip().replace("|", "\\|")
        share = f"{self.right} of {self.looked_at}"
        place = f"{short(self.file).rpartition('/')[2]}:{self.number} `{source}`"
        return (place, self.predictions, self.first, self.behind, share, never)


def lines_of(wrong: Counter[str]) -> list[Line]:
    """The lines that predict, in order."""
    lines: dict[tuple[str, int], Line] = {}
    for key, site in speculate.sites.items():
        place = mended_code.broken[speculate.site_of(key)]
        line = lines.setdefault((place.file, place.line), Line(place.file, place.line))
        line.predictions += 1
        line.first += site.misses > 0
        line.behind += not site.misses and wrong[key] > 0
        line.right += site.hits
        line.looked_at += site.hits + site.misses
    return [lines[place] for place in sorted(lines)]


def call_with_others(rival: Rival, case: Case) -> None:
    """All inputs that are exchanged, and the weights; between them the ones that were learnt from."""
    for _ in range(2):
        rival.call(rival.inputs)
    for inputs in case.others(rival.inputs):
        rival.call(inputs)
        rival.call(rival.inputs)
    for name, factor in case.spoilt:
        with rival.with_weights_times(factor, name):
            rival.call(rival.inputs)
        rival.call(rival.inputs)
    if case.title:
        # The program's other inputs have been exchanged in the case of its own.
        return
    for inputs in other_inputs(rival.own_inputs, rival.inputs):
        rival.call(inputs)
    with rival.with_weights_times(4096.0):
        rival.call(rival.inputs)
    rival.call(rival.inputs)


def call_failing(case: Case, predicted: int) -> Rival:
    """Each prediction is made to fail once."""
    with Failing() as failing:
        rival = Rival(case)
        for check in range(predicted):
            for number in (None, None, check):
                failing.check = number
                rival.call(rival.inputs)
    return rival


@dataclass
class Row:
    """The numbers of one case, and the lines that predict in it."""

    cells: tuple[object, ...]
    lines: list[Line]
    different: int
    # Lines with predictions that are always right, though nothing says why.
    unexplained: list[str]


def row(case: Case) -> Row:
    name = f"{case.program}, {case.title}" if case.title else case.program
    with Looking() as looking:
        with_inputs = Rival(case)
        call_with_others(with_inputs, case)
    lines = lines_of(looking.wrong)
    sums = [sum(getattr(line, part) for line in lines) for part in ("predictions", "first", "behind")]
    forced = call_failing(case, sums[0])
    for text in (*with_inputs.different, *forced.different):
        print(f"{name}: {text}", file=sys.stderr)
    ran = [rival.compiled.report.misses for rival in (with_inputs, forced)]  # type: ignore[attr-defined]
    cells = (
        *(name, *sums, with_inputs.calls, ran[0], len(with_inputs.different)),
        *(forced.calls, ran[1], len(forced.different)),
    )
    unexplained = [
        f"{name}: line {line.number} is always right, and nothing says why"
        for line in lines
        if line.first < line.predictions and line.number not in case.never
    ]
    return Row(cells, lines, len(with_inputs.different) + len(forced.different), unexplained)


def table_of_lines(rows: Sequence[tuple[Case, Row]]) -> str:
    """Where predictions are made, and what became of them with other inputs and weights."""
    head = "program|line that predicts|predictions|wrong|only behind a wrong one|right|why not all are wrong".split("|")
    found: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for case, one in rows:
        for line in one.lines:
            never = case.never.get(line.number, "") if line.first < line.predictions else ""
            found[str(one.cells[0])].append(line.cells(never))
    rest = [(name if not i else "", *cells) for name, lines in found.items() for i, cells in enumerate(lines)]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in (head, ["---"] * len(head), *rest))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    about = (
        f"`python -m bench.table2.wrong` with torch {torch.__version__}. Each input of a program is exchanged for "
        "others of the same shape: such as make its predictions wrong (positions further back, global words, special "
        "words at other places, heads that give no numbers), and masks that end earlier, other words, other sounds; "
        "then its text for one of three times the length, and its weights for larger ones or such as are no numbers; "
        "between them come those that it learnt from. And each prediction is made to fail once. All on backend eager; "
        "outputs and buffers are compared with eager bit by bit. A call looks at its predictions in order: the first "
        "wrong one counts, and the program runs as it was written; those behind it are often the same number again."
    )
    columns = (
        "program",
        "predictions",
        "wrong by inputs or weights",
        "only behind a wrong one",
        "calls with other inputs and weights",
        "ran as written",
    )
    more = ("different", "calls with forced failures", "ran as written", "different")
    page = Page("The paper's rows when predictions are wrong", about, columns + more, options.output)
    rows = []
    for case in CASES:
        if case.program in options.programs:
            rows.append((case, row(case)))
            page.add(rows[-1][1].cells)
    page.end(table_of_lines(rows))
    unexplained = [text for _, one in rows for text in one.unexplained]
    print(*unexplained, sep="\n", file=sys.stderr)
    return 1 if unexplained or any(one.different for _, one in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

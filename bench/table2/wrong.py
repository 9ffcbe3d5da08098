"""The rows when predictions are wrong: other inputs and weights, and each prediction made to fail; compared with eager.

    python -m bench.table2.wrong [--programs t5 bart …] [--output bench/results/table2_wrong.md]

In: programs.py. Out: a table: calls with other inputs or weights and calls in which one prediction was made to fail,
how many of them ran the program as it was written, and how many gave something else than eager, bit by bit (none is
right).
"""

import argparse
import contextlib
import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._dynamo
from torch import Tensor

from bench.page import Page
from bench.table2 import compare, mended
from bench.table2.programs import PROGRAMS
from graphmend._mending import speculate
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


def other_inputs(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each input exchanged for others, and between them the ones that were learnt from."""
    for name, value in inputs.items():
        if isinstance(value, Tensor) and value.dim() > 0:
            for other in other_values(value):
                yield {**inputs, name: other}
                yield inputs
    yield longer(inputs)
    yield inputs


class Rival:
    """A program in eager and its mended twin; counts the calls and those that are different."""

    def __init__(self, name: str) -> None:
        torch._dynamo.reset()
        speculate.sites.clear()
        torch.manual_seed(0)
        self.eager, self.inputs = PROGRAMS[name].build()
        self.eager.eval()
        self.twin = copy.deepcopy(self.eager)
        self.compiled = mended.compile_model(self.twin, backend="eager")
        self.calls = 0
        self.different: list[str] = []

    def call(self, inputs: dict[str, Any]) -> None:
        self.calls += 1
        expected, seen = (self._seen(model, inputs) for model in (self.eager, self.compiled))
        found = compare.compare(expected, seen)
        if found:
            self.different.append(found[0])

    @contextlib.contextmanager
    def with_large_weights(self) -> Iterator[None]:
        """Inside, what is computed may be more than a number in half precision can be."""
        weights = [*self.eager.parameters(), *self.twin.parameters()]
        kept = [each.detach().clone() for each in weights]
        with torch.no_grad():
            torch._foreach_mul_(weights, 4096.0)
        yield
        with torch.no_grad():
            torch._foreach_copy_(weights, kept)

    def _seen(self, model: Callable[..., Any], inputs: dict[str, Any]) -> compare.Flat:
        torch.manual_seed(1)
        with torch.no_grad():
            try:
                return compare.flatten(model(**copy.deepcopy(inputs)))
            except Exception as error:
                return compare.flatten((type(error).__qualname__, str(error)))


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


def row(name: str) -> tuple[Any, ...]:
    with_inputs = Rival(name)
    for _ in range(2):
        with_inputs.call(with_inputs.inputs)
    for inputs in other_inputs(with_inputs.inputs):
        with_inputs.call(inputs)
    with with_inputs.with_large_weights():
        with_inputs.call(with_inputs.inputs)
    with_inputs.call(with_inputs.inputs)
    predicted = len(speculate.sites)
    wrong = sum(site.misses > 0 for site in speculate.sites.values())
    with Failing() as failing:
        forced = Rival(name)
        for check in range(predicted):
            for number in (None, None, check):
                failing.check = number
                forced.call(forced.inputs)
    for text in (*with_inputs.different, *forced.different):
        print(f"{name}: {text}", file=sys.stderr)
    ran = [rival.compiled.report.misses for rival in (with_inputs, forced)]  # type: ignore[attr-defined]
    return (
        *(name, predicted, wrong, with_inputs.calls, ran[0], len(with_inputs.different)),
        *(forced.calls, ran[1], len(forced.different)),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    about = (
        f"`python -m bench.table2.wrong` with torch {torch.__version__}. Each input of a program is exchanged for "
        "others that it may well be given, then its text for one of three times the length, then its weights for "
        "larger ones, and each prediction is made to fail once, on backend eager; results are compared with eager bit "
        "by bit."
    )
    columns = (
        "program",
        "predictions",
        "wrong for some of them",
        "calls with other inputs and weights",
        "ran as written",
    )
    more = ("different", "calls with forced failures", "ran as written", "different")
    page = Page("The paper's rows when predictions are wrong", about, columns + more, options.output)
    different = 0
    for name in options.programs:
        cells = row(name)
        page.add(cells)
        different += cells[5] + cells[8]
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

"""What predictions cost and bring: values that stay, take turns, are rare, or are never the same, in one run.

    python -m bench.speculation [--calls 1000] [--rows 128 1024] [--output bench/results/speculation.md]

In: nothing. Out: a table: seconds to compile and seconds of all calls, torch.compile beside graphmend.compile, with how
often predictions were right. Left out: the GPU, where a break also costs a synchronisation (see gpu_guards).
"""

import argparse
import functools
import itertools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

import graphmend
from bench.machine import machine
from bench.page import Page
from graphmend._mending import speculate

_WIDTH = 512

# By call: the value that Python needs.
PATTERNS: dict[str, Callable[[int], int]] = {
    "always the same": lambda call: 3,
    "two that take turns": lambda call: 2 + call % 2,
    "one in ten is another": lambda call: 2 if call % 10 == 9 else 3,
    "one in forty is another": lambda call: 2 if call % 40 == 39 else 3,
    "twenty times the same": lambda call: 2 + call // 20 % 3,
    "never the same twice": lambda call: 1 + call * 7919 % 61,
}


class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Layers before and after a number that Python itself needs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(_WIDTH, _WIDTH)
        self.second = torch.nn.Linear(_WIDTH, _WIDTH)

    def forward(self, x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x)).sin() + 1
        parts = [y.sum(0)] * int(count.max())
        return torch.relu(self.second(y)).cos() + torch.stack(parts).mean(0)


def measured(
    makes: Mapping[str, Callable[..., Any]], pattern: Callable[[int], int], calls: int, rows: int
) -> dict[str, list[float]]:
    """For each way of compiling: seconds of the calls in which something was compiled, and of the others.

    They take turns, and each is as often the first, so that whatever else the machine does is the same for all.
    """
    torch._dynamo.reset()
    speculate.sites.clear()
    x = torch.randn(rows, _WIDTH)
    compiled = {}
    for name, make in makes.items():
        torch.manual_seed(0)
        compiled[name] = make(Model())
    seconds = {name: [0.0, 0.0] for name in makes}
    stats = torch._dynamo.utils.counters["stats"]
    with torch.no_grad():
        for call in range(calls):
            count = torch.tensor([pattern(call)])
            for name, model in sorted(compiled.items(), reverse=bool(call % 2)):
                before = stats["unique_graphs"]
                started = time.perf_counter()
                model(x, count)
                took = time.perf_counter() - started
                seconds[name][stats["unique_graphs"] == before] += took
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[128, 1024], help="of the input: short and long calls")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    torch.set_num_threads(1)

    makes = {
        "plain": functools.partial(torch.compile, backend=options.backend),
        "mended": functools.partial(graphmend.compile, backend=options.backend),
    }
    command = f"python -m bench.speculation --calls {options.calls} --backend {options.backend}"
    columns = (
        "rows",
        "values",
        "torch.compile: compiling, calls, s",
        "graphmend.compile: the same",
        "calls, ratio",
        "with compiling",
        "right, wrong",
    )
    about = f"`{command}` on {machine()}, torch {torch.__version__}."
    page = Page("Predictions", about, columns, options.output)
    # Once for what torch loads and what its caches keep.
    measured(makes, PATTERNS["always the same"], 3, options.rows[0])
    for rows, (name, pattern) in itertools.product(options.rows, PATTERNS.items()):
        seconds = measured(makes, pattern, options.calls, rows)
        sites = list(speculate.sites.values())
        right = f"{sum(site.hits for site in sites)}, {sum(site.misses for site in sites)}"
        right += ", given up" if any(site.given_up for site in sites) else ""
        both = [f"{compiling:.2f}, {running:.2f}" for compiling, running in seconds.values()]
        ratios = (seconds["mended"][1] / seconds["plain"][1], sum(seconds["mended"]) / sum(seconds["plain"]))
        page.add((rows, name, *both, *(f"{ratio:.2f}" for ratio in ratios), right))
    page.end(
        "A prediction that is wrong costs about two calls, so a place whose predictions are wrong more often than once "
        "in 32 calls is given up, and then the break is back as in plain `torch.compile`: the calls cost the same. "
        "What giving up costs more is compiling, since whole graphs were made first; it is the same however long the "
        "calls are, and however many follow. A whole graph brings this model nothing on a processor."
    )


if __name__ == "__main__":
    main()

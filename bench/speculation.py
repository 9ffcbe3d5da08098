"""What predictions cost and bring: values that stay, take turns, are rare, or are never the same, in one run.

    python -m bench.speculation [--calls 1000] [--output bench/results/speculation.md]

In: nothing. Out: a table: seconds to compile and seconds of all calls, torch.compile beside graphmend.compile, with how
often predictions were right. Left out: the GPU, where a break also costs a synchronisation (see gpu_guards).
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

import graphmend
from bench.machine import machine
from bench.page import Page
from graphmend._mending import speculate

_WIDTH = 256

# By call: the value that Python needs.
PATTERNS: dict[str, Callable[[int], int]] = {
    "always the same": lambda call: 3,
    "two that take turns": lambda call: 2 + call % 2,
    "one in ten is another": lambda call: 2 if call % 10 == 9 else 3,
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


def measured(make: Callable[..., Any], pattern: Callable[[int], int], calls: int) -> dict[str, Any]:
    """Seconds of the calls in which something was compiled, and of the others."""
    torch._dynamo.reset()
    speculate.sites.clear()
    torch.manual_seed(0)
    model, x = Model(), torch.randn(64, _WIDTH)
    compiled = make(model)
    compiling = running = 0.0
    graphs = -1
    with torch.no_grad():
        for call in range(calls):
            count = torch.tensor([pattern(call)])
            started = time.perf_counter()
            compiled(x, count)
            seconds = time.perf_counter() - started
            now = torch._dynamo.utils.counters["stats"]["unique_graphs"]
            if now != graphs:
                compiling += seconds
            else:
                running += seconds
            graphs = now
    sites = list(speculate.sites.values())
    return {
        "compiling": compiling,
        "running": running,
        "hits": sum(site.hits for site in sites),
        "misses": sum(site.misses for site in sites),
        "given_up": sum(site.given_up for site in sites),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    torch.set_num_threads(1)

    def plain(model: Any) -> Any:
        return torch.compile(model, backend=options.backend)

    def mended(model: Any) -> Any:
        return graphmend.compile(model, backend=options.backend)

    command = f"python -m bench.speculation --calls {options.calls} --backend {options.backend}"
    columns = (
        "values",
        "torch.compile: compiling, calls, s",
        "graphmend.compile: the same",
        "calls, ratio",
        "right, wrong",
    )
    about = f"`{command}` on {machine()}, torch {torch.__version__}."
    page = Page("Predictions", about, columns, options.output)
    # Once for what torch loads and what its caches keep.
    for make in (plain, mended):
        measured(make, PATTERNS["always the same"], 3)
    for name, pattern in PATTERNS.items():
        before, after = (measured(make, pattern, options.calls) for make in (plain, mended))
        right = f"{after['hits']}, {after['misses']}" + (", given up" if after["given_up"] else "")
        both = [f"{each['compiling']:.2f}, {each['running']:.2f}" for each in (before, after)]
        page.add((name, *both, f"{after['running'] / before['running']:.2f}", right))


if __name__ == "__main__":
    main()

"""What `graphmend.compile` costs where there is nothing to mend, beside `torch.compile`, in one run.

First calls are measured in processes of their own, in turn; later calls in one process, in turn, so that both see the
same machine. The result is ratios and differences, in bench/results/compile_cost.md.
"""

import argparse
import gc
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def model() -> Any:
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval()


def compiler(name: str) -> Any:
    if name == "graphmend":
        import graphmend

        return graphmend.compile
    import torch

    return torch.compile


def first_call(name: str, backend: str) -> float:
    """Seconds of CPU time of the first call, in this process."""
    import torch

    compiled = compiler(name)(model(), backend=backend)
    inputs = torch.ones(2, 8, 64)
    with torch.no_grad():
        started = time.process_time()
        compiled(inputs)
        return time.process_time() - started


def measure_first(backend: str, repeats: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {"torch": [], "graphmend": []}
    for _ in range(repeats):
        for name, values in seconds.items():
            command = [sys.executable, __file__, "--first", name, "--backend", backend]
            values.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]))
    return seconds


def measure_later(calls: int) -> dict[str, float]:
    """Microseconds of a later call of a small function; the least of many rounds, taken in turn."""
    import torch

    def step(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def other(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    compiled = {"torch": torch.compile(step, backend="eager")}
    import graphmend

    compiled["graphmend"] = graphmend.compile(other, backend="eager")
    x = torch.ones(4)
    best = dict.fromkeys(compiled, float("inf"))
    for _ in range(30):
        for name, function in compiled.items():
            function(x)
            started = time.perf_counter()
            for _ in range(calls):
                function(x)
            best[name] = min(best[name], (time.perf_counter() - started) / calls * 1e6)
    return best


def measure_leak(calls: int) -> tuple[int, int]:
    """Objects and bytes that are there after many calls of a mended function and were not before."""
    import torch

    import graphmend

    lines: list[str] = []

    class Sink:
        def write(self, text: str) -> int:
            return len(text)

    def guarded(x: torch.Tensor) -> torch.Tensor:
        if x.sum() < 0:
            raise ValueError("negative")
        print("sum", x.sum())
        return x * 2

    compiled = graphmend.compile(guarded, backend="eager")
    x = torch.ones(4)
    import contextlib
    import resource

    with contextlib.redirect_stdout(Sink()):  # type: ignore[type-var]
        for _ in range(calls // 10):
            compiled(x)
        gc.collect()
        objects, memory = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(calls):
            compiled(x)
        gc.collect()
    del lines
    return (
        len(gc.get_objects()) - objects,
        (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", choices=("torch", "graphmend"), help="only the first call, in this process")
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--calls", type=int, default=100_000, help="of a mended function, looking for leaks")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compile_cost.md")
    arguments = parser.parse_args()
    if arguments.first:
        print(first_call(arguments.first, arguments.backend))
        return
    rows = ["| what | torch.compile | graphmend.compile | |", "|---|---:|---:|---:|"]
    for backend in ("eager", "inductor"):
        seconds = measure_first(backend, arguments.repeats)
        ours, theirs = (statistics.median(seconds[name]) for name in ("graphmend", "torch"))
        least = min(seconds["graphmend"]) / min(seconds["torch"]) - 1
        rows.append(
            f"| first call, backend {backend}, s of CPU (median of {arguments.repeats}) "
            f"| {theirs:.3f} | {ours:.3f} | {100 * (ours / theirs - 1):+.1f} % (of the least: {100 * least:+.1f} %) |"
        )
    later = measure_later(2000)
    rows.append(
        f"| later call of a small function, µs (least of 30 rounds) | {later['torch']:.2f} | {later['graphmend']:.2f} "
        f"| {later['graphmend'] - later['torch']:+.2f} µs |"
    )
    objects, size = measure_leak(arguments.calls)
    rows.append(
        f"| {arguments.calls:,} calls of a mended function | | {objects:+d} objects, {size >> 10:+d} KiB at most | |"
    )
    text = (
        "# What graphmend.compile costs where there is nothing to mend\n\n"
        "Made by `make bench-compile`; a transformer encoder of four small layers, nothing in it breaks.\n\n"
        + "\n".join(rows)
        + "\n"
    )
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()

"""What `graphmend.compile` costs where there is nothing to mend, beside `torch.compile`, in one run.

First calls are measured in processes of their own, in turn; later calls in one process, in turn, so that both see the
same machine. Then a mended function is called many times, and what it left behind is counted. The result is ratios and
differences, in bench/results/compile_cost.md.
"""

import argparse
import contextlib
import gc
import itertools
import os
import platform
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.machine import machine

ROOT = Path(__file__).resolve().parent.parent


def model() -> Any:
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval()


def compiler(name: str) -> Any:
    import torch

    import graphmend

    return graphmend.compile if name == "graphmend" else torch.compile


def small(x: Any) -> Any:
    return x.relu() + 1


def first_call(name: str, backend: str, is_warm: bool) -> float:
    """Seconds of CPU time of `compile` and the first call, in this process; `is_warm`: it has compiled before.

    Both processes import the same before the clock runs: what else is in memory matters more than what is measured.
    """
    import torch

    import graphmend  # noqa: F401

    compiled_model, inputs = model(), torch.ones(2, 8, 64)
    if is_warm:
        compiler(name)(small, backend=backend)(torch.ones(3))
    # Else it is chance in which of the two a collection of all that was imported falls.
    gc.collect()
    gc.freeze()
    with torch.no_grad():
        started = time.process_time()
        compiler(name)(compiled_model, backend=backend)(inputs)
        return time.process_time() - started


def measure_first(backend: str, is_warm: bool, repeats: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {"torch": [], "graphmend": []}
    with tempfile.TemporaryDirectory() as cache:
        # One cache for both, filled before the clock counts: what is left of Inductor is the same for both. So with
        # Python's own cache of what it compiled, which users have.
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": f"{cache}/python"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(repeats + 1):
            for name, values in seconds.items():
                command = [sys.executable, "-m", "bench.compile_cost", "--first", name, "--backend", backend]
                command += ["--warm"] if is_warm else []
                environment["PYTHONHASHSEED"] = str(turn)
                done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
                if turn:
                    values.append(float(done.stdout.split()[-1]))
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

    def guarded(x: torch.Tensor) -> torch.Tensor:
        if x.sum() < 0:
            raise ValueError("negative")
        print("sum", x.sum())
        return x * 2

    compiled = graphmend.compile(guarded, backend="eager", fullgraph=True)
    x = torch.ones(4)

    def call(times: int) -> tuple[int, int]:
        for _ in range(times):
            compiled(x)
        gc.collect()
        return len(gc.get_objects()), resident()

    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        call(calls // 10)
        # Once more: what counts makes objects, too.
        before = call(1)
        after = call(calls)
    assert compiled.report.mended and not compiled.report.left
    return after[0] - before[0], after[1] - before[1]


def resident() -> int:
    """Bytes of memory that this process has now; its peak would hide what leaks below the one of compiling."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", choices=("torch", "graphmend"), help="only the first call, in this process")
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--warm", action="store_true", help="with --first: in a process that has compiled before")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--calls", type=int, default=100_000, help="of a mended function, looking for leaks")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compile_cost.md")
    arguments = parser.parse_args()
    if arguments.first:
        print(first_call(arguments.first, arguments.backend, arguments.warm))
        return
    import torch

    where = f"{machine()}. CPython {platform.python_version()}; torch {torch.__version__}."
    rows = ["| what | torch.compile | graphmend.compile | |", "|---|---:|---:|---:|"]
    for backend, is_warm in itertools.product(("eager", "inductor"), (False, True)):
        seconds = measure_first(backend, is_warm, arguments.repeats)
        ours, theirs = (statistics.median(seconds[name]) for name in ("graphmend", "torch"))
        least = min(seconds["graphmend"]) / min(seconds["torch"]) - 1
        rows.append(
            f"| {'a later model of' if is_warm else 'first in'} a process, backend {backend} | {theirs:.3f} s "
            f"| {ours:.3f} s | {100 * (ours / theirs - 1):+.1f} % (of the least: {100 * least:+.1f} %) |"
        )
    later = measure_later(2000)
    more = later["graphmend"] - later["torch"]
    rows.append(
        f"| later call of a small function (least of 30 rounds) | {later['torch']:.2f} µs "
        f"| {later['graphmend']:.2f} µs | {more:+.2f} µs ({100 * more / later['torch']:+.1f} %) |"
    )
    objects, size = measure_leak(arguments.calls)
    rows.append(f"| {arguments.calls:,} calls of a mended function | | {objects:+d} objects, {size:+,d} bytes | |")
    command = shlex.join(["python", "-m", "bench.compile_cost", *sys.argv[1:]])
    text = (
        "# What graphmend.compile costs where there is nothing to mend\n\n"
        f"Written by `make bench-compile` (`{command}`); do not edit.\n\n"
        f"{where}\n"
        "First in a process, or after another function was compiled: seconds of CPU of `compile(model)` and the first\n"
        f"call, in processes of their own, in turn (medians of {arguments.repeats}). The model: a transformer encoder\n"
        "of four small layers in which nothing breaks; the caches of Inductor and of Python's bytecode are warm.\n"
        "Bytes: the memory of the process, which grows in pages.\n\n" + "\n".join(rows) + "\n"
    )
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()

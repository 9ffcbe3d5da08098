"""Rebuilds the paper's offline rows and prints what plain, Dynamo's own settings and mended make of them.

    python -m bench.table2.run [--programs t5 bart …] [--train] [--columns plain mended] [--jobs 2]
        [--backend inductor]

In: programs.py. Out: a summary on stdout, bench/results/table2.md and .json (on Inductor table2_inductor.md and .json).
Left out: the rows that need remote code.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
RESULTS = HERE.parent / "results"
NEEDED = ("torch", "transformers")


def installed() -> dict[str, str]:
    """Versions of what is needed; says what is missing and ends."""
    found = {}
    for name in NEEDED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            sys.exit(f"bench/table2: {name} is not installed for {sys.executable}; run this with a Python that has it")
    return found


def environment(memory: Path | None = None) -> dict[str, str]:
    """For the workers: no network, this package, and the graphmend of this checkout when none is installed."""
    # The programs are so small that a second thread only waits for the first.
    variables = {"OMP_NUM_THREADS": "1", **os.environ, "HF_HUB_OFFLINE": "1"}
    own = [] if importlib.util.find_spec("graphmend") else [str(REPOSITORY / "python")]
    paths = [*own, os.environ.get("PYTHONPATH", ""), str(REPOSITORY)]
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    variables |= {"GRAPHMEND_REMEMBER": str(int(bool(memory))), "GRAPHMEND_CACHE_DIR": str(memory or "")}
    return variables


def work(arguments: list[str], out: Path, limit: float, memory: Path | None = None) -> dict[str, Any]:
    """One worker process: its result, or {"failed": why}. `memory`: where graphmend keeps what it has mended."""
    command = [sys.executable, "-m", "bench.table2.measure", *arguments, "--out", str(out)]
    try:
        done = subprocess.run(
            command,
            env=environment(memory),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {limit:.0f} s"}
    if done.returncode < 0:
        return {"failed": f"killed by {signal.Signals(-done.returncode).name}", "stderr": done.stderr[-4000:]}
    if done.returncode > 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return {"failed": last[0], "stderr": done.stderr[-4000:]}
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def measure_program(
    name: str, mode: str, columns: list[str], backend: str, limit: float, folder: Path
) -> dict[str, Any]:
    """All columns of one program in one mode."""
    from bench.table2 import report, summary
    from bench.table2.columns import AGAIN
    from bench.table2.programs import PROGRAMS

    reference = folder / f"{name}-{mode}.pt"
    common = [name, *(["--train"] if mode == "train" else []), "--reference", str(reference)]

    def run(column: str, *flags: str) -> dict[str, Any]:
        out = folder / f"{name}-{mode}-{column}{''.join(flags)}.json"
        words = [common[0], column, *common[1:], "--backend", backend, *flags]
        memory = folder / f"{name}-{mode}-memory{''.join(flags)}" if column == AGAIN else None
        if memory is not None:
            work(words, out, limit, memory)
        result = work(words, out, limit, memory)
        if "failed" in result:
            print(
                f"{name}, {mode}, {' '.join([column, *flags])}: failed: {result['failed']}", file=sys.stderr, flush=True
            )
            if "stderr" in result:
                print(result.pop("stderr"), file=sys.stderr, flush=True)
        return result

    program: dict[str, Any] = {"rows": len(PROGRAMS[name].rows), "columns": {}, "raw": {}}
    eager = run("eager")
    plain_ops: dict[str, int] = {}
    expected: summary.Expected = [call["effects"] for call in eager.get("calls", ())]
    for column in columns:
        if "failed" in eager:
            program["columns"][column] = {"failed": f"eager failed: {eager['failed']}"}
            continue
        raw = program["raw"][column] = run(column)
        if "failed" in raw:
            program["columns"][column] = {"failed": raw["failed"]}
            continue
        if column == "plain":
            expected = summary.expected_effects(eager, raw)
            # Ops are the same whatever becomes of them.
            plain_ops = run(column, "--as-compiled", "--backend", "eager").get("ops", raw["ops"])
        full = raw["full"] = run(column, "--fullgraph")
        numbers = program["columns"][column] = summary.of_column(raw, full, plain_ops, expected)
        print(report.line(name, mode, column, numbers), flush=True)
    reference.unlink(missing_ok=True)
    return program


def unlike_known(programs: dict[str, Any]) -> list[str]:
    """Where plain or settings differ from what is known for the pinned versions."""
    from bench.table2.programs import PROGRAMS

    return [
        f"{name}: {column} gives {one['columns'][column]['breaks']} breaks, {known} are known"
        for name, one in programs.items()
        for column, known in (("plain", PROGRAMS[name].plain), ("settings", PROGRAMS[name].settings))
        if one["columns"].get(column, {}).get("breaks", known) != known
    ]


def below_goal(programs: dict[str, Any], arguments: argparse.Namespace) -> list[str]:
    """What is asked of mended on the command line and not reached."""
    from bench.table2.summary import total

    sums = total((one["rows"], one["columns"]["mended"]) for one in programs.values())
    missed = []
    if sums["failed"]:
        missed.append(f"mended failed for {sums['failed']} of {sums['of']} rows")
    if arguments.min_whole_rows is not None and sums["whole"] < arguments.min_whole_rows:
        missed.append(f"{sums['whole']} rows are whole, {arguments.min_whole_rows} are asked for")
    if arguments.max_breaks is not None and sums["breaks"] > arguments.max_breaks:
        missed.append(f"{sums['breaks']} breaks are left over the rows, at most {arguments.max_breaks} are asked for")
    for name, one in programs.items():
        numbers = one["columns"]["mended"]
        if "failed" in numbers:
            continue
        if numbers["differences"]:
            missed.append(f"{name}: values differ: {numbers['differences'][0]}")
        if not numbers["effects_same"]:
            missed.append(f"{name}: {numbers['delivered']} of {numbers['expected']} effects, or not as in eager")
        if numbers["new_graphs"]:
            missed.append(f"{name}: {numbers['new_graphs']} graphs more in calls 2 and 3")
    return missed


def parse_arguments(names: list[str], columns: tuple[str, ...], backends: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--columns", nargs="+", choices=columns, default=list(columns), metavar="NAME", help=", ".join(columns)
    )
    parser.add_argument("--backend", choices=backends, default=backends[0], help="what graphs are handed to")
    parser.add_argument("--train", action="store_true", help="train mode with gradients too")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time; seconds are only fair with 1")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one program in one column")
    parser.add_argument("--out", type=Path, help="the Markdown; JSON goes beside it")
    parser.add_argument("--min-whole-rows", type=int, help="exit 1 when mended makes fewer rows whole")
    parser.add_argument("--max-breaks", type=int, help="exit 1 when mended leaves more breaks over the rows")
    arguments = parser.parse_args()
    on_other = "" if arguments.backend == backends[0] else f"_{arguments.backend}"
    arguments.out = arguments.out or RESULTS / f"table2{on_other}.md"
    return arguments


def main() -> int:
    versions = installed()
    from bench.table2 import columns, mended, report
    from bench.table2.programs import PROGRAMS, TORCH, TRANSFORMERS

    arguments = parse_arguments(list(PROGRAMS), columns.COMPILED, columns.BACKENDS)
    chosen = [name for name in columns.COMPILED if name in arguments.columns or name == columns.PLAIN]
    remarks = []
    pinned = versions["torch"].partition("+")[0] == TORCH and versions["transformers"] == TRANSFORMERS
    if not pinned:
        remarks.append(
            f"**Other versions**: the known numbers are for torch {TORCH} and transformers {TRANSFORMERS}, installed "
            f"are torch {versions['torch']} and transformers {versions['transformers']}: counts and lines may differ."
        )
    sys.path[:0] = [path for path in environment().get("PYTHONPATH", "").split(os.pathsep) if path]
    reason = mended.missing()
    if reason is not None and {columns.MENDED, columns.AGAIN} & set(chosen):
        chosen = [name for name in chosen if name not in (columns.MENDED, columns.AGAIN)]
        remarks.append(f"**Nothing was mended**: {reason}.")
    for remark in remarks:
        print(remark, file=sys.stderr)

    modes: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for mode in ["eval", *(["train"] if arguments.train else [])]:
            with ThreadPoolExecutor(arguments.jobs) as pool:

                def one(name: str, mode: str = mode) -> dict[str, Any]:
                    return measure_program(name, mode, chosen, arguments.backend, arguments.limit, Path(folder))

                modes[mode] = dict(zip(arguments.programs, pool.map(one, arguments.programs), strict=True))

    results = {
        "command": shlex.join(["python", "-m", "bench.table2.run", *sys.argv[1:]]),
        **versions,
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} cores of {platform.machine()}",
        "backend": arguments.backend,
        "columns": chosen,
        "remarks": remarks,
        "modes": modes,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    text = report.markdown(results)
    arguments.out.write_text(text)
    arguments.out.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    for mode, programs in modes.items():
        print(f"\n{mode}\n" + "\n".join(report.sums(programs, chosen, arguments.backend)))
    print(f"written: {arguments.out} and {arguments.out.with_suffix('.json').name}")

    problems = unlike_known(modes["eval"]) if pinned else []
    if columns.MENDED in chosen:
        problems += below_goal(modes["eval"], arguments)
    elif arguments.min_whole_rows is not None or arguments.max_breaks is not None:
        problems.append(f"mended was not measured: {reason or 'not among --columns'}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

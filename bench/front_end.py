"""Speed of the front end beside its rivals. In: the bench build, CPython 3.13, torch. Out: bench/results/front_end.md.

All contenders read the same files in the same run, one thread each, and CPU time is counted. Ours runs before and after
every rival, and the ratio is to the mean of the two, so that a slow moment of the machine hits both; the median of the
rounds is the result. In memory: the files are read before the clock starts. As a command: all the process does.
A busy machine slows large programs more than small ones, so instructions are counted too, where that can be done.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import corpora
from bench.corpora import Corpus
from bench.machine import machine

ROOT = Path(__file__).resolve().parent.parent
RUFF = ["--isolated", "--config", "exclude=[]", "--config", "respect-gitignore=false"]
COMMAND_LINE = "make bench"


class UnavailableError(Exception):
    """A contender that cannot run here, and why."""


@dataclass
class Contender:
    """Somebody who reads the files; `run` gives CPU seconds and bytes."""

    name: str
    run: Callable[[], tuple[float, int]]
    note: str = ""
    # Megabytes a second, one for each round.
    speeds: list[float] = field(default_factory=list)
    # In the same round, how many times as fast each of ours was.
    ratios: dict[str, list[float]] = field(default_factory=dict)

    @property
    def speed(self) -> float:
        """The median."""
        return statistics.median(self.speeds)

    @property
    def spread(self) -> str:
        """Slowest to fastest."""
        return f"{number(min(self.speeds))} to {number(max(self.speeds))}"


@dataclass
class Tools:
    """What there is on this machine."""

    bench: Path
    graphmend: Path
    cpython: Path
    ruff: str | None
    valgrind: str | None


def number(value: float) -> str:
    """Three digits are what the clock is good for."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def json_lines(command: list[str | Path]) -> list[dict[str, object]]:
    """Runs a command that prints JSON lines."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise UnavailableError(
            done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def command_seconds(command: list[str | Path]) -> float:
    """CPU seconds of a whole process, user and system."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "NO_COLOR": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise UnavailableError(f"exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def write_list(path: Path, files: list[Path]) -> Path:
    """A file of paths, one a line."""
    path.write_text("\n".join(map(str, files)) + "\n")
    return path


# The stages of bench_front_end, as the tables call them.
STAGES = {
    "scan": "a scan for line ends",
    "lex": "graphmend, lexer",
    "lex+parse": "graphmend, lexer and parser",
    "tree": "graphmend, bytes to tree",
    "errors": "graphmend, bytes to all errors",
}
OUR_COMMAND = "`graphmend parse --jobs 1`"


class Ours:
    """All of ours: the stages, which come from one process, and the whole command."""

    def __init__(self, tools: Tools, corpus: Corpus, listing: Path) -> None:
        self.stages: list[str | Path] = [tools.bench, "--rounds", "1", "--list", listing]
        self.command: list[str | Path] = [tools.graphmend, "parse", "--jobs", "1", corpus.folder]
        self.size = corpus.size
        # Megabytes a second, one for each run.
        self.speeds: dict[str, list[float]] = {name: [] for name in [*STAGES.values(), OUR_COMMAND]}
        self.memory: dict[str, float] = {}

    def run(self) -> dict[str, float]:
        """One run over all files: CPU seconds by name."""
        seconds = {OUR_COMMAND: command_seconds(self.command)}
        for line in json_lines(self.stages):
            stage, size = str(line["stage"]), float(str(line["bytes"]))
            if stage == "memory":
                self.memory = {name: float(str(line[name])) / size for name in ("peak", "kept", "tokens", "nodes")}
                self.memory["worst"] = float(str(line["worst_peak_per_byte"]))
            elif stage in STAGES:
                seconds[STAGES[stage]] = float(str(line["seconds"]))
        for name, value in seconds.items():
            self.speeds[name].append(self.size / value / 1e6)
        return seconds

    def contenders(self) -> list[Contender]:
        """For the table of speeds, when all was run."""
        return [Contender(name, lambda: (0.0, 0), speeds=speeds) for name, speeds in self.speeds.items()]


def rival(python: Path, name: str, listing: Path) -> Callable[[], tuple[float, int]]:
    """A rival that runs inside of a Python."""

    def run() -> tuple[float, int]:
        line = json_lines([python, corpora.RIVALS, name, listing])[0]
        return float(str(line["seconds"])), int(str(line["bytes"]))

    return run


def whole_command(command: list[str | Path], size: int) -> Callable[[], tuple[float, int]]:
    """A tool from its start to its end, files and folders included."""
    return lambda: (command_seconds(command), size)


def rivals_for(corpus: Corpus, tools: Tools, listing: Path, sample: Path) -> list[Contender]:
    """Everybody but ours."""
    here = Path(sys.executable)
    entries = [
        Contender("CPython's C tokenizer, `TokenizerIter`", rival(tools.cpython, "tokenizer-iterator", listing)),
        Contender("CPython's C tokenizer, no Python objects", rival(tools.cpython, "tokenizer-alone", listing)),
        Contender("CPython, `ast.parse`", rival(tools.cpython, "ast", listing)),
        Contender("CPython, `ast.parse`, no garbage collector", rival(tools.cpython, "ast-without-gc", listing)),
        Contender("tree-sitter-python", rival(here, "tree-sitter", listing)),
        Contender("LibCST, native parser", rival(here, "libcst", sample), note="on a sample"),
    ]
    if tools.ruff:
        graph: list[str | Path] = [tools.ruff, "analyze", "graph", *RUFF, corpus.folder]
        check: list[str | Path] = [tools.ruff, "check", "--select", "E902", "--no-cache", *RUFF, corpus.folder]
        entries.append(Contender("`ruff analyze graph`", whole_command(graph, corpus.size)))
        entries.append(Contender("`ruff check --select E902 --no-cache`", whole_command(check, corpus.size)))
    return entries


def measure(ours: Ours, entries: list[Contender], rounds: int) -> list[str]:
    """All rounds; contenders that cannot run are dropped, and the reasons returned."""
    reasons = []
    before = ours.run()
    for turn in range(rounds):
        print(f"  round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
        for entry in list(entries):
            try:
                seconds, size = entry.run()
            except (UnavailableError, OSError) as error:
                reasons.append(f"{entry.name}: not measured ({error})")
                entries.remove(entry)
                continue
            after = ours.run()
            speed = size / seconds / 1e6
            entry.speeds.append(speed)
            for name in before:
                our_speed = ours.size / ((before[name] + after[name]) / 2) / 1e6
                entry.ratios.setdefault(name, []).append(our_speed / speed)
            before = after
    return reasons


# What must hold: ours, the rival, at least how many times as fast.
PROMISES = [
    ("graphmend, lexer", "CPython's C tokenizer, `TokenizerIter`", 10.0),
    ("graphmend, lexer and parser", "CPython, `ast.parse`", 14.0),
    (OUR_COMMAND, "`ruff analyze graph`", 2.0),
    (OUR_COMMAND, "`ruff check --select E902 --no-cache`", 2.0),
]
# Worth knowing.
BESIDES = [
    ("graphmend, lexer", "CPython's C tokenizer, no Python objects"),
    ("graphmend, bytes to tree", "CPython, `ast.parse`"),
    ("graphmend, bytes to all errors", "CPython, `ast.parse`"),
    ("graphmend, lexer and parser", "CPython, `ast.parse`, no garbage collector"),
    ("graphmend, lexer and parser", "tree-sitter-python"),
    ("graphmend, lexer and parser", "LibCST, native parser"),
]
PEAK_LIMIT = 12.0


def ratio_rows(entries: list[Contender], memory: dict[str, float]) -> list[str]:
    """The table of promises and ratios."""
    rows = ["| ours | against | wanted | measured | spread | |", "|---|---|--:|--:|--:|---|"]
    by_name = {entry.name: entry for entry in entries}
    wanted = [(above, below, f"≥ {least:.0f}", least) for above, below, least in PROMISES]
    wanted += [(above, below, "", 0.0) for above, below in BESIDES]
    for above, below, text, least in wanted:
        values = by_name[below].ratios.get(above) if below in by_name else None
        if not values:
            rows.append(f"| {above} | {below} | {text} | not measured | | |")
            continue
        middle = statistics.median(values)
        verdict = ("yes" if middle >= least else "**no**") if text else ""
        spread = f"{number(min(values))} to {number(max(values))}"
        rows.append(f"| {above} | {below} | {text} | {number(middle)} | {spread} | {verdict} |")
    if memory:
        verdict = "yes" if memory["peak"] < PEAK_LIMIT else "**no**"
        rows.append(
            f"| peak memory of tokens and tree | a byte of source | < {PEAK_LIMIT:.0f} | {number(memory['peak'])} "
            f"| worst file {number(memory['worst'])} | {verdict} |"
        )
    return rows


def speed_rows(entries: list[Contender]) -> list[str]:
    """The table of speeds, fastest first."""
    rows = ["| | MB/s | slowest to fastest round |", "|---|--:|--:|"]
    for entry in sorted(entries, key=lambda entry: -entry.speed):
        name = f"{entry.name} ({entry.note})" if entry.note else entry.name
        rows.append(f"| {name} | {number(entry.speed)} | {entry.spread} |")
    return rows


def instructions(tools: Tools, command: list[str | Path]) -> int:
    """Instructions of a whole run under callgrind."""
    callgrind: list[str | Path] = [str(tools.valgrind), "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    # The hash of a str decides how many steps a lookup takes.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([*callgrind, *command], capture_output=True, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise UnavailableError("callgrind gave no count")
    return int(found[1])


def instruction_rows(corpus: Corpus, tools: Tools, scratch: Path) -> list[str]:
    """Instructions for each byte, which do not depend on how busy the machine is."""
    if tools.valgrind is None:
        return ["Instructions were not counted: valgrind is not installed."]
    files = [file for folder in corpus.subset for file in corpora.walk(folder)]
    listing = write_list(scratch / "subset", files)
    size = sum(file.stat().st_size for file in files)
    counts: dict[str, float] = {}
    try:
        nothing = instructions(tools, [tools.bench, "--stage", "none", "--list", listing])
        for stage, name in STAGES.items():
            count = instructions(tools, [tools.bench, "--stage", stage, "--list", listing])
            counts[name] = (count - nothing) / size
        nothing = instructions(tools, [tools.cpython, corpora.RIVALS, "nothing", listing])
        for entry, name in (
            ("tokenizer-iterator", "CPython's C tokenizer, `TokenizerIter`"),
            ("tokenizer-alone", "CPython's C tokenizer, no Python objects"),
            ("ast", "CPython, `ast.parse`"),
        ):
            count = instructions(tools, [tools.cpython, corpora.RIVALS, entry, listing, "--once"])
            counts[name] = (count - nothing) / size
    except UnavailableError as error:
        return [f"Instructions were not counted: {error}."]
    names = ", ".join(f"`{folder.name}`" for folder in corpus.subset)
    rows = [f"Instructions for each byte of {names} ({size / 1e6:.1f} MB), counted by callgrind:", ""]
    rows += [
        "| | instructions/byte |",
        "|---|--:|",
        *(f"| {name} | {number(value)} |" for name, value in counts.items()),
    ]
    lexer = counts["CPython's C tokenizer, `TokenizerIter`"] / counts[STAGES["lex"]]
    tree = counts["CPython, `ast.parse`"] / counts[STAGES["lex+parse"]]
    rows += ["", f"By this count `TokenizerIter` takes {number(lexer)} times what our lexer takes, and `ast.parse`"]
    return [*rows, f"{number(tree)} times what our lexer and parser take."]


def memory_line(memory: dict[str, float]) -> str:
    """Where the memory goes."""
    return (
        f"For each byte of source: {memory['tokens']:.3f} tokens of 12 bytes, {memory['nodes']:.3f} nodes of 16 bytes "
        f"and 4 for the parent; {memory['kept']:.1f} bytes stay, {memory['peak']:.1f} are needed at the peak, and "
        f"{memory['worst']:.1f} for the densest file of at least 32 kB."
    )


def version_of(module: str) -> str:
    """The version of an installed package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{module} {version(module)}"
    except PackageNotFoundError:
        return f"{module} is not installed"


def header(tools: Tools, rounds: int) -> list[str]:
    """What was measured, with what, on what."""
    versions = [f"CPython {corpora.ask(tools.cpython, 'import platform; print(platform.python_version())')}"]
    if tools.ruff:
        versions.append(subprocess.run([tools.ruff, "--version"], capture_output=True, text=True).stdout.strip())
    versions += [version_of(name) for name in ("tree-sitter", "tree-sitter-python", "libcst")]
    return [
        "# The front end beside its rivals",
        "",
        f"Written by `{COMMAND_LINE}` (`bench/front_end.py`); do not edit.",
        "",
        f"{machine()}. {'; '.join(versions)}.",
        f"One thread, CPU time, the same files for all; median of {rounds} rounds, ours before and after every rival.",
        "MB are 10^6 bytes. Commands are timed from start to end, with reading files and folders; all others have the",
        "files in memory. Files that CPython does not accept, or that are not UTF-8, are left out.",
    ]


def report(corpus: Corpus, tools: Tools, arguments: argparse.Namespace, scratch: Path) -> list[str]:
    """The section of one corpus."""
    print(f"{corpus.name}: {len(corpus.files)} files, {corpus.size / 1e6:.1f} MB", file=sys.stderr, flush=True)
    listing = write_list(scratch / "files", corpus.files)
    sample = write_list(scratch / "sample", corpus.sample(arguments.sample))
    ours = Ours(tools, corpus, listing)
    entries = rivals_for(corpus, tools, listing, sample)
    reasons = measure(ours, entries, arguments.rounds)
    if tools.ruff is None:
        reasons.append("ruff: not installed")
    return [
        "",
        f"## {corpus.name}",
        "",
        f"{len(corpus.files)} files, {corpus.size / 1e6:.1f} MB; {corpus.left_out} left out.",
        "",
        *ratio_rows(entries, ours.memory),
        "",
        *speed_rows([*ours.contenders(), *entries]),
        "",
        *(f"- {reason}" for reason in reasons),
        *([""] if reasons else []),
        *([memory_line(ours.memory), ""] if ours.memory else []),
        *instruction_rows(corpus, tools, scratch),
    ]


def find_tools(build: Path, cpython: Path | None) -> Tools:
    """Looks for what is needed; stops with a line when something is not there."""
    tools = Tools(
        bench=build / "bench_front_end",
        graphmend=build / "graphmend",
        cpython=cpython or corpora.find_cpython() or Path(),
        ruff=shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"),
        valgrind=shutil.which("valgrind"),
    )
    if tools.cpython == Path():
        sys.exit("front_end.py: no CPython 3.13; name one with --cpython or PYTHON313")
    for program in (tools.bench, tools.graphmend):
        if not program.exists():
            sys.exit(f"front_end.py: {program} is not built; run `make build-bench`")
    return tools


def make_corpora(arguments: argparse.Namespace, tools: Tools, scratch: Path) -> tuple[list[Corpus], list[str]]:
    """torch and the standard library, or a line that says what is missing."""
    found, missing = [], []
    torch_python: Path = arguments.torch_python
    torch = corpora.find_torch(torch_python) if torch_python.exists() else None
    if torch is None:
        missing.append("torch was not found (`--torch-python`), so its sources were not measured.")
    else:
        found.append(corpora.copy_corpus("torch", torch, ["nn", "optim"], tools.cpython, scratch))
    library = corpora.find_library(tools.cpython)
    subset = ["asyncio", "email", "json", "unittest"]
    found.append(corpora.copy_corpus("the standard library", library, subset, tools.cpython, scratch))
    return found, missing


def main() -> int:
    """Reads the command line, measures, writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--cpython", type=Path, help="CPython 3.13 (else PYTHON313, PATH, pyenv)")
    parser.add_argument("--torch-python", type=Path, default=ROOT / ".venv/bin/python")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, default=1_000_000, help="bytes for rivals that take minutes")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/front_end.md")
    arguments = parser.parse_args()

    tools = find_tools(arguments.build, arguments.cpython)
    lines = header(tools, arguments.rounds)
    with tempfile.TemporaryDirectory(prefix="graphmend-bench-") as folder:
        scratch = Path(folder)
        found, missing = make_corpora(arguments, tools, scratch)
        lines += [f"\n{line}" for line in missing]
        for corpus in found:
            lines += report(corpus, tools, arguments, scratch)
    text = "\n".join(lines) + "\n"
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

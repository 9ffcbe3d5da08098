"""The command line. In: arguments. Out: an exit status; counts on stdout, failing programs in a folder."""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from . import subject as subjects
from .campaign import Failure, Request, Summary, judge_text, prepare, run_campaign
from .forms import LARGEST
from .judge import Verdict
from .reduce import reduce_program


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    subject = options.subject or subjects.available()[-1]
    request = Request(subject, options.backend, options.seed, options.jobs, options.batch, options.limit)
    request = dataclasses.replace(request, speculate=options.speculate, size=options.size, device=options.device)
    if options.planted is not None:
        return _planted(request, options.programs, options.planted)
    if options.replay:
        return _replay(request, options.replay)
    progress = _progress(request, options.programs, options.out)
    indices = range(options.start, options.start + options.programs)
    summary = run_campaign(request, indices, progress, lambda summary: summary.wall > options.seconds)
    print(file=sys.stderr)
    _report(request, summary)
    if summary.failures:
        _save(request, summary, options.out, options.reduce)
    return 1 if summary.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.generated", description="random tensor programs, compared")
    parser.add_argument("--programs", type=int, default=300, help="how many programs (300)")
    parser.add_argument("--start", type=int, default=0, help="the index of the first one (0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="eager", help="eager, aot_eager, inductor (eager)")
    parser.add_argument("--subject", help=f"one of {', '.join(subjects.available())}; the last of them unless told")
    parser.add_argument(
        "--speculate",
        action="store_true",
        help="programs of ten calls that need values of tensors, which are predicted",
    )
    parser.add_argument(
        "--size", type=int, default=LARGEST, help=f"statements in a program's function, at most ({LARGEST})"
    )
    parser.add_argument("--device", default="", help="a default device for the programs: cpu, cuda (none)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--batch", type=int, default=40, help="programs per process (40)")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a program may take (120)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="end after this time, whatever is left to do")
    parser.add_argument("--out", type=Path, default=Path("generated_failures"), help="where failing programs go")
    parser.add_argument("--reduce", type=int, default=1, help="how many failures of each kind are reduced (1)")
    parser.add_argument("--replay", type=Path, nargs="+", help="judge these programs instead")
    parser.add_argument(
        "--planted", nargs="*", metavar="BUG", help="plant each bug; it must be found in PROGRAMS programs"
    )
    return parser


def _progress(request: Request, count: int, out: Path) -> Callable[[Summary], None]:
    saved = 0

    def show(summary: Summary) -> None:
        # At once: a run that is stopped loses nothing.
        nonlocal saved
        for failure in summary.failures[saved:]:
            _write(request, failure, failure.text, failure.verdict, out)
        saved = len(summary.failures)
        if sys.stderr.isatty() or summary.programs % 100 == 0:
            rate = summary.programs / max(summary.wall, 1e-9)
            text = f"{summary.programs}/{count}, {rate:.1f} a second, {len(summary.failures)} failing"
            print(text, end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    return show


def _report(request: Request, summary: Summary) -> None:
    print(f"subject {request.subject}, backend {request.backend}, seed {request.seed}")
    raised = sum(summary.raised.values())
    print(f"programs {summary.programs}, calls {summary.calls}, effects {summary.events}, exceptions {raised}")
    print(f"{summary.wall:.1f} s, {summary.programs / max(summary.wall, 1e-9):.2f} programs a second,", end=" ")
    print(f"{summary.busy / max(summary.programs, 1):.3f} s of processor time a program")
    print(f"the original ran instead of the graph in {summary.misses} frames")
    if request.speculate:
        seen = summary.predicted
        print(f"predicted: {seen.sites} sites, {seen.hits} hits, {seen.misses} misses, {seen.given_up} given up")
    _table("mended", summary.mended)
    _table("left", summary.left)
    _table("programs with a known difference of torch.compile itself", summary.known)
    _table("programs by feature", summary.features)
    if summary.died:
        _table("processes that died, whose program then ran again", summary.died)
    _table("FAILING programs by kind", summary.kinds)


def _table(title: str, counts: Counter[str]) -> None:
    print(f"{title}: {sum(counts.values())}")
    for name, count in counts.most_common():
        print(f"  {count:7d}  {name}")


def _save(request: Request, summary: Summary, out: Path, reduce: int) -> None:
    done: Counter[str] = Counter()
    for failure in summary.failures:
        if done[failure.kind] < reduce:
            done[failure.kind] += 1
            text, verdict = reduce_program(failure.text, failure.verdict, request)
            before, after = len(failure.text.splitlines()), len(text.splitlines())
            print(f"{failure.name} {failure.kind}: {before} lines, reduced to {after}")
            _write(request, failure, text, verdict, out)
    print(f"{len(summary.failures)} failing programs are in {out}")


def _write(request: Request, failure: Failure, text: str, verdict: Verdict, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    differences = [str(d)[:2000] for found in verdict.wrong.values() for d in found[:5]] or [verdict.crash]
    (out / f"{failure.name}.py").write_text(text, encoding="utf-8")
    head = f"{failure.kind}\nsubject {request.subject}, backend {request.backend}\n\n"
    (out / f"{failure.name}.txt").write_text(head + "\n".join(differences) + "\n", encoding="utf-8")


def _replay(request: Request, paths: list[Path]) -> int:
    prepare(request.backend)
    failing = 0
    for path in paths:
        with tempfile.TemporaryDirectory(prefix="graphmend_replayed_") as made:
            verdict = judge_text(path.read_text(encoding="utf-8"), request, Path(made), path.stem)
        failing += bool(verdict.kind)
        fired = f"mended {dict(verdict.fired.mended)}, left {dict(verdict.fired.left)}, known {dict(verdict.known)}"
        if request.speculate:
            fired += f", {verdict.predicted}"
        print(f"{path}: {verdict.kind or 'the same'}; {fired}")
        for found in verdict.wrong.values():
            for difference in found[:5]:
                print(difference)
        if verdict.crash:
            print(verdict.crash)
    return 1 if failing else 0


def _planted(request: Request, count: int, names: list[str]) -> int:
    from .planted import find, planted_in

    missed = 0
    bugs = [bug for bug in planted_in(request) if not names or bug.name in names]
    for bug in bugs:
        found: Failure | None = find(bug, request, count)
        missed += found is None
        outcome = f"found by program {found.index}, {found.kind}" if found else f"NOT found in {count} programs"
        print(f"{bug.name}: {outcome}", flush=True)
    print(f"{len(bugs) - missed} of {len(bugs)} found")
    return 1 if missed else 0

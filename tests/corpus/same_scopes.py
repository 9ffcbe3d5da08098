"""The same scopes as CPython 3.13, for every file it accepts. In: the corpus (see fetch.py). Out: differences by cause.

Equal means what tests/oracle/scopes.py says: all that the `symtable` module tells of scopes and symbols. Without names
of roots: the standard library of 3.13, torch and transformers. With --snippets also the programs in the tests of the
CPythons found, with --generated so many random ones (scope_programs.py). Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle import places, pool, pythons

from corpus import fetch, same_tree, scope_programs, verdict_corpus

DEFAULT_ROOTS = ["python3.13", "torch", "torchgen", "transformers"]


class Report:
    """Counts outcomes, scopes and symbols, and keeps the failures by cause."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.scopes = 0
        self.symbols = 0
        self.groups: dict[str, list[str]] = defaultdict(list)

    def add(self, path: str, answer: Any) -> None:
        if isinstance(answer, pool.Failure):
            self.counts["failed"] += 1
            self.groups[f"failed: {answer.kind}"].append(f"{path}: {answer.detail[-300:]}")
            return
        outcome, detail = answer
        self.counts[outcome] += 1
        if outcome == "same":
            self.scopes += detail[0]
            self.symbols += detail[1]
        elif outcome == "rejected":
            self.groups["rejected"].append(path)
        elif outcome == "differs":
            where, what, expected, actual = detail
            cause = f"{what.split(' ')[0]}: {expected} / {actual}" if what.startswith("symbol") else what
            text = f"{path}:{where}\n    {what}\n    expected {expected}\n    got      {actual}"
            self.groups[cause].append(text)

    @property
    def failures(self) -> int:
        return sum(len(group) for group in self.groups.values())

    def show(self, per_group: int) -> None:
        for name, members in sorted(self.groups.items(), key=lambda item: -len(item[1])):
            print(f"\n{len(members)} x {name}")
            for member in members[:per_group]:
                print(f"  {member}")


def find_roots(names: list[str], cache: Path, sites: list[str]) -> dict[str, Path] | None:
    """The folders of these names: below the sites given, else as fetch.py found them. None if one is missing."""
    known = fetch.load_roots(cache)
    for site in sites:
        folders = sorted(Path(site).glob("lib/python3*/site-packages")) or [Path(site)]
        for name in names:
            for folder in folders:
                if (folder / name).is_dir():
                    known[name] = folder / name
    missing = [name for name in names if name not in known]
    if missing:
        print(f"no root called {', '.join(missing)}; name its site-packages with --site", file=sys.stderr)
        return None
    return {name: known[name] for name in names}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", default=DEFAULT_ROOTS, help="names of roots, such as torch or python3.13")
    parser.add_argument("--site", action="append", default=[], help="a site-packages folder, or an environment")
    parser.add_argument("--library", help="graphmend's shared library")
    parser.add_argument("--cache", type=Path, default=places.DEFAULT_CACHE)
    parser.add_argument("--python", help="another CPython to compare with, as 3.11; its version is the target")
    parser.add_argument("--snippets", action="store_true", help="also the programs in CPython's tests")
    parser.add_argument("--generated", type=int, default=0, help="also this many random programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first random program")
    parser.add_argument("--per-group", type=int, default=3, help="examples shown of each cause")
    parser.add_argument("--max-failures", type=int, default=10**9)
    options = parser.parse_args()

    library = places.find_library(options.library)
    oracle = pythons.oracle_python()
    if options.python:
        oracle = pythons.find_pythons().get((3, int(options.python.split(".")[1])))
    if library is None or oracle is None:
        print("needs graphmend's shared library (--library) and a CPython 3.13", file=sys.stderr)
        return 2
    roots = find_roots(options.roots, options.cache, options.site)
    if roots is None:
        return 2
    # The largest first: none of them is left to run alone at the end.
    files = sorted(same_tree.unique_files(roots), key=lambda item: -item[2])
    programs: list[tuple[str, bytes]] = []
    if options.snippets:
        programs += [(snippet.origin, snippet.source) for snippet in verdict_corpus.load(options.cache)]
    programs += [
        (f"program {seed}", scope_programs.program(seed).encode())
        for seed in range(options.seed, options.seed + options.generated)
    ]
    report = Report()
    started = last_shown = time.monotonic()
    calls = [(str(path),) for path, _, _ in files]
    results = itertools.chain(
        pool.run_all(oracle.executable, library, "tasks.same_scopes_of_file", calls, chunk=16, timeout=300),
        pool.run_all(oracle.executable, library, "tasks.same_scopes_of_program", programs, chunk=256, timeout=300),
    )
    count = len(files) + len(programs)
    for done, (arguments, answer) in enumerate(results, 1):
        report.add(arguments[0], answer)
        now = time.monotonic()
        if now - last_shown > 5:
            last_shown = now
            print(f"  {done}/{count} files, {report.failures} failures, {now - started:.0f} s", file=sys.stderr)
        if report.failures >= options.max_failures:
            print(f"stopped after {report.failures} failures", file=sys.stderr)
            break
    report.show(options.per_group)
    size = sum(item[2] for item in files)
    counts = ", ".join(f"{number} {name}" for name, number in sorted(report.counts.items()))
    print(
        f"\nsame scopes: {len(files)} files, {size / 1e6:.1f} MB, {len(programs)} programs, "
        f"{report.scopes} scopes, {report.symbols} symbols: {counts}"
    )
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())

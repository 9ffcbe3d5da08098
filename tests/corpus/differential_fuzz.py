"""Mutates real programs and compares verdict and tree with CPython's. In: a seed. Out: differences, reduced.

The inputs are single statements and functions of the standard library and the snippets of verdict_corpus.py. The same
seed gives the same inputs on the same corpus. Each failing input is made small and written to --out, with its cause.
"""

from __future__ import annotations

import argparse
import hashlib
import pickle
import random
import struct
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle import places, pool, pythons
from oracle.reduce import reduce_source

from corpus import fetch, verdict_corpus

_CHUNK = 250
_POOL_FILES = 600
_POOL_PIECES = 12_000
_POOL_SNIPPETS = 6_000
_MAX_SNIPPET = 800


class Finding(NamedTuple):
    """One input on which the two differ."""

    number: int
    source: bytes
    kind: str
    group: str
    detail: str


def write_pool(cache: Path, oracle: pythons.Python) -> Path:
    """The sources to mutate, made once for a corpus."""
    roots = fetch.load_roots(cache)
    key = hashlib.blake2b(repr(sorted(roots.items())).encode() + Path(__file__).read_bytes(), digest_size=8).hexdigest()
    stored = cache / f"fuzz-pool-{key}.pickle"
    if stored.exists():
        return stored
    choose = random.Random(1)
    paths = sorted(str(path) for path in fetch.files_of(oracle.library))
    paths = choose.sample(paths, min(_POOL_FILES, len(paths)))
    pieces = set()
    for _, answer in pool.run_all(oracle.executable, None, "fuzz.pieces_of", ((path,) for path in paths)):
        if not isinstance(answer, pool.Failure):
            pieces.update(answer)
    chosen = choose.sample(sorted(pieces), min(_POOL_PIECES, len(pieces)))
    small = [snippet.source for snippet in verdict_corpus.load(cache) if 0 < len(snippet.source) <= _MAX_SNIPPET]
    chosen += choose.sample(small, min(_POOL_SNIPPETS, len(small)))
    partial = stored.with_suffix(".partial")
    partial.write_bytes(pickle.dumps(chosen, protocol=4))
    partial.rename(stored)
    return stored


class Fuzzer:
    """Hands out rounds to workers and collects what they find."""

    def __init__(self, oracle: pythons.Python, library: str, pool_path: Path, seed: int) -> None:
        self._oracle = oracle
        self._library = library
        self._pool_path = str(pool_path)
        self._seed = seed
        self._lock = threading.Lock()
        self._next = 0
        self._end = 0
        self._errors: list[BaseException] = []
        self.counts: Counter[str] = Counter()
        self.findings: list[Finding] = []

    def worker(self) -> pool.Worker:
        return pool.Worker(self._oracle.executable, self._library, timeout=120)

    def run(self, start: int, count: int, processes: int = 2, *, is_quiet: bool = False) -> None:
        """Runs the rounds numbered from `start`."""
        self._next, self._end = start, start + count
        threads = [threading.Thread(target=self._serve_or_report, daemon=True) for _ in range(processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(10)
                if not is_quiet and thread.is_alive():
                    print(f"  round {self._next}, {len(self.findings)} differences", file=sys.stderr)

        if self._errors:
            raise self._errors[0]

    def _serve_or_report(self) -> None:
        try:
            self._serve()
        except BaseException as error:
            self._errors.append(error)

    def _serve(self) -> None:
        worker = self.worker()
        with tempfile.NamedTemporaryFile() as progress:
            progress.write(bytes(8))
            progress.flush()
            while True:
                with self._lock:
                    start = self._next
                    count = min(_CHUNK, self._end - start)
                    self._next += count
                if count <= 0:
                    break
                self._run_chunk(worker, start, count, progress.name)
        worker.close()

    def _run_chunk(self, worker: pool.Worker, start: int, count: int, progress: str) -> None:
        end = start + count
        while start < end:
            Path(progress).write_bytes(struct.pack("<q", start))
            answer = worker.call("fuzz.rounds", self._pool_path, self._seed, start, end - start, progress)
            if not isinstance(answer, pool.Failure):
                counts, found = answer
                with self._lock:
                    self.counts.update(counts)
                    self.findings.extend(Finding(number, source, *outcome) for number, source, outcome in found)
                return
            # The rounds before the one that failed are run again: their results were lost with the worker.
            number = struct.unpack("<q", Path(progress).read_bytes())[0]
            if number > start:
                self._run_chunk(worker, start, number - start, progress)
            self._note_failure(worker, number, answer)
            start = number + 1

    def _note_failure(self, worker: pool.Worker, number: int, failure: pool.Failure) -> None:
        source = worker.call("fuzz.round_source", self._pool_path, self._seed, number)
        if isinstance(source, pool.Failure):
            raise RuntimeError(f"round {number} cannot be made: {source.detail}")
        alone = pool.Worker(self._oracle.executable, None, timeout=60)
        is_oracles_fault = isinstance(alone.call("tasks.oracle_kind", source), pool.Failure)
        alone.close()
        with self._lock:
            self.counts["oracle failed" if is_oracles_fault else failure.kind] += 1
            if not is_oracles_fault:
                self.findings.append(Finding(number, source, failure.kind, failure.kind, failure.detail[-300:]))

    def reduced(self, finding: Finding, worker: pool.Worker, max_tests: int) -> Finding:
        """The finding with the smallest input that fails in the same way."""

        def outcome_of(source: bytes) -> Any:
            answer = worker.call("tasks.classify_source", source)
            if isinstance(answer, pool.Failure):
                return (answer.kind, answer.kind, answer.detail[-300:])
            return answer

        def still_fails(source: bytes) -> bool:
            kind, group, _ = outcome_of(source)
            return bool(kind == finding.kind and (kind == "tree differs" or group == finding.group))

        small = reduce_source(finding.source, still_fails, max_tests)
        return Finding(finding.number, small, *outcome_of(small))


def report(fuzzer: Fuzzer, out: Path | None, per_group: int, max_groups: int, max_tests: int) -> None:
    """Reduces the first findings of each cause, prints them, and writes them to `out`."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(fuzzer.findings):
        groups[f"{finding.kind}: {finding.group}"].append(finding)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    worker = fuzzer.worker()
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))
    for name, findings in largest[:max_groups]:
        print(f"\n{len(findings)} x {name}")
        for finding in sorted(findings, key=lambda item: len(item.source))[:per_group]:
            small = fuzzer.reduced(finding, worker, max_tests)
            print(f"  round {finding.number}: {small.source!r}\n      {small.detail}")
            if out:
                stem = out / f"{finding.kind.replace(' ', '_')}_{finding.number}"
                stem.with_suffix(".py").write_bytes(small.source)
                stem.with_suffix(".txt").write_text(f"{small.kind}\n{small.group}\n{small.detail}\n")
    if len(largest) > max_groups:
        print(f"\n... and {len(largest) - max_groups} more causes")
    worker.close()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="graphmend's shared library")
    parser.add_argument("--cache", type=Path, default=places.DEFAULT_CACHE)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--start", type=int, default=0, help="number of the first round")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--version", default="3.13", help="compare with this CPython; before 3.13: only what it accepts"
    )
    parser.add_argument("--out", type=Path, help="folder for the reduced inputs")
    parser.add_argument("--per-group", type=int, default=2)
    parser.add_argument("--max-groups", type=int, default=60)
    parser.add_argument("--max-tests", type=int, default=1500, help="tests spent to make one input small")
    options = parser.parse_args()

    library = places.find_library(options.library)
    oracle = pythons.oracle_python()
    compared = {python.name: python for python in pythons.find_pythons().values()}.get(options.version)
    if library is None or oracle is None or compared is None:
        print(f"needs graphmend's shared library (--library), a CPython 3.13 and {options.version}", file=sys.stderr)
        return 2
    started = time.monotonic()
    fuzzer = Fuzzer(compared, library, write_pool(options.cache, oracle), options.seed)
    fuzzer.run(options.start, options.rounds)
    seconds = time.monotonic() - started
    report(fuzzer, options.out, options.per_group, options.max_groups, options.max_tests)
    counts = ", ".join(f"{count} {name}" for name, count in sorted(fuzzer.counts.items()))
    print(f"\ndifferential fuzz: seed {options.seed}, {options.rounds} rounds in {seconds:.0f} s: {counts}")
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""The same tree as CPython 3.13, for every file it accepts. In: the corpus (see fetch.py). Out: differences by cause.

Equal means: the text of `ast.dump(tree, include_attributes=True)`, byte for byte. What CPython says is kept in a cache,
so that a second run costs graphmend's time only. Exits with 1 if any file differs.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sqlite3
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle import places, pool, pythons

if TYPE_CHECKING:
    from oracle.tasks import OracleRecord

from corpus import fetch


class OracleCache:
    """What CPython said of each content. Only the main process touches it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS oracle (content TEXT PRIMARY KEY, parsed TEXT, compiled TEXT, dump TEXT)"
        )
        rows = self._database.execute("SELECT content, parsed, compiled, dump FROM oracle")
        self._known: dict[str, OracleRecord] = {row[0]: (row[1], row[2], row[3]) for row in rows}

    def close(self) -> None:
        self._database.close()

    def get(self, content: str) -> OracleRecord | None:
        return self._known.get(content)

    def put(self, content: str, record: OracleRecord) -> None:
        if content not in self._known:
            self._known[content] = record
            self._database.execute("INSERT OR REPLACE INTO oracle VALUES (?, ?, ?, ?)", (content, *record))


def content_key(source: bytes) -> str:
    """How the cache names a content."""
    return hashlib.blake2b(source, digest_size=16).hexdigest()


def unique_files(roots: dict[str, Path]) -> Iterator[tuple[Path, str, int]]:
    """(path, hash of the content, size), the first path of each content."""
    seen = set()
    for root in roots.values():
        for path in fetch.files_of(root):
            try:
                source = path.read_bytes()
            except OSError as error:
                print(f"{path}: {error.strerror}; left out", file=sys.stderr)
                continue
            content = content_key(source)
            if content not in seen:
                seen.add(content)
                yield path, content, len(source)


class Report:
    """Counts outcomes, and keeps the failures by cause."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.groups: dict[str, list[str]] = defaultdict(list)

    def add(self, path: str, outcome: str, detail: Any) -> None:
        self.counts[outcome] += 1
        if outcome == "rejected":
            line, column, message = detail[0] if detail else (0, 0, "no tree and no error")
            self.groups[f"rejected: {message}"].append(f"{path}:{line}:{column}: {message}")
        elif outcome == "differs":
            line, where, expected, actual, group = detail
            text = f"{path}:{line}: in {where}\n    expected {expected}\n    got      {actual}"
            self.groups[f"differs: {group}"].append(text)
        elif outcome == "failed":
            self.groups[f"failed: {detail.kind}"].append(f"{path}: {detail.kind} {detail.detail[-300:]}")

    @property
    def failures(self) -> int:
        return sum(len(group) for group in self.groups.values())

    def show(self, per_group: int, max_groups: int) -> None:
        largest = sorted(self.groups.items(), key=lambda item: -len(item[1]))
        for name, members in largest[:max_groups]:
            print(f"\n{len(members)} x {name}")
            for member in members[:per_group]:
                print(f"  {member}")
        if len(largest) > max_groups:
            print(f"\n... and {len(largest) - max_groups} more causes")


def run(
    files: list[tuple[Path, str, int]],
    cache: OracleCache,
    library: str,
    python: str,
    *,
    max_failures: int,
    is_quiet: bool,
) -> Report:
    """Compares all files; stops early at `max_failures`."""
    report = Report()
    contents = {str(path): content for path, content, _ in files}
    calls = ((str(path), cache.get(content)) for path, content, _ in files)
    started = time.monotonic()
    last_shown = started
    results = pool.run_all(python, library, "tasks.same_tree", calls, chunk=16, timeout=300)
    for done, (arguments, answer) in enumerate(results, 1):
        path = arguments[0]
        if isinstance(answer, pool.Failure):
            report.add(path, "failed", answer)
        else:
            record, outcome, detail = answer
            cache.put(contents[path], tuple(record))
            report.add(path, outcome, detail)
        now = time.monotonic()
        if not is_quiet and now - last_shown > 5:
            last_shown = now
            print(f"  {done}/{len(files)} files, {report.failures} failures, {now - started:.0f} s", file=sys.stderr)
        if report.failures >= max_failures:
            print(f"stopped after {report.failures} failures", file=sys.stderr)
            break
    return report


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", help="names of roots, such as torch or python3.13; all without")
    parser.add_argument("--library", help="graphmend's shared library")
    parser.add_argument("--cache", type=Path, default=places.DEFAULT_CACHE)
    parser.add_argument("--sample", type=int, help="this many files, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-failures", type=int, default=10**9)
    parser.add_argument("--per-group", type=int, default=3, help="examples shown of each cause")
    parser.add_argument("--max-groups", type=int, default=40)
    options = parser.parse_args()

    library = places.find_library(options.library)
    oracle = pythons.oracle_python()
    if library is None or oracle is None:
        print("needs graphmend's shared library (--library) and a CPython 3.13", file=sys.stderr)
        return 2
    roots = fetch.load_roots(options.cache)
    if options.roots:
        missing = [name for name in options.roots if name not in roots]
        if missing:
            print(f"no root called {', '.join(missing)}; there are: {', '.join(roots)}", file=sys.stderr)
            return 2
        roots = {name: roots[name] for name in options.roots}
    files = list(unique_files(roots))
    if options.sample and options.sample < len(files):
        files = random.Random(options.seed).sample(files, options.sample)
    # The largest first: none of them is left to run alone at the end.
    files.sort(key=lambda item: -item[2])
    cache = OracleCache(options.cache / "oracle-3.13.sqlite")
    report = run(files, cache, library, oracle.executable, max_failures=options.max_failures, is_quiet=False)
    cache.close()
    report.show(options.per_group, options.max_groups)
    size = sum(item[2] for item in files)
    counts = ", ".join(f"{count} {name}" for name, count in sorted(report.counts.items()))
    print(f"\nsame tree: {len(files)} files, {size / 1e6:.1f} MB: {counts}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())

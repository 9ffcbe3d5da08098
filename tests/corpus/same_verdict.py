"""The same verdict as CPython on valid and invalid snippets. In: the snippets of verdict_corpus.py. Out: differences.

With 3.13 as target: nothing valid is rejected, and at most 1 % of the invalid is accepted, all of it listed in
accepted_invalid.txt with the reason. With 3.8 to 3.12: nothing that CPython accepts is rejected, and what only a newer
one accepts is rejected with a message that names a version, but for what older_accepted.txt lists.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle import places, pool, pythons
from oracle.snippets import Snippet

from corpus import verdict_corpus

_FOLDER = Path(__file__).resolve().parent
_LIMIT = 0.01
_NAMES_A_VERSION = re.compile(r"\b3\.\d+\b")

Problem = tuple[str, str]


def key_of(source: bytes) -> str:
    """How the committed lists name a snippet."""
    return hashlib.blake2b(source, digest_size=6).hexdigest()


def read_list(path: Path) -> dict[str, str]:
    """Lines `key reason`; empty lines and those that start with # are comments."""
    listed: dict[str, str] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            key, _, reason = line.strip().partition(" ")
            if key and not key.startswith("#"):
                listed[key] = reason.strip()
    return listed


class Result(NamedTuple):
    """What one version's run found. `problems` are (group, text)."""

    version: str
    accepted: int
    rejected: int
    valid_rejected: int
    invalid_accepted: int
    listed: int
    problems: list[Problem]
    # Sources that this CPython accepts; the runs of the older ones need those of 3.13.
    accepted_sources: set[bytes]


def _show(snippet: Snippet, note: str) -> str:
    return f"{key_of(snippet.source)} {snippet.origin}: {note}\n      {snippet.source[:160]!r}"


def check(
    python: pythons.Python, library: str, corpus: list[Snippet], newest_accepts: set[bytes], *, processes: int = 2
) -> Result:
    """Compares all snippets with one CPython; `newest_accepts` is empty for 3.13 itself."""
    is_oracle = python.version == pythons.ORACLE
    listed = read_list(_FOLDER / ("accepted_invalid.txt" if is_oracle else "older_accepted.txt"))
    by_source = {snippet.source: snippet for snippet in corpus}
    counts = {"accept": 0, "reject": 0, "do-not-care": 0}
    valid_rejected = invalid_accepted = used_list = 0
    problems: list[Problem] = []
    accepted_sources: set[bytes] = set()
    calls = ((snippet.source,) for snippet in corpus)
    for (source,), answer in pool.run_all(
        python.executable, library, "tasks.verdicts", calls, processes=processes, timeout=60
    ):
        snippet = by_source[source]
        if isinstance(answer, pool.Failure):
            problems.append((f"worker: {answer.kind}", _show(snippet, answer.detail[-300:])))
            continue
        verdict, errors = answer
        counts[verdict[0]] += 1
        if verdict[0] == "accept":
            accepted_sources.add(source)
            if errors:
                valid_rejected += 1
                note = f"line {errors[0][0]}: {errors[0][2]}"
                problems.append((f"valid rejected: {errors[0][2]}", _show(snippet, note)))
        elif verdict[0] == "reject":
            is_newer = source in newest_accepts
            if not errors and (is_oracle or is_newer):
                invalid_accepted += 1
                if key_of(source) in listed:
                    used_list += 1
                else:
                    group = re.sub(r"'[^']*'|\d+", "_", verdict[2])
                    note = f"line {verdict[3]}: {verdict[1]}: {verdict[2]}"
                    problems.append((f"invalid accepted: {group}", _show(snippet, note)))
            elif is_newer and not is_oracle and not any(_NAMES_A_VERSION.search(error[2]) for error in errors):
                if key_of(source) in listed:
                    used_list += 1
                else:
                    note = f"{errors[0][2]} (CPython: {verdict[2]})"
                    problems.append((f"names no version: {errors[0][2]}", _show(snippet, note)))
    if is_oracle and invalid_accepted > _LIMIT * max(1, counts["reject"]):
        problems.append(("too many", f"{invalid_accepted} of {counts['reject']} invalid snippets are accepted"))
    return Result(
        python.name,
        counts["accept"],
        counts["reject"],
        valid_rejected,
        invalid_accepted,
        used_list,
        problems,
        accepted_sources,
    )


def show(result: Result, per_group: int, max_groups: int) -> None:
    """Prints the problems by cause, then one line of counts."""
    groups: dict[str, list[str]] = defaultdict(list)
    for group, text in result.problems:
        groups[group].append(text)
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))
    for group, texts in largest[:max_groups]:
        print(f"\n[{result.version}] {len(texts)} x {group}")
        for text in texts[:per_group]:
            print(f"    {text}")
    if len(largest) > max_groups:
        print(f"\n... and {len(largest) - max_groups} more causes")
    print(
        f"\nsame verdict {result.version}: {result.accepted} valid, {result.valid_rejected} of them rejected; "
        f"{result.rejected} invalid, {result.invalid_accepted} of them accepted ({result.listed} listed); "
        f"{len(result.problems)} problems"
    )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", help="such as 3.13 3.8; all that are found without")
    parser.add_argument("--library", help="graphmend's shared library")
    parser.add_argument("--cache", type=Path, default=places.DEFAULT_CACHE)
    parser.add_argument("--sample", type=int, help="this many snippets, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-group", type=int, default=3)
    parser.add_argument("--max-groups", type=int, default=60)
    options = parser.parse_args()

    library = places.find_library(options.library)
    found = pythons.find_pythons()
    oracle = found.get(pythons.ORACLE)
    if library is None or oracle is None:
        print("needs graphmend's shared library (--library) and a CPython 3.13", file=sys.stderr)
        return 2
    corpus = verdict_corpus.load(options.cache)
    if options.sample and options.sample < len(corpus):
        corpus = random.Random(options.seed).sample(corpus, options.sample)
    newest = check(oracle, library, corpus, set())
    has_problems = False
    for python in reversed(list(found.values())):
        if options.versions and python.name not in options.versions:
            continue
        is_oracle = python.version == pythons.ORACLE
        result = newest if is_oracle else check(python, library, corpus, newest.accepted_sources)
        show(result, options.per_group, options.max_groups)
        has_problems = has_problems or bool(result.problems)
    return 1 if has_problems else 0


if __name__ == "__main__":
    sys.exit(main())

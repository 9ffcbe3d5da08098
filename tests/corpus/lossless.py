"""Tokens plus gaps give back the bytes. In: the corpus, and random bytes. Out: the inputs for which they do not.

Random inputs are plain random bytes, random pieces of Python, and damaged files, all from a fixed seed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle import fragments, places, pool, pythons

from corpus import fetch
from corpus.same_tree import unique_files


def random_sources(seed: int, count: int) -> Iterator[bytes]:
    """Bytes that no one would call Python, and some that nearly are."""
    choose = random.Random(seed)
    pieces: list[bytes] = [text.encode() for text in fragments.EXPRESSIONS + fragments.STATEMENTS + fragments.WORDS]
    pieces += fragments.SPECIAL * 4
    for number in range(count):
        size = choose.randrange(1, 200)
        if number % 3 == 0:
            yield bytes(choose.randrange(256) for _ in range(size))
        elif number % 3 == 1:
            yield bytes(choose.choice(b" \t\r\n\f\\'\"#{}()[]fbrtu:!=.,xX01_eEjJ\xc3\xa9\x00") for _ in range(size))
        else:
            yield b"".join(choose.choice(pieces) for _ in range(size // 8 + 1))


def complaints(library: str, python: str, task: str, calls: Iterator[tuple[object, ...]]) -> list[str]:
    """What is wrong, one line for each input."""
    found = []
    for arguments, answer in pool.run_all(python, library, task, calls, timeout=120):
        if isinstance(answer, pool.Failure):
            answer = f"{answer.kind} {answer.detail[-200:]}"
        if answer:
            found.append(f"{str(arguments[0])[:200]}: {answer}")
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="graphmend's shared library")
    parser.add_argument("--cache", type=Path, default=places.DEFAULT_CACHE)
    parser.add_argument("--random", type=int, default=30_000, help="how many random inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, help="this many files of the corpus only")
    options = parser.parse_args()

    library = places.find_library(options.library)
    python = pythons.oracle_python()
    if library is None or python is None:
        print("needs graphmend's shared library (--library) and a CPython 3.13", file=sys.stderr)
        return 2
    paths = [str(path) for path, _, _ in unique_files(fetch.load_roots(options.cache))]
    if options.sample and options.sample < len(paths):
        paths = random.Random(options.seed).sample(paths, options.sample)
    wrong_files = complaints(library, python.executable, "tasks.check_lossless_file", ((path,) for path in paths))
    sources = ((source,) for source in random_sources(options.seed, options.random))
    wrong_random = complaints(library, python.executable, "tasks.check_lossless", sources)
    for line in wrong_files[:30] + wrong_random[:30]:
        print(line)
    print(
        f"lossless: {len(paths)} files, {len(wrong_files)} wrong; "
        f"{options.random} random inputs, {len(wrong_random)} wrong"
    )
    return 1 if wrong_files or wrong_random else 0


if __name__ == "__main__":
    sys.exit(main())

"""The front end against CPython 3.13, small enough for every run of the tests; the whole corpus is tests/corpus.

What is missing on this machine (a CPython 3.13, its `test` folder, the library) skips tests, and the reason says so.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from corpus import fetch, same_tree, same_verdict, verdict_corpus
from corpus.differential_fuzz import Fuzzer, write_pool
from corpus.lossless import complaints, random_sources
from oracle import places, pool, pythons
from oracle.snippets import Snippet

_SAMPLE_FILES = 300
_FUZZ_ROUNDS = 1500
_SEED = 20_250_101


@pytest.fixture(scope="session")
def cache() -> Path:
    return places.DEFAULT_CACHE


@pytest.fixture(scope="session")
def corpus(cache: Path) -> list[Snippet]:
    snippets = verdict_corpus.load(cache)
    if not snippets:
        pytest.skip("no CPython here came with its test folder")
    return snippets


@pytest.fixture(scope="session")
def files(oracle: pythons.Python) -> list[Path]:
    paths = sorted(fetch.files_of(oracle.library))
    return random.Random(_SEED).sample(paths, min(_SAMPLE_FILES, len(paths)))


@pytest.fixture(scope="session")
def newest(oracle: pythons.Python, library: str, corpus: list[Snippet]) -> same_verdict.Result:
    return same_verdict.check(oracle, library, corpus, set())


def _summary(problems: dict[str, list[str]]) -> str:
    return "\n".join(f"{len(texts)} x {cause}\n  {texts[0]}" for cause, texts in list(problems.items())[:20])


def test_fast_dump_is_ast_dump(oracle: pythons.Python, files: list[Path]) -> None:
    """The oracle's own short cut is right."""
    calls = ((str(path),) for path in files[:25])
    for (path,), answer in pool.run_all(oracle.executable, None, "tasks.fast_dump_is_right", calls):
        assert answer is True, f"{path}: {answer}"


def test_same_tree(library: str, oracle: pythons.Python, files: list[Path], cache: Path) -> None:
    """Every field and every position of the standard library's trees."""
    listed = [(path, same_tree.content_key(path.read_bytes()), path.stat().st_size) for path in files]
    known = same_tree.OracleCache(cache / "oracle-3.13.sqlite")
    report = same_tree.run(listed, known, library, oracle.executable, max_failures=50, is_quiet=True)
    known.close()
    assert not report.groups, _summary(report.groups)
    assert report.counts["same"] > 0


def test_same_verdict(newest: same_verdict.Result) -> None:
    """Nothing valid is rejected, and what is invalid and accepted is listed with the reason."""
    assert not newest.problems, "\n".join(f"{group}\n  {text}" for group, text in newest.problems[:20])


@pytest.mark.parametrize("version", pythons.SUPPORTED[:-1], ids=lambda version: f"{version[0]}.{version[1]}")
def test_older_targets(
    version: pythons.Minor, library: str, corpus: list[Snippet], newest: same_verdict.Result
) -> None:
    """Nothing that an older CPython accepts is rejected for it, and newer syntax is called by its version."""
    python = pythons.find_pythons().get(version)
    if python is None:
        pytest.skip(f"there is no CPython {version[0]}.{version[1]} here")
    result = same_verdict.check(python, library, corpus, newest.accepted_sources)
    assert not result.problems, "\n".join(f"{group}\n  {text}" for group, text in result.problems[:20])


def test_lossless_files(library: str, oracle: pythons.Python, files: list[Path]) -> None:
    """Tokens plus gaps are the file."""
    calls = ((str(path),) for path in files)
    assert complaints(library, oracle.executable, "tasks.check_lossless_file", calls) == []


def test_lossless_random(library: str, oracle: pythons.Python) -> None:
    """Tokens plus gaps are the bytes, whatever the bytes."""
    calls = ((source,) for source in random_sources(_SEED, 3000))
    assert complaints(library, oracle.executable, "tasks.check_lossless", calls) == []


def test_differential_fuzz(library: str, oracle: pythons.Python, cache: Path, corpus: list[Snippet]) -> None:
    """Mutated programs get the same verdict and the same tree."""
    fuzzer = Fuzzer(oracle, library, write_pool(cache, oracle), _SEED)
    fuzzer.run(0, _FUZZ_ROUNDS, is_quiet=True)
    worker = fuzzer.worker()
    reduced = [fuzzer.reduced(finding, worker, 200) for finding in fuzzer.findings[:5]]
    worker.close()
    assert not fuzzer.findings, "\n".join(f"{item.kind}: {item.source!r}: {item.detail}" for item in reduced)

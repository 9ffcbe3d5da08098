"""Syntax of every version, against the goldens in tests/golden. In: the native command. Out: pass or fail.

The goldens are checked with CPython itself by tests/golden/oracle.py, which also reads them for this test.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

TESTS = Path(__file__).resolve().parent


def load_oracle() -> ModuleType:
    # Not a package: old CPythons run that file alone.
    spec = importlib.util.spec_from_file_location("golden_oracle", TESTS / "golden" / "oracle.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = load_oracle()
CASES = [*ORACLE.error_cases(), *ORACLE.version_cases()]
SYNTAX = list(ORACLE.syntax_cases())
MINORS = range(ORACLE.OLDEST, ORACLE.NEWEST + 1)


@pytest.fixture(scope="session")
def case_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cases as files, so that one run of the command reads them all."""
    folder = tmp_path_factory.mktemp("cases")
    for number, case in enumerate(CASES):
        (folder / f"{number}.py").write_text(case.text, encoding="utf-8", newline="")
    return folder


@pytest.mark.parametrize("source, expected", SYNTAX, ids=[source.stem for source, _ in SYNTAX])
def test_tree(graphmend: str, source: Path, expected: Path) -> None:
    done = subprocess.run([graphmend, "dump", "ast", source], capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    statements = expected.read_text(encoding="utf-8").splitlines()
    # The statements, each checked for itself: the first that differs is what one wants to see.
    position = len("Module(body=[")
    assert done.stdout.startswith("Module(body=[")
    for number, statement in enumerate(statements, 1):
        found = done.stdout[position : position + len(statement)]
        assert found == statement, f"statement {number} of {source.name}"
        position += len(statement) + len(", ")
    assert done.stdout == "Module(body=[" + ", ".join(statements) + "])\n"


@pytest.mark.parametrize("minor", MINORS)
def test_verdicts(graphmend: str, case_folder: Path, minor: int) -> None:
    command = [graphmend, "parse", "--output-format", "json", "--target-version", f"3.{minor}", str(case_folder)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 1, done.stderr
    messages: dict[int, list[str]] = {}
    for error in json.loads(done.stdout):
        messages.setdefault(int(Path(error["filename"]).stem), []).append(error["message"])
    wrong = []
    for number, case in enumerate(CASES):
        found = messages.get(number, [])
        if case.accepted_by(minor) and found:
            wrong.append(f"{case.place}: rejected, {found[0]}: {case.text!r}")
        elif not case.accepted_by(minor) and not found:
            wrong.append(f"{case.place}: accepted: {case.text!r}")
        elif case.needs and minor < case.needs and not any(f"3.{case.needs}" in message for message in found):
            wrong.append(f"{case.place}: 3.{case.needs} is not named in {found}: {case.text!r}")
    assert not wrong, f"{len(wrong)} of {len(CASES)} cases\n" + "\n".join(wrong)

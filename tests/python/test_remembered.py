"""What was mended is remembered by later processes: fewer traces, and nothing else is different."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

PROGRAM = """\
import logging
import warnings

import torch

import graphmend
from graphmend._mending import frames

warnings.simplefilter("ignore")
logger = logging.getLogger("program")
traces = 0
seen = []


def counted(convert):
    def once(*args):
        global traces
        traces += 1
        return convert(*args)

    return once


def step(x):
    print("mean", x.mean().item())
    logger.warning("std %s", x.std())
    if x.abs().max() > 1e6:
        raise ValueError("large")
    scale = x.sum().item()
    if x.min() > 100:
        seen.append(1)
    return x * scale, x[x.sum(1).argmax()], x[x > 0].sum()


original = frames.trial
frames.trial = counted(original)
torch.manual_seed(0)
model = graphmend.compile(step, backend="eager", fullgraph=FULL)
for _ in range(3):
    print(model(torch.randn(3, 4)))
report = model.report
print(sorted((entry.line, entry.mend, entry.gb_type) for entry in report.breaks), report.whole)
print("traces", traces)
"""


def run(folder: Path, program: str = PROGRAM, **variables: str) -> tuple[str, int]:
    """What the program prints, and how often it was traced."""
    script = folder / "program.py"
    script.write_text(program.replace("FULL", variables.pop("full", "True")), encoding="utf-8")
    environment = {**os.environ, "GRAPHMEND_CACHE_DIR": str(folder / "cache"), "GRAPHMEND_REMEMBER": "1", **variables}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed, _, traces = done.stdout.rpartition("traces")
    return printed + done.stderr, int(traces)


def test_a_later_process_traces_less(tmp_path: Path) -> None:
    first, traces = run(tmp_path)
    again, fewer = run(tmp_path)
    # The print, which takes the log with it, and the check are known; numbers that are symbols, and predictions, are
    # found anew.
    assert (again, fewer) == (first, traces - 2)
    breaks = records(tmp_path)["records"]["with predictions"]["breaks"]
    assert [entry["mend"] for entry in breaks] == ["postpone", "postpone", "check"]
    # Without a memory all is as it was.
    assert run(tmp_path, GRAPHMEND_REMEMBER="0") == (first, traces)


def records(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "cache").iterdir()
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def test_a_record_is_of_one_text(tmp_path: Path) -> None:
    _, traces = run(tmp_path)
    known = records(tmp_path)
    changed = PROGRAM.replace('print("mean"', 'print("the mean"')
    assert run(tmp_path, changed)[1] == traces
    assert records(tmp_path)["of"] != known["of"]
    # With predictions and without are two.
    run(tmp_path, changed, full="False")
    run(tmp_path, changed, full="False", GRAPHMEND_SPECULATE="0")
    assert {name for name, found in records(tmp_path)["records"].items() if found["breaks"]} == {
        *("with predictions", "without")
    }


DAMAGES: list[Callable[[dict[str, Any]], None]] = [
    lambda found: found.pop("substitutes"),
    lambda found: found["breaks"][0].update(other=1),
]


def test_a_damaged_record_is_as_good_as_none(tmp_path: Path) -> None:
    first = run(tmp_path)
    (path,) = (tmp_path / "cache").iterdir()
    whole = path.read_text(encoding="utf-8")
    damaged = ["", whole[:-9], "[" * 100_000]
    for damage in DAMAGES:
        kept = json.loads(whole)
        damage(kept["records"]["with predictions"])
        damaged.append(json.dumps(kept))
    for text in damaged:
        path.write_text(text, encoding="utf-8")
        assert run(tmp_path) == first
    # Lines on which nothing is to be mended.
    kept = json.loads(whole)
    for number, entry in enumerate(kept["records"]["with predictions"]["breaks"]):
        entry["line"] = 1 + 7 * number
    path.write_text(json.dumps(kept), encoding="utf-8")
    printed, traces = run(tmp_path)
    assert printed.split("[(")[0] == first[0].split("[(")[0] and traces > 1


OTHER_SETTINGS = """\
import torch

import graphmend


def talk(text):
    open("/dev/null", "w").write(text)


def step(x):
    y = x * x.sum().item()
    talk("hello")
    return y + 1


model = graphmend.compile(step, backend="eager")
for n in range(12):
    model(torch.full((2,), float(n)))
print(sorted((entry.line, entry.mend) for entry in model.report.breaks))
print("traces 0")
"""


def test_nothing_is_remembered_of_what_was_in_vain(tmp_path: Path) -> None:
    assert "None" in run(tmp_path, OTHER_SETTINGS)[0]
    declared = run(tmp_path, OTHER_SETTINGS, GRAPHMEND_EFFECTS="__main__.talk")
    assert declared == run(tmp_path, OTHER_SETTINGS, GRAPHMEND_EFFECTS="__main__.talk", GRAPHMEND_REMEMBER="0")
    assert "None" not in declared[0]


NAMES = """\
import torch

import graphmend

for name in ("n" * 300, "a/" * 3000, "\\udcff.py", "<cell>", ""):
    space = {}
    exec(compile("def step(x):\\n    print(x.sum().item())\\n    return x * 2", name, "exec"), space)
    graphmend.compile(space["step"], backend="eager")(torch.ones(2))
print("traces 0")
"""


def test_code_of_any_name_is_compiled(tmp_path: Path) -> None:
    assert run(tmp_path, NAMES)[0].startswith("2.0\n" * 5)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    expected = run(tmp_path, GRAPHMEND_REMEMBER="0")
    (tmp_path / "cache").write_text("a file is in its place", encoding="utf-8")
    assert run(tmp_path) == expected

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


def test_a_later_process_traces_once(tmp_path: Path) -> None:
    first, traces = run(tmp_path)
    assert traces > 4
    again, once = run(tmp_path)
    assert (again, once) == (first, 1)
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
    assert run(tmp_path, changed, full="False", GRAPHMEND_SPECULATE="0")[1] > 1


def moved(found: dict[str, Any]) -> None:
    """Lines on which nothing is to be mended."""
    for number, entry in enumerate(found["breaks"]):
        entry["line"] = 1 + 7 * number


DAMAGES: list[Callable[[dict[str, Any]], None]] = [
    lambda found: found.update(captures={function: {"places": 3} for function in found["captures"]}),
    lambda found: found["breaks"][0].update(around=[[1]]),
    lambda found: found["breaks"][0].update(other=1),
]


def test_a_damaged_record_is_as_good_as_none(tmp_path: Path) -> None:
    first = run(tmp_path)
    (path,) = (tmp_path / "cache").iterdir()
    whole = path.read_text(encoding="utf-8")
    damaged = ["", "[1, 2]", whole[:-9], '{"of": null, "records": {}}']
    for damage in DAMAGES:
        kept = json.loads(whole)
        damage(kept["records"]["1"])
        damaged.append(json.dumps(kept))
    for text in damaged:
        path.write_text(text, encoding="utf-8")
        assert run(tmp_path) == first
    kept = json.loads(whole)
    moved(kept["records"]["1"])
    path.write_text(json.dumps(kept), encoding="utf-8")
    printed, traces = run(tmp_path)
    assert printed.split("[(")[0] == first[0].split("[(")[0] and traces > 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    expected = run(tmp_path, GRAPHMEND_REMEMBER="0")
    (tmp_path / "cache").write_text("a file is in its place", encoding="utf-8")
    assert run(tmp_path) == expected

"""What was mended is remembered by later processes: fewer traces, and nothing else is different."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

Run = Callable[..., tuple[str, int]]

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


# Has torch, and forks for each program: that is as good as a process of its own, without four seconds of imports.
SERVER = """\
import json, os, runpy, sys, traceback

import torch._dynamo

for line in sys.stdin:
    script, variables, output = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.update(variables)
        for stream in (1, 2):
            os.dup2(os.open(f"{output}{stream}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        status = 1
        try:
            runpy.run_path(script, run_name="__main__")
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        yield started
        assert started.stdin is not None
        started.stdin.close()


@pytest.fixture
def run(server: subprocess.Popen[str], tmp_path: Path) -> Run:
    def run_program(program: str = PROGRAM, **variables: str) -> tuple[str, int]:
        """What the program prints, and how often it was traced."""
        script = tmp_path / "program.py"
        script.write_text(program.replace("FULL", variables.pop("full", "True")), encoding="utf-8")
        variables = {"GRAPHMEND_CACHE_DIR": str(tmp_path / "cache"), "GRAPHMEND_REMEMBER": "1", **variables}
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps([str(script), variables, str(tmp_path / "output")]) + "\n")
        server.stdin.flush()
        status = server.stdout.readline()
        told = (tmp_path / "output2").read_text(encoding="utf-8")
        assert status == "0\n", told
        printed, _, traces = (tmp_path / "output1").read_text(encoding="utf-8").rpartition("traces")
        return printed + told, int(traces)

    return run_program


def test_a_later_process_traces_less(run: Run, tmp_path: Path) -> None:
    first, traces = run()
    again, fewer = run()
    # The print, which takes the log with it, and the check are known; numbers that are symbols, and predictions, are
    # found anew.
    assert (again, fewer) == (first, traces - 2)
    breaks = records(tmp_path)["records"]["with predictions"]["breaks"]
    assert [entry["mend"] for entry in breaks] == ["postpone", "postpone", "check"]
    # Without a memory all is as it was.
    assert run(GRAPHMEND_REMEMBER="0") == (first, traces)


def records(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "cache").iterdir()
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def test_a_record_is_of_one_text(run: Run, tmp_path: Path) -> None:
    _, traces = run()
    known = records(tmp_path)
    changed = PROGRAM.replace('print("mean"', 'print("the mean"')
    assert run(changed)[1] == traces
    assert records(tmp_path)["of"] != known["of"]
    # With predictions and without are two.
    run(changed, full="False")
    run(changed, full="False", GRAPHMEND_SPECULATE="0")
    assert {name for name, found in records(tmp_path)["records"].items() if found["breaks"]} == {
        *("with predictions", "without")
    }


DAMAGES: list[Callable[[dict[str, Any]], None]] = [
    lambda found: found.pop("substitutes"),
    lambda found: found["breaks"][0].update(other=1),
]


def test_a_damaged_record_is_as_good_as_none(run: Run, tmp_path: Path) -> None:
    first = run()
    (path,) = (tmp_path / "cache").iterdir()
    whole = path.read_text(encoding="utf-8")
    damaged = ["", whole[:-9], "[" * 100_000]
    for damage in DAMAGES:
        kept = json.loads(whole)
        damage(kept["records"]["with predictions"])
        damaged.append(json.dumps(kept))
    for text in damaged:
        path.write_text(text, encoding="utf-8")
        assert run() == first
    # Lines on which nothing is to be mended.
    kept = json.loads(whole)
    for number, entry in enumerate(kept["records"]["with predictions"]["breaks"]):
        entry["line"] = 1 + 7 * number
    path.write_text(json.dumps(kept), encoding="utf-8")
    printed, traces = run()
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


def test_nothing_is_remembered_of_what_was_in_vain(run: Run, tmp_path: Path) -> None:
    assert "None" in run(OTHER_SETTINGS)[0]
    declared = run(OTHER_SETTINGS, GRAPHMEND_EFFECTS="__main__.talk")
    assert declared == run(OTHER_SETTINGS, GRAPHMEND_EFFECTS="__main__.talk", GRAPHMEND_REMEMBER="0")
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


def test_code_of_any_name_is_compiled(run: Run) -> None:
    assert run(NAMES)[0].startswith("2.0\n" * 5)


def test_a_folder_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    expected = run(GRAPHMEND_REMEMBER="0")
    (tmp_path / "cache").write_text("a file is in its place", encoding="utf-8")
    assert run() == expected

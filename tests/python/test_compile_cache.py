"""What a second process finds in Inductor's caches: graphs of mended models are pure, so they hit like any other."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

PROGRAM = """
import json
import torch
import graphmend
from torch._dynamo.utils import counters

def step(x):
    if torch.isnan(x).any():
        raise ValueError("not a number")
    print("sum", x.sum())
    if x.mean() > 1:
        x = x / 2
    return torch.relu(x) * 2

compiled = graphmend.compile(step, fullgraph=True)
with torch.no_grad():
    compiled(torch.ones(8))
print(json.dumps({
    "whole": compiled.report.whole,
    "fx": [counters["inductor"][f"fxgraph_cache_{what}"] for what in ("hit", "miss", "bypass")],
    "autograd": [counters["aot_autograd"][f"autograd_cache_{what}"] for what in ("hit", "miss", "bypass")],
}))
"""


def run(folder: Path, autograd_cache: bool) -> dict[str, Any]:
    """What a new process counts: hits, misses and bypasses of each cache."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
        "TORCHINDUCTOR_AUTOGRAD_CACHE": str(int(autograd_cache)),
    }
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    assert printed[0] == "sum tensor(8.)"
    counted: dict[str, Any] = json.loads(printed[1])
    return counted


def test_a_second_process_hits_both_caches_and_a_third_the_one_of_graphs(tmp_path: Path) -> None:
    first, second, third = run(tmp_path, True), run(tmp_path, True), run(tmp_path, False)
    assert first == {"whole": True, "fx": [0, 1, 0], "autograd": [0, 1, 0]}
    # The graph comes out of the entry of the cache above it.
    assert second == {"whole": True, "fx": [1, 0, 0], "autograd": [1, 0, 0]}
    assert third == {"whole": True, "fx": [1, 0, 0], "autograd": [0, 0, 0]}

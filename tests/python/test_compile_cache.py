"""What a second process finds in Inductor's caches: graphs of mended models are pure, so they hit like any other."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
    "hits": counters["inductor"]["fxgraph_cache_hit"],
    "misses": counters["inductor"]["fxgraph_cache_miss"],
    "bypasses": counters["inductor"]["fxgraph_cache_bypass"] + counters["aot_autograd"]["autograd_cache_bypass"],
    "autograd hits": counters["aot_autograd"]["autograd_cache_hit"],
}))
"""


def run(folder: Path) -> dict[str, int]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    assert printed[0] == "sum tensor(8.)"
    counted: dict[str, int] = json.loads(printed[1])
    return counted


def test_a_second_process_hits_both_caches(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    assert first == {"whole": True, "hits": 0, "misses": 1, "bypasses": 0, "autograd hits": 0}
    # The graph itself is not looked up again when the cache above it has an answer.
    assert second["whole"]
    assert second["bypasses"] == second["misses"] == 0
    assert second["autograd hits"] == 1

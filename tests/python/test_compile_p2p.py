"""Two processes on this machine send to each other inside of a compiled function: as in eager."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
import torch.distributed as dist
from compiled_calls import end_process, free_port

from graphmend._mending.compile import compile as mended_compile

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not dist.is_available(), reason="this torch has no distributed package"),
]


def exchange(x: Any, rank: int) -> Any:
    """Sends twice what it has, and adds what it is sent."""
    taken = torch.empty_like(x)
    operations = [dist.P2POp(dist.isend, x * 2, 1 - rank), dist.P2POp(dist.irecv, taken, 1 - rank)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return x + taken


def one_by_one(x: Any, rank: int) -> Any:
    if rank == 0:
        dist.isend(x * 2, 1).wait()
        return x
    taken = torch.empty_like(x)
    dist.irecv(taken, 0).wait()
    return x + taken


def fails_after_it(x: Any, rank: int) -> Any:
    """What was sent cannot be taken back: a guard behind it is not predicted."""
    y = exchange(x, rank)
    if y.max() > 1e6:
        raise ValueError("too large")
    print("largest", y.max())
    return y


def worker(rank: int, folder: str, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    results = []
    for function in (exchange, one_by_one, fails_after_it):
        compiled = mended_compile(function, backend="eager")
        for step in range(3):
            x = torch.arange(4.0) + 10 * rank + step
            results.append((function(x, rank), compiled(x, rank)))
        results.append((bool(compiled.report.left), function is fails_after_it))
    torch.save(results, Path(folder) / str(rank))
    end_process()


def test_two_processes_send_to_each_other(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(worker, (str(tmp_path), free_port()), nprocs=2)
    for rank in (0, 1):
        for eager, mended in torch.load(tmp_path / str(rank), weights_only=False):
            assert torch.equal(torch.as_tensor(eager), torch.as_tensor(mended))

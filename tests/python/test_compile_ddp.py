"""Two processes on this machine train one model together: mended, they see what they see in eager."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, end_process, free_port, module_state, observe, seed

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


class Network(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Linear(4, 8)
        self.head = torch.nn.Linear(8, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.calls += 1
        y = torch.relu(self.body(x))
        print("mean", y.mean().item())
        if torch.isnan(y).any():
            raise ValueError("not a number")
        return self.head(y)


def train(model: Any, owner: Any, rank: int) -> list[Any]:
    optimizer = torch.optim.SGD(owner.parameters(), lr=0.1, momentum=0.9)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
        loss.backward()
        optimizer.step()
        return loss.detach()

    torch.manual_seed(rank)
    data = [torch.randn(4, 4) for _ in range(3)]
    # A step that fails on both, in the midst.
    data.insert(1, torch.full((4, 4), float("nan")))
    seen = [observe(step, (x,), __file__) for x in data]
    return [(each.result, each.printed, each.error and each.error[:2]) for each in seen]


def worker(rank: int, folder: str, port: int) -> None:
    """One of two processes: trains in eager, then mended, and leaves what it saw."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    results = {}
    for name in ("eager", "inside", "outside"):
        seed()
        model = Network()
        inner = mended_compile(model, backend="eager") if name == "inside" else model
        parallel = torch.nn.parallel.DistributedDataParallel(inner)
        if name == "outside":
            parallel = mended_compile(parallel, backend="eager")
        results[name] = {"steps": train(parallel, model, rank), **module_state(model)}
    torch.save(results, Path(folder) / str(rank))
    end_process()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed package")
def test_two_processes_train_together(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(worker, (str(tmp_path), free_port()), nprocs=2)
    ranks = [torch.load(tmp_path / str(rank), weights_only=False) for rank in (0, 1)]
    for rank in ranks:
        for name in ("inside", "outside"):
            found = differences(rank["eager"], rank[name], name)
            assert not found, "\n".join(found[:4])
    # They have talked to each other.
    assert ranks[0]["eager"]["head.weight"] == ranks[1]["eager"]["head.weight"]
    assert ranks[0]["eager"]["steps"] != ranks[1]["eager"]["steps"]

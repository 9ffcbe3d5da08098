"""Processes that send to each other; the other one is a stand-in of torch's that takes all and sends nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist

from .cases import Mended, case


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 5.0),)


@contextlib.contextmanager
def two_processes() -> Iterator[None]:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    try:
        yield
    finally:
        dist.destroy_process_group()


@case("P2P compilation disabled for isend/irecv", Mended("setting"), numbers, surroundings=two_processes)
def sends(x: torch.Tensor) -> torch.Tensor:
    work = dist.isend(x * 2, 1)
    work.wait()
    return x * 3


@case("P2P compilation disabled for P2POp construction", Mended("setting"), numbers, surroundings=two_processes)
def sends_together(x: torch.Tensor) -> torch.Tensor:
    operations = [dist.P2POp(dist.isend, x * 2, 1)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return x * 3


def operations() -> tuple[Any, ...]:
    x = torch.arange(1.0, 5.0)
    return x, [dist.P2POp(dist.isend, x, 1)]


@case("P2P compilation disabled for batch_isend_irecv", Mended("setting"), operations, surroundings=two_processes)
def sends_what_it_is_given(x: torch.Tensor, operations: list[Any]) -> torch.Tensor:
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return x * 3

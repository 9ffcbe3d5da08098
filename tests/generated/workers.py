"""Forked workers that judge programs in batches. In: tasks. Out: an answer per task, crashes and hangs included.

A worker is a fork of this process, with torch already imported; one that dies or hangs costs one program.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

Task = TypeVar("Task")


@dataclass
class Crash:
    """A task that brought no answer: why."""

    reason: str


@dataclass
class Died:
    """A process that a signal ended; its task is tried once more, in a process of its own. No answer to the task."""

    reason: str


@dataclass
class _Worker(Generic[Task]):
    pid: int
    pipe: int
    tasks: deque[Task]
    data: bytearray
    deadline: float


def run_tasks(
    tasks: Iterable[Task], work: Callable[[Task], Any], jobs: int, batch: int, limit: float
) -> Generator[tuple[Task, Any], None, None]:
    """Calls `work` on every task in forked processes; yields (task, answer or Crash) as they come.

    A task whose process died yields Died first, and its answer or Crash later: torch aborts a fork now and then.
    `limit` is the time in seconds that one task may take.
    """
    waiting = deque(tasks)
    again: deque[Task] = deque()
    died: list[Task] = []
    workers: list[_Worker[Task]] = []
    try:
        while waiting or again or workers:
            while again and len(workers) < jobs:
                workers.append(_start(deque([again.popleft()]), work, limit))
            while waiting and len(workers) < jobs:
                taken = deque(waiting.popleft() for _ in range(min(batch, len(waiting))))
                workers.append(_start(taken, work, limit))
            ready, _, _ = select.select([worker.pipe for worker in workers], [], [], 0.5)
            for worker in list(workers):
                ended = killed = False
                if worker.pipe in ready:
                    chunk = os.read(worker.pipe, 1 << 20)
                    ended = not chunk
                    worker.data += chunk
                    for answer in _messages(worker.data):
                        worker.deadline = time.monotonic() + limit
                        yield worker.tasks.popleft(), answer
                if not ended and time.monotonic() > worker.deadline:
                    os.kill(worker.pid, signal.SIGKILL)
                    yield worker.tasks.popleft(), Crash(f"no answer in {limit:.0f} s")
                    ended = killed = True
                if ended:
                    _, status = os.waitpid(worker.pid, 0)
                    os.close(worker.pipe)
                    workers.remove(worker)
                    if worker.tasks and not killed:
                        task, reason = worker.tasks.popleft(), f"the process ended with status {status}"
                        if os.WIFSIGNALED(status) and task not in died:
                            died.append(task)
                            again.append(task)
                            yield task, Died(reason)
                        else:
                            yield task, Crash(reason)
                    waiting.extendleft(reversed(worker.tasks))
    finally:
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)
            os.close(worker.pipe)


def _messages(data: bytearray) -> Iterator[Any]:
    while len(data) >= 4:
        (size,) = struct.unpack_from("<I", data)
        if len(data) < 4 + size:
            return
        answer = pickle.loads(bytes(data[4 : 4 + size]))
        del data[: 4 + size]
        yield answer


def _start(tasks: deque[Task], work: Callable[[Task], Any], limit: float) -> _Worker[Task]:
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        # The first program of a process also pays for what torch sets up once.
        return _Worker(pid, reading, tasks, bytearray(), time.monotonic() + limit + 30.0)
    os.close(reading)
    status = 1
    try:
        # After a fork torch makes its pool of threads anew, which must not be done by two threads at once.
        torch.set_num_threads(torch.get_num_threads())
        for task in tasks:
            try:
                answer = work(task)
            except BaseException:
                answer = Crash(traceback.format_exc())
            message = pickle.dumps(answer)
            rest = memoryview(struct.pack("<I", len(message)) + message)
            while rest:
                rest = rest[os.write(writing, rest) :]
        status = 0
    finally:
        os._exit(status)

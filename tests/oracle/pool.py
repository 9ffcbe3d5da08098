"""Calls many inputs through worker processes. In: a CPython, a task, inputs. Out: answers, crashes and hangs included.

A worker that dies or does not answer in time is replaced, and the input that did it is answered with `Failure`.
"""

from __future__ import annotations

import contextlib
import queue
import select
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

from oracle.wire import END, read_message, write_message

_WORKER = Path(__file__).resolve().parent / "worker.py"


class Failure(NamedTuple):
    """The worker crashed, hung or raised; `detail` says which signal, or what stderr held."""

    kind: str
    detail: str


class Worker:
    """One worker process, restarted when it dies."""

    def __init__(self, python: str, library: str | None, timeout: float = 60.0) -> None:
        self._command = [python, "-B", str(_WORKER)] + ([library] if library else [])
        self._timeout = timeout
        self._errors: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
            )
        return self._process

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream:
                    stream.close()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _failure(self, process: subprocess.Popen[bytes], kind: str) -> Failure:
        if kind == "crash":
            with contextlib.suppress(subprocess.TimeoutExpired):
                kind = f"crash {process.wait(timeout=5)}"
        detail = ""
        if self._errors is not None:
            self._errors.seek(0)
            detail = self._errors.read()[-2000:].decode("utf-8", "replace")
        self.close()
        return Failure(kind, detail)

    def call(self, task: str, *arguments: Any) -> Any:
        """One answer, or a Failure."""
        return next(self.call_chunk(task, [arguments]))

    def call_chunk(self, task: str, calls: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """One answer or Failure for each call, in order."""
        done = 0
        while done < len(calls):
            process = self._start()
            stdin = cast(BinaryIO, process.stdin)
            stdout = cast(BinaryIO, process.stdout)
            try:
                write_message(stdin, (task, list(calls[done:])))
            except BrokenPipeError:
                yield self._failure(process, "crash")
                done += 1
                continue
            while done < len(calls):
                is_ready, _, _ = select.select([stdout], [], [], self._timeout)
                if not is_ready:
                    yield self._failure(process, "hang")
                    done += 1
                    break
                answer = read_message(stdout)
                if answer is END:
                    yield self._failure(process, "crash")
                    done += 1
                    break
                yield Failure("error", str(answer)) if isinstance(answer, RuntimeError) else answer
                done += 1


def run_all(
    python: str,
    library: str | None,
    task: str,
    calls: Iterable[tuple[Any, ...]],
    *,
    processes: int = 2,
    chunk: int = 32,
    timeout: float = 60.0,
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields (arguments, answer) as they come, in no order; the answer is a Failure where the worker failed."""
    work: queue.Queue[list[tuple[Any, ...]] | None] = queue.Queue(maxsize=processes * 2)
    results: queue.Queue[tuple[tuple[Any, ...], Any] | None] = queue.Queue(maxsize=4096)
    is_stopping = threading.Event()

    def serve() -> None:
        worker = Worker(python, library, timeout)
        try:
            while True:
                item = work.get()
                if item is None:
                    break
                if is_stopping.is_set():
                    continue
                for arguments, answer in zip(item, worker.call_chunk(task, item), strict=True):
                    results.put((arguments, answer))
        finally:
            worker.close()
            results.put(None)

    def feed() -> None:
        pending: list[tuple[Any, ...]] = []
        for arguments in calls:
            if is_stopping.is_set():
                break
            pending.append(arguments)
            if len(pending) == chunk:
                work.put(pending)
                pending = []
        if pending:
            work.put(pending)
        for _ in range(processes):
            work.put(None)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(processes)]
    threads.append(threading.Thread(target=feed, daemon=True))
    for thread in threads:
        thread.start()
    finished = 0
    try:
        while finished < processes:
            result = results.get()
            if result is None:
                finished += 1
            else:
                yield result
    finally:
        is_stopping.set()
        while finished < processes:
            if results.get() is None:
                finished += 1

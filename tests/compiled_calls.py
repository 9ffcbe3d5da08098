"""What a call does that others can see, as plain values that compare with ==. In: a call. Out: a `Seen`.

`same_program` runs a model's original in eager and its mended twin on the same calls. Needs torch.
"""

from __future__ import annotations

import copy
import hashlib
import io
import logging
import os
import random
import socket
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import torch

from graphmend._mending.compile import compile as mended_compile


@dataclass
class Seen:
    """All that one call did."""

    result: Any
    error: Any
    arguments: Any
    state: Any
    printed: str
    # On standard error.
    complained: str
    warned: list[tuple[str, str, int]]
    records: list[tuple[str, str, str, int]]
    random: tuple[str, str]


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(level=0)
        self.seen: list[tuple[str, str, str, int]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("torch"):
            self.seen.append((record.name, record.getMessage(), record.funcName or "", record.lineno))


def plain(value: Any) -> Any:
    """Tensors and what holds them, as values that compare with ==; NaN equals itself."""
    if isinstance(value, torch.Tensor):
        grad = plain(value.grad) if value.is_leaf and value.grad is not None else None
        numbers = str(value.detach().to(torch.float64).tolist() if value.is_floating_point() else value.tolist())
        layout = (tuple(value.shape), value.stride() if value.layout == torch.strided and not value.is_nested else ())
        return (type(value).__name__, str(value.dtype), *layout, value.requires_grad, numbers, grad)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, torch.nn.Module):
        return module_state(value)
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, (int, str, bool, type(None))) else repr(type(value))


def module_state(module: torch.nn.Module) -> dict[str, Any]:
    """Parameters, buffers, gradients and plain attributes of a module and those inside it."""
    state: dict[str, Any] = {}
    for name, inner in module.named_modules():
        for key, value in vars(inner).items():
            if not key.startswith("_"):
                state[f"{name}.{key}"] = plain(value)
    state.update({name: plain(value) for name, value in module.named_parameters()})
    state.update({name: plain(value) for name, value in module.named_buffers()})
    return state


def random_states() -> tuple[str, str]:
    """Short names for the states of torch's and Python's random numbers."""
    states = (torch.get_rng_state().numpy().tobytes(), repr(random.getstate()).encode())
    return hashlib.sha256(states[0]).hexdigest()[:12], hashlib.sha256(states[1]).hexdigest()[:12]


def plain_error(error: BaseException, file: str) -> Any:
    """Type, arguments, cause, and the frames of the user's file with their columns."""
    frames = [
        (frame.name, frame.lineno, getattr(frame, "colno", None), getattr(frame, "end_colno", None))
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file
    ]
    chained = [
        (type(other).__name__, plain(other.args)) if other is not None else None
        for other in (error.__cause__, error.__context__)
    ]
    return (type(error).__name__, plain(error.args), frames, chained)


def observe(call: Callable[..., Any], args: Sequence[Any], file: str, owner: Any = None) -> Seen:
    """Makes the call and says all that it did. `file` is the user's, `owner` what holds state."""
    records = _Records()
    root = logging.getLogger()
    before = root.handlers[:], root.level
    root.handlers[:] = [records]
    # At DEBUG, torch tells everything that it does.
    root.setLevel(logging.INFO)
    printed, complained = io.StringIO(), io.StringIO()
    result = error = None
    try:
        with redirect_stdout(printed), redirect_stderr(complained), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = call(*args)
    except Exception as raised:
        error = plain_error(raised, file)
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
    told = printed.getvalue(), complained.getvalue()
    # torch warns on its own account.
    own = [(each.category.__name__, str(each.message), each.lineno) for each in warned if each.filename == file]
    return Seen(plain(result), error, plain(args), plain(owner), *told, own, records.seen, random_states())


def seed() -> None:
    torch.manual_seed(7)
    random.seed(7)


def numbers(*values: float) -> list[tuple[Any]]:
    """Calls with a tensor whose largest element is the value."""
    return [(torch.tensor([value, 0.5, -1.0]),) for value in values]


def reasons(compiled: Any) -> set[str]:
    """Why breaks are left."""
    return {entry.reason for entry in compiled.report.left}


def same_program(original: Any, calls: Sequence[Sequence[Any]], file: str, frames: bool = True, **settings: Any) -> Any:
    """Asserts that mended does in each call what eager does; returns the compiled twin.

    Breaks that are left show in the frames of exceptions, and in the function names of log records; then `frames` is
    False and the former are not compared.
    """
    twin, twin_calls = copy.deepcopy((original, calls))
    settings.setdefault("backend", "eager")
    compiled = mended_compile(twin, **settings)
    seed()
    expected = [observe(original, args, file, original) for args in calls]
    seed()
    seen = [observe(compiled, args, file, twin) for args in twin_calls]
    for each in (*expected, *seen):
        if each.error is not None and not frames:
            each.error = each.error[:2]
    found = [text for i in range(len(calls)) for text in differences(expected[i], seen[i], f"call {i}")]
    assert not found, "\n" + "\n".join(found[:6])
    return compiled


def differences(expected: Any, seen: Any, where: str = "") -> list[str]:
    """Where two plain values differ, for people."""
    if isinstance(expected, Seen) and isinstance(seen, Seen):
        expected, seen = vars(expected), vars(seen)
    if isinstance(expected, dict) and isinstance(seen, dict):
        keys = list(expected | seen)
        return [text for key in keys for text in differences(expected.get(key), seen.get(key), f"{where} {key}")]
    return [] if expected == seen else [f"{where}\n  expected {expected}\n  seen     {seen}"]


def free_port() -> int:
    """For processes that have to find each other."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def end_process() -> None:
    """Of a process that has talked to others: when torch takes that down, it may wait for itself for ever."""
    torch.distributed.barrier()
    os._exit(0)

"""What the sweeps share: a program's module, values as what can be compared, and going through all tasks."""

from __future__ import annotations

import importlib.util
import logging
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told(value: Any) -> Any:
    """A value as what can be compared."""
    if isinstance(value, torch.Tensor):
        kind = (str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad, value.is_inference())
        return kind, repr(value.detach().tolist()), _gradient(value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *map(told, value)
    if isinstance(value, dict):
        return type(value).__name__, *((told(key), told(each)) for key, each in value.items())
    # Dynamo has an array without dimensions for a number of numpy's.
    if isinstance(value, (np.ndarray, np.generic)):
        return "numpy", str(value.dtype), repr(value.tolist())
    is_plain = isinstance(value, (int, float, str, complex, type, type(None), torch.dtype, torch.device))
    return type(value).__name__, repr(value) if is_plain else None


def _gradient(tensor: torch.Tensor) -> Any:
    try:
        return told(tensor.grad) if tensor.is_leaf else None
    except RuntimeError as error:
        # Views that autograd does not allow say so when they are asked.
        return str(error)


def go_through(judge: Callable[[Any], str | None], tasks: Sequence[Any], jobs: int) -> tuple[int, int]:
    """Prints what `judge` says of each: None is nothing; an empty text, what plain torch.compile has as well. Returns
    how many differ, and how many differ as plain does."""
    # Dynamo says of every break how not to have it.
    logging.getLogger("torch").setLevel(logging.ERROR)
    own = torchs = 0
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=100) as pool:
        for done, said in enumerate(pool.imap(judge, tasks, chunksize=10), 1):
            own, torchs = own + bool(said), torchs + (said == "")
            if said:
                print(said, flush=True)
            if done % 100 == 0:
                print(f"{done}/{len(tasks)}", file=sys.stderr)
    return own, torchs

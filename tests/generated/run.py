"""Runs one variant of a program. In: a program's file, and how its target is compiled. Out: an Observation per call.

The program's file alone says what is called with what; nothing else is remembered.
"""

from __future__ import annotations

import ast
import contextlib
import contextvars
import copy
import logging
import pickle
import random
import sys
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .observe import Capture, Observation, describe_error, modes, rng_state
from .values import Describer

Target = Callable[..., Any]
Compile = Callable[[Target], Target]

_MODULE = "generated_program"


def load(path: Path, transform: Callable[[ast.Module], ast.Module] | None = None) -> types.ModuleType:
    """A fresh module of the program, with code objects of its own."""
    module = types.ModuleType(_MODULE)
    module.__file__ = str(path)
    # Dynamo finds a function's globals through sys.modules.
    sys.modules[_MODULE] = module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    exec(compile(transform(tree) if transform else tree, str(path), "exec"), module.__dict__)
    return module


_CONTEXTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "none": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "device": lambda: torch.device(torch.get_default_device().type),
}


_COPIES: dict[str, Callable[[Any], Any]] = {
    "deep": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


def _inputs(specs: list[tuple[str, tuple[int, ...], float, float, int]], dtype: torch.dtype) -> list[torch.Tensor]:
    made: list[torch.Tensor] = []
    for kind, shape, scale, shift, seed in specs:
        generator = torch.Generator("cpu").manual_seed(seed)
        value = torch.randn(shape, generator=generator, dtype=dtype, device="cpu") * scale + shift
        value = value.to(torch.get_default_device())
        if kind == "transposed":
            value = value.t().contiguous().t()
        elif kind == "constant":
            value = torch.full(shape, shift, dtype=dtype)
        elif kind == "nan":
            value[0, 0] = float("nan")
        elif kind == "leaf":
            value.requires_grad_()
        elif kind == "nonleaf":
            value = value.requires_grad_() * 1.0
        elif kind == "counts":
            value = torch.randint(0, int(scale) + 1, shape, generator=generator, device="cpu")
            value = value.to(torch.get_default_device())
        elif kind == "alias":
            value = made[0]
        elif kind == "view":
            value = made[0][:]
        made.append(value)
    return made


def run_variant(
    module: types.ModuleType, compile_target: Compile, path: Path, note_copy: Callable[[Any], object] = id
) -> list[Observation]:
    """Builds the program's target, compiles it, and makes every call; `note_copy` is told of compiled models that are
    copies of others."""
    settings: dict[str, Any] = module.SETTINGS
    capture = Capture(str(path))
    observations: list[Observation] = []
    results: list[Any] = []
    dtype: torch.dtype = getattr(torch, settings["dtype"])
    module.__dict__.pop("__warningregistry__", None)
    module.__dict__["COMPILE"] = compile_target
    torch.manual_seed(1)
    random.seed(2)
    np.random.seed(3)
    with capture.installed(settings["level"], settings["filter"]):
        target, owner = module.build()
        if isinstance(owner, torch.nn.Module):
            owner.to(dtype=dtype, device=torch.get_default_device())
        run = compile_target(target)
        for specs, around, before in module.CALLS:
            _prepare(before, owner)
            if "again" in before:
                run = compile_target(target)
            if "copy" in before and isinstance(run, torch.nn.Module):
                run, owner = _copied(run, _COPIES[before["copy"]])
                target = owner
                note_copy(run)
            arguments = _inputs(specs, dtype)
            with _where(before) as call:
                seen = call(_from_afar, _call, run, arguments, around, settings["backward"], capture)
            describer = Describer()
            seen.arguments = [describer.describe(argument) for argument in arguments]
            results.append(seen.result)
            seen.result = describer.describe(seen.result)
            seen.owner = describer.describe(owner)
            seen.globals = describer.describe(module.STATE)
            observations.append(seen)
    for seen, result in zip(observations, results, strict=True):
        seen.later = Describer().describe(result)
    for event, arguments_kept in capture.kept:
        event["kept"] = Describer().describe(arguments_kept)
    return observations


def _prepare(before: dict[str, Any], owner: Any) -> None:
    if "level" in before:
        logging.getLogger().setLevel(before["level"])
    if "train" in before:
        owner.train(before["train"])
    for name, value in before.get("set", {}).items():
        setattr(owner, name, value)
    if "load" in before:
        # A buffer that inference mode made must not be written to.
        with contextlib.suppress(RuntimeError):
            owner.load_state_dict(copy.deepcopy(owner.state_dict()))


def _copied(run: torch.nn.Module, copied: Callable[[Any], Any]) -> tuple[torch.nn.Module, torch.nn.Module]:
    """A copy of a model, compiled or not, and what holds its state; itself where its original cannot be copied so."""
    try:
        copied(getattr(run, "_orig_mod", run))
    except (RuntimeError, pickle.PicklingError, AttributeError, TypeError):
        # What was made by autograd has no deep copy, and a function of a function's no pickle.
        pass
    else:
        run = copied(run)
    return run, getattr(run, "_orig_mod", run)


@contextlib.contextmanager
def _where(before: dict[str, Any]) -> Iterator[Callable[..., Observation]]:
    """Calls functions as a call is to be made: in another thread, or where torch.compile is told to stand back."""
    with contextlib.ExitStack() as stack:
        call: Callable[..., Observation] = lambda function, *args: function(*args)  # noqa: E731
        if "stance" in before:
            stack.enter_context(torch.compiler.set_stance(before["stance"]))
        if "thread" in before:
            thread = stack.enter_context(ThreadPoolExecutor(1))
            # torch's settings are those of the context that they are set in.
            run = contextvars.copy_context().run
            call = lambda function, *args: thread.submit(run, function, *args).result()  # noqa: E731
        yield call


def _from_afar(function: Callable[..., Observation], *args: Any, frames: int = 4) -> Observation:
    """Makes a call from the same places in every thread: a stacklevel may point there, and each place warns once."""
    return _from_afar(function, *args, frames=frames - 1) if frames else function(*args)


def _call(run: Target, arguments: list[torch.Tensor], around: str, backward: bool, capture: Capture) -> Observation:
    seen = Observation()
    result: Any = None
    try:
        with _CONTEXTS[around]():
            result = run(*arguments)
    except BaseException as error:
        seen.error = describe_error(error, capture.path, Describer())
        # The frames hold the program's values; they must not outlive the call.
        error.__traceback__ = None
    seen.rng = rng_state()
    seen.modes = modes()
    if backward and seen.error is None:
        seen.backward = _backward(result)
    seen.result = result
    seen.events = capture.take()
    return seen


def _backward(result: Any) -> str:
    outputs = list(result.values()) if isinstance(result, dict) else result if isinstance(result, tuple) else [result]
    trained = [(n, v) for n, v in enumerate(outputs) if isinstance(v, torch.Tensor) and v.requires_grad]
    if not trained:
        return "nothing"
    try:
        torch.stack([v.float().sum() * (n + 1.5) for n, v in trained]).sum().backward()
    except (RuntimeError, TypeError, AttributeError) as error:
        # torch's text tells of versions and op names that only this run has.
        return f"raised {type(error).__name__}"
    return "done"

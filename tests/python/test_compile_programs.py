"""Programs of a page each, in `tests/programs`, on which mended was once another than eager.

A program has a function `f`, `CALLS` with its arguments, and, if more can be seen than what calls show, `state()`;
`and_then`, if each call is to be followed by something; `TORCH`, if older versions of torch get it wrong by themselves.
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import Seen, differences, observe, plain, seed

from graphmend._mending.compile import compile as mended_compile
from graphmend._torch.version import torch_version

PROGRAMS = sorted((Path(__file__).parent.parent / "programs").glob("*.py"))


def loaded(path: Path) -> Any:
    """The program as a module of its own, whose text Python has warned of."""
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def shown(call: Any, args: Any, path: Path) -> tuple[Seen, list[tuple[str, str, int]]]:
    """All that a call does, and what is warned of in the program's file; torch warns on its own account."""
    seed()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        seen = observe(call, args, str(path))
    # Breaks that are left show in the frames of exceptions.
    seen.error = seen.error[:2] if seen.error is not None else None
    warned = [(type(each.message).__name__, str(each.message), each.lineno) for each in told]
    return seen, [each for each, where in zip(warned, told, strict=True) if where.filename == str(path)]


@pytest.mark.parametrize("speculate", [True, False], ids=["speculate", "exact"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_it_does_what_eager_does(path: Path, speculate: bool) -> None:
    original, mended = loaded(path), loaded(path)
    if torch_version() < getattr(original, "TORCH", (0,)):
        pytest.skip("this torch does it otherwise than eager, without graphmend")
    torch._dynamo.reset()
    compiled = mended_compile(mended.f, backend="eager", speculate=speculate)
    called = getattr(original, "and_then", lambda call: call)
    for i in range(len(original.CALLS)):
        expected, warned = shown(called(original.f), original.CALLS[i], path)
        seen, warned_mended = shown(called(compiled), mended.CALLS[i], path)
        assert not (found := differences(expected, seen, f"call {i}")), "\n" + "\n".join(found)
        assert warned_mended == warned
        if hasattr(original, "state"):
            assert plain(mended.state()) == plain(original.state())

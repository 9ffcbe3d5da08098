"""Programs of a page each, in `tests/programs`, on which mended was once another than eager.

A program has a function `f`, `CALLS` with its arguments, and, if more can be seen than what calls show, `state()`.
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, observe, plain, seed

from graphmend._mending.compile import compile as mended_compile

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


@pytest.mark.parametrize("speculate", [True, False], ids=["speculate", "exact"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_it_does_what_eager_does(path: Path, speculate: bool) -> None:
    original, mended = loaded(path), loaded(path)
    torch._dynamo.reset()
    compiled = mended_compile(mended.f, backend="eager", speculate=speculate)
    for i in range(len(original.CALLS)):
        seed()
        expected = observe(original.f, original.CALLS[i], str(path))
        seed()
        seen = observe(compiled, mended.CALLS[i], str(path))
        for each in (expected, seen):
            # Breaks that are left show in the frames of exceptions.
            each.error = each.error[:2] if each.error is not None else None
        assert not (found := differences(expected, seen, f"call {i}")), "\n" + "\n".join(found)
        if hasattr(original, "state"):
            assert plain(mended.state()) == plain(original.state())

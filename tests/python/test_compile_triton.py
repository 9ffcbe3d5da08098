"""Kernels of Triton's are left alone, also where what calls them is mended. Needs a GPU."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch
import triton  # type: ignore[import-not-found,unused-ignore]
from compiled_calls import same_program
from triton import language as tl  # type: ignore[import-not-found,unused-ignore]

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="Triton's kernels run on a GPU"),
]


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def add_one(source, target, size, block: tl.constexpr):  # type: ignore[no-untyped-def]
    places = tl.program_id(0) * block + tl.arange(0, block)
    inside = places < size
    # A branch on a value, which would be a break in Python.
    if size > 2:
        tl.store(target + places, tl.load(source + places, mask=inside) + 1, mask=inside)


def plus_one(x: Any) -> Any:
    print("sum", x.sum().item())
    if x.max() > 100:
        raise ValueError("large")
    result = torch.zeros_like(x)
    print("before", result)
    add_one[(1,)](x, result, x.numel(), 16)
    print("behind", result)
    return result if x.sum() > 5 else -result


def plus_one_into(x: Any, target: Any) -> Any:
    """An input is changed by the kernel, and what comes behind it may raise."""
    print("before", target)
    add_one[(1,)](x, target, x.numel(), 16)
    if target.max() > 100:
        raise ValueError("large")
    return target * 2


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_kernels_are_left_alone(backend: str) -> None:
    x = torch.arange(6.0, device="cuda")
    code, text = add_one.fn.__code__, add_one.src
    compiled = same_program(plus_one, [(x,), (x * 0,), (x * 100,), (x,)], __file__, frames=False, backend=backend)
    assert len(compiled.report.mended) == 5 and compiled.report.whole
    assert add_one.fn.__code__ is code and add_one.src == text
    # And one that is called by nobody that is compiled.
    result = torch.zeros_like(x)
    add_one[(1,)](x, result, x.numel(), 16)
    assert torch.equal(result, x + 1)


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_what_a_kernel_changes(backend: str) -> None:
    x, target = torch.arange(6.0, device="cuda"), torch.zeros(6, device="cuda")
    calls = [(x, target), (x * 100, target), (x, target)]
    compiled = same_program(plus_one_into, calls, __file__, backend=backend, fullgraph=True)
    assert compiled.report.whole


def test_kernels_cannot_be_compiled_more_than_without_mends() -> None:
    said = []
    for make in (torch.compile, mended_compile):
        torch._dynamo.reset()
        with pytest.raises(Exception) as raised:
            make(add_one, backend="eager")(torch.ones(3))
        said.append((type(raised.value), str(raised.value).splitlines()[0]))
    assert said[0] == said[1]

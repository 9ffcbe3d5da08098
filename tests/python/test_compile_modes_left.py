"""Modes that a graph enters and, when it raises, does not leave: they are left, and the process is as eager has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons
from torch.autograd import forward_ad
from torch.nn import attention

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])
layer = torch.nn.Linear(3, 3)
ROWS = [[1, 2, 0], [1, 0, 2], [2, 1, 1], [0, 1, 5], [1, 2, 0], [7, 0, 2], [1, 2, 0]]


def under_autocast(x: Any, rows: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False), torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x).float()
        if bool(rows.max() < 3):
            return y[rows]
        return y * 2


def by_one_kernel(x: Any, rows: Any) -> Any:
    kernels = [attention.SDPBackend.MATH, attention.SDPBackend.EFFICIENT_ATTENTION]
    with attention.sdpa_kernel(kernels, set_priority=True):
        if bool(rows.max() < 3):
            return x[rows]
        return x * 2


def in_inference_mode(x: Any, rows: Any) -> Any:
    with torch.inference_mode():
        y = x[:3] * 2
        with torch.inference_mode(False), torch.inference_mode():
            if bool(rows.max() < 3):
                return y[rows]
        return y * 2


def forward(x: Any, rows: Any) -> Any:
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x, torch.ones_like(x)).sin()
        y = y[rows] if bool(rows.max() < 3) else y * 2
        value, tangent = forward_ad.unpack_dual(y)
    return value + tangent


def gradient(x: Any, rows: Any) -> Any:
    def cubes(y: Any) -> Any:
        if bool(rows.max() < 3):
            y = y[rows]
        return (y**3).sum()

    return torch.func.grad(cubes)(x)


def process() -> list[object]:
    """What a mode that was not left would change for all that comes afterwards."""
    nesting = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        weights = layer(torch.ones(3)).tolist()
    curved = torch.func.hessian(lambda x: (x**3).sum())(torch.ones(2)).tolist()
    kernels = attention._cur_sdpa_kernel_backends(), torch._C._get_sdp_priority_order()
    autocast = nesting, torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()
    modes = torch.is_inference_mode_enabled(), torch.is_grad_enabled(), torch._C._is_multithreading_enabled()
    keys = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    levels = torch._C._functorch.get_dynamic_layer_stack_depth()
    return [*autocast, weights, curved, *kernels, *modes, *map(str, keys), levels]


def seen(function: Callable[..., Any]) -> list[object]:
    shown: list[object] = []
    with torch.no_grad():
        layer.weight.fill_(1.0)
    for rows in ROWS:
        shown += [function(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(rows)).tolist(), process()]
        with torch.no_grad():
            layer.weight.mul_(0.75)
    return shown


@BACKENDS
@pytest.mark.parametrize("function", [under_autocast, by_one_kernel, in_inference_mode, gradient])
def test_a_graph_raises_under_a_mode(function: Callable[..., Any], backend: str) -> None:
    compiled = mended_compile(function, backend=backend)
    assert seen(compiled) == seen(function)
    # A backend may not do what is inside of a transform.
    if function is not gradient or backend == "eager":
        assert compiled.report.mended and not compiled.report.left and compiled.report.misses == 2


VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x[:, -1],
    lambda x: x.view(-1, 2),
    lambda x: list(x)[1],
    lambda x: x.chunk(2)[0],
    lambda x: x[:, None],
    lambda x: x.detach(),
]


@BACKENDS
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_inputs_in_inference_mode(view: Callable[[Any], Any], backend: str) -> None:
    @torch.inference_mode()  # type: ignore[untyped-decorator,unused-ignore]
    def predicts(x: Any) -> Any:
        y = view(x) * 2
        if y.max() > 50:
            raise ValueError(y.max().item())
        return y.argmax().item(), y.mean().item(), y

    compiled, before = mended_compile(predicts, backend=backend), process()
    for i in range(4):
        x = torch.arange(4.0).reshape(2, 2) + i
        for seen, expected in zip(compiled(x), predicts(x), strict=True):
            assert torch.equal(torch.as_tensor(seen), torch.as_tensor(expected))
        assert process() == before
    with pytest.raises(ValueError, match="200"):
        compiled(torch.full((2, 2), 100.0))
    assert process() == before
    assert not compiled.report.left and compiled.report.graphs > 0


def test_a_default_device_that_is_set_inside() -> None:
    """Behind a graph, Dynamo loses the mode that says which."""

    def sets(x: Any) -> Any:
        k = int(x.sum())
        torch.set_default_device("cpu")
        return x * torch.ones(3) * k

    compiled = mended_compile(sets, backend="eager")
    try:
        for i in range(3):
            assert torch.equal(compiled(torch.ones(3) * i), torch.ones(3) * 3 * i * i)
            assert torch.ones(2).device.type == "cpu"
    finally:
        torch.set_default_device(None)
    assert reasons(compiled) == {"it changes the device on which tensors are made by default"}


def test_a_level_of_forward_derivatives_is_left_to_python() -> None:
    compiled = mended_compile(forward, backend="eager")
    assert seen(compiled) == seen(forward)
    assert reasons(compiled) == {"the graph switches a setting of torch's, which could not be undone"}


def curvature(x: Any) -> Any:
    curved = torch.func.hessian(lambda y: (y**3).sum())(x)
    print(curved[0, 0])
    return curved


def test_looking_at_a_graph_leaves_its_level(capsys: pytest.CaptureFixture[str]) -> None:
    compiled, before = mended_compile(curvature, backend="eager"), process()
    for _ in range(2):
        assert compiled(torch.ones(2)).tolist() == [[6.0, 0.0], [0.0, 6.0]]
        assert process() == before
    assert capsys.readouterr().out == "tensor(6.)\n" * 2
    assert compiled.report.left


def cubes_shown(x: Any) -> Any:
    def cubes(y: Any) -> Any:
        total = (y**3).sum()
        print("inside", total, y.shape)
        return total

    slope = torch.func.grad(cubes)(x)
    print("outside", slope)
    return slope


def test_what_a_transform_is_given_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.tensor([1.0, 2.0])
    expected = cubes_shown(x).tolist()
    said = capsys.readouterr().out
    compiled = mended_compile(cubes_shown, backend="eager")
    assert compiled(x).tolist() == expected
    assert capsys.readouterr().out == said
    assert "a transform of `torch.func` is around it, and its tensors say so" in reasons(compiled)

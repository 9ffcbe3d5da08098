"""Around a mended call: grad modes, autocast, stances, parts that are disabled, checkpoints and hooks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, module_state, observe, plain, same_program, seed
from torch.utils.checkpoint import checkpoint

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.arange(6.0).reshape(2, 3) / 10


class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.second = torch.nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count += 1
        y = torch.relu(self.first(x))
        print("dtype", y.dtype, y.requires_grad, torch.is_grad_enabled())
        if x.max() > 100:
            raise ValueError("too large")
        return self.second(y)


MODES: dict[str, Callable[[], Any]] = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "save_on_cpu": lambda: torch.autograd.graph.save_on_cpu(),
    "default_device": lambda: torch.device("cpu"),
}


@pytest.mark.parametrize("name", MODES)
def test_a_mode_around_the_call(name: str) -> None:
    original = Model()

    def run(model: Any) -> Any:
        def call(x: Any) -> Any:
            with MODES[name]():
                result = model(x)
                return result, result.is_inference(), torch.is_grad_enabled()

        return call

    twin = Model()
    twin.load_state_dict(original.state_dict())
    compiled = mended_compile(twin, backend="eager", fullgraph=True)
    for x in (X, X * 10000, X):
        expected = observe(run(original), (x,), __file__, original)
        assert not differences(expected, observe(run(compiled), (x,), __file__, twin))
    assert compiled.report.misses == 1
    # And back without the mode.
    expected = observe(original, (X,), __file__, original)
    assert not differences(expected, observe(compiled, (X,), __file__, twin))


class Wants(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def forward(self, x: Any) -> Any:
        count = (x > 0.1).sum().item()
        print("values", [round(value.item(), 1) for value in x[0]], x.tolist()[0][0])
        rows = x[x[:, 0] > 0.1]
        if x.sum() > 1:
            x = x * 2
        for k in range(int(x.max()) + 1):
            x = x + k + torch.ones(3)
        return x[:count].sum(), rows.shape, torch.nonzero(x > 100).shape, x.mean().item()


def test_breaks_under_a_default_device_are_the_programs_own() -> None:
    original = Wants()
    compiled = mended_compile(Wants(), backend="eager", fullgraph=True)
    with torch.device("cpu"):
        for x in (X, X * 3, X, X * 3):
            expected = observe(original, (x,), __file__, original)
            assert not differences(expected, observe(compiled, (x,), __file__, compiled._orig_mod))
    assert all(each.file == __file__ for each in compiled.report.breaks)


@pytest.mark.parametrize("name", ["no_grad", "autocast", "inference_mode"])
def test_a_mode_inside_the_call(name: str) -> None:
    class Inside(Model):
        def forward(self, x: Any) -> Any:
            with MODES[name]():
                y = self.first(x)
                print("inside", y.dtype, y.requires_grad)
                if x.max() > 100:
                    raise ValueError("too large")
            print("outside", torch.is_grad_enabled(), y.sum().item())
            return y * 2

    # AOTAutograd of torch 2.11 cannot tell what a graph with inference_mode in it changes: the breaks stay.
    is_whole = name != "inference_mode" or torch.__version__ >= "2.12"
    same_program(Inside(), [(X,), (X * 10000,), (X,)], __file__, frames=is_whole)
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")


@torch.compiler.disable  # type: ignore[untyped-decorator,unused-ignore]
def left_alone(x: Any) -> Any:
    print("left alone", x.sum().item())
    if x.max() > 1000:
        raise ValueError("left alone is too large")
    return x + 1


def around(x: Any) -> Any:
    print("before")
    y = left_alone(x * 2)
    print("after", y.sum().item())
    if y.max() > 100:
        raise ValueError("around is too large")
    return y * 2


def test_a_part_that_is_disabled() -> None:
    texts = []
    for target in (around, mended_compile(around, backend="eager")):
        seen = [observe(target, (x,), __file__) for x in (X, X * 1000, X * 100000, X)]
        texts.append([(each.printed, each.result, each.error and each.error[:2]) for each in seen])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("stance", ["force_eager", "eager_on_recompile", "fail_on_recompile"])
def test_stances(stance: str) -> None:
    def run(make: Any) -> Any:
        torch._dynamo.reset()
        seed()
        model = Model()
        compiled = make(model)
        seen = [observe(compiled, (X,), __file__, model)]
        with torch.compiler.set_stance(stance):
            seen += [observe(compiled, (x,), __file__, model) for x in (X, X * 10000, X[:1])]
        return [*seen, observe(compiled, (X,), __file__, model)]

    eager = run(lambda model: model)
    theirs = run(lambda model: torch.compile(model, backend="eager"))
    mended = run(lambda model: mended_compile(model, backend="eager"))
    for i in range(len(eager)):
        errors = [each[i].error and each[i].error[0] for each in (eager, theirs, mended)]
        # Dynamo may forbid what eager does; what breaks the graph no more needs no new graph behind it either.
        assert errors[2] in errors[:2]
        if errors[2] == errors[0]:
            assert not differences(eager[i], mended[i])
        else:
            break


@pytest.mark.parametrize("reentrant", [False, True], ids=["not_reentrant", "reentrant"])
@pytest.mark.parametrize("where", ["inside", "around"])
def test_activation_checkpointing(where: str, reentrant: bool) -> None:
    class Checkpointed(Model):
        def block(self, x: Any) -> Any:
            y = torch.relu(self.first(x))
            print("block", y.sum().item())
            if x.max() > 100:
                raise ValueError("too large")
            return torch.nn.functional.dropout(y, 0.5)

        def forward(self, x: Any) -> Any:
            print("forward")
            return self.second(checkpoint(self.block, x, use_reentrant=reentrant))

    def run(make: Any) -> Any:
        torch._dynamo.reset()
        seed()
        model: Any = Checkpointed() if where == "inside" else Model()
        compiled = make(model)

        def step(x: Any) -> Any:
            leaf = x.clone().requires_grad_()
            result = compiled(leaf) if where == "inside" else checkpoint(compiled, leaf, use_reentrant=reentrant)
            result.sum().backward()
            return result.detach(), leaf.grad

        seen = [observe(step, (x,), __file__, model) for x in (X, X * 10000, X)]
        for each in seen:
            each.error = each.error and each.error[:2]
        return seen

    eager = run(lambda model: model)
    theirs = run(lambda model: torch.compile(model, backend="eager"))
    mended = run(lambda model: mended_compile(model, backend="eager"))
    for i in range(len(eager)):
        if where == "around" and not reentrant:
            # The recomputation is stopped from inside of the graph, and what it did by then does not count.
            for each in (eager[i], theirs[i], mended[i]):
                each.state.pop("count")
                each.printed = each.printed[: each.printed.find("\n") + 1]
        # Where Dynamo differs from eager, either will do.
        assert mended[i] in (eager[i], theirs[i]), "\n".join(differences(eager[i], mended[i]))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("calls_before", [0, 3])
def test_predictions_around_which_a_checkpoint_stands(backend: str, calls_before: int) -> None:
    """The recomputation comes when other values are predicted."""

    def block(x: Any, k: Any) -> Any:
        return torch.stack([torch.sin(x * (i + 1)) for i in range(int(k))]).sum(0)

    def gradients(function: Any) -> Any:
        leaves = [torch.arange(3.0, requires_grad=True) for _ in range(6)]
        pairs = zip(leaves, [1, 2, 2, 2, 1, 3], strict=True)
        for result in [checkpoint(function, x, torch.tensor([k]), use_reentrant=False) for x, k in pairs]:
            result.sum().backward()
        return [x.grad for x in leaves]

    torch._dynamo.reset()
    compiled = mended_compile(block, backend=backend)
    for _ in range(calls_before):
        compiled(torch.arange(3.0, requires_grad=True), torch.tensor([2]))
    assert all(map(torch.equal, gradients(block), gradients(compiled)))
    # Compiled with predictions before, it runs as written inside of the checkpoint.
    if calls_before:
        assert (compiled.report.calls, compiled.report.misses) == (15, 12)
    else:
        assert "hooks, as activation checkpointing has them" in str(compiled.report)


def hook_on(calls: list[Any], name: str) -> Callable[..., Any]:
    def hook(module: Any, *args: Any) -> None:
        calls.append((name, type(module).__name__, [plain(arg) for arg in args]))

    return hook


def test_hooks_on_the_model_and_inside() -> None:
    outcomes = []
    makes: list[Callable[[Any], Any]] = [lambda model: model, lambda model: mended_compile(model, backend="eager")]
    for make in makes:
        torch._dynamo.reset()
        seed()
        model = Model()
        compiled = make(model)
        calls: list[Any] = []
        handles = []
        for name, inner in (("root", model), ("first", model.first)):
            handles.append(inner.register_forward_pre_hook(hook_on(calls, f"{name} before")))
            handles.append(inner.register_forward_hook(hook_on(calls, f"{name} after")))
            handles.append(inner.register_full_backward_hook(hook_on(calls, f"{name} backward")))
        handles.append(compiled.register_forward_hook(hook_on(calls, "last")))
        texts = []
        for x in (X, X * 10000, X):
            leaf = x.clone().requires_grad_()
            with contextlib.suppress(ValueError):
                compiled(leaf).sum().backward()
            texts.append(plain(leaf.grad))
        for handle in handles:
            handle.remove()
        count = len(calls)
        compiled(X).sum().backward()
        # The outer module has a name of its own when it is compiled.
        named = [(name, "Model" if "Module" in kind else kind, args) for name, kind, args in calls]
        outcomes.append((named, texts, len(calls) - count, module_state(model)))
    assert outcomes[0][2] == 0
    eager, mended = ({"calls": dict(enumerate(one)), "rest": rest} for one, *rest in outcomes)
    found = differences(eager, mended)
    assert not found, "\n".join(found[:4])


def test_a_hook_that_talks_and_checks() -> None:
    def talk(module: Any, args: Any, result: Any) -> Any:
        print("hook", result.sum().item())
        if result.max() > 100:
            raise ValueError("hook is too large")
        return result + 1

    model = Model()
    model.first.register_forward_hook(talk)
    same_program(model, [(X,), (X * 10000,), (X,)], __file__)


def test_parametrizations_and_weight_norm() -> None:
    model = Model()
    torch.nn.utils.parametrizations.weight_norm(model.first)
    same_program(model, [(X,), (X * 10000,), (X,)], __file__)


def shows_where_gradients_are_on(x: Any) -> Any:
    with torch.enable_grad():
        y = torch.sigmoid(x)
        print(y[0])
        if y.std() > 4.0:
            raise ValueError("wide")
    return y * 2


def test_what_is_shown_in_inference_mode_requires_no_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(2, requires_grad=True)
    compiled = mended_compile(shows_where_gradients_are_on, backend="eager", fullgraph=True)
    with torch.inference_mode():
        expected, shown = shows_where_gradients_are_on(x), capsys.readouterr().out
        assert torch.equal(compiled(x), expected) and capsys.readouterr().out == shown
    assert compiled.report.misses == 0

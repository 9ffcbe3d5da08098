"""What `graphmend.compile` returns has the attributes of what `torch.compile` returns, and is copied alike."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import module_state, observe, seed

from graphmend._mending.compile import compile as mended_compile
from graphmend._reporting import report

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.ones(2, 3)


class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))
        self.register_buffer("count", torch.zeros(()))
        self.scale = 2

    def forward(self, x: Any) -> Any:
        self.count += 1
        y = self.inner(x) * self.scale
        print("called", self.scale, self.training)
        if x.max() > 100:
            raise ValueError("too large")
        return y


def step(x: Any) -> Any:
    """What it does."""
    print("step", tuple(x.shape))
    return x + 1


def pair(called: bool) -> tuple[Any, Any]:
    """A model compiled by torch and its twin compiled by graphmend."""
    compiled = []
    for make in (torch.compile, mended_compile):
        seed()
        model = make(Model(), backend="eager")
        if called:
            observe(model, (X,), __file__)
        compiled.append(model)
    return compiled[0], compiled[1]


@pytest.mark.parametrize("called", [False, True], ids=["fresh", "called"])
def test_a_module_has_the_same_attributes(called: bool) -> None:
    plain, mended = pair(called)
    assert isinstance(mended, torch._dynamo.OptimizedModule) and type(mended._orig_mod) is Model
    assert [name for name in dir(mended) if name != "report"] == dir(plain)
    assert list(mended.state_dict()) == list(plain.state_dict())
    assert list(mended.state_dict())[-1].startswith("_orig_mod.")
    assert [name for name, _ in mended.named_parameters()] == [name for name, _ in plain.named_parameters()]
    assert [name for name, _ in mended.named_modules()] == [name for name, _ in plain.named_modules()]
    assert mended.scale == plain.scale == 2
    assert repr(mended).replace("MendedModule", "OptimizedModule") == repr(plain)
    assert module_state(mended._orig_mod) == module_state(plain._orig_mod)


def test_the_training_flag_and_attributes_pass_through() -> None:
    plain, mended = pair(True)
    for model in (plain, mended):
        model.eval()
        model.scale = 10
        model.extra = "new"
        model.to(torch.float64)
    assert (mended.training, mended._orig_mod.training) == (plain.training, plain._orig_mod.training) == (False, False)
    assert (mended._orig_mod.scale, mended._orig_mod.extra) == (10, "new")
    x = X.to(torch.float64)
    assert observe(mended, (x,), __file__, mended._orig_mod) == observe(plain, (x,), __file__, plain._orig_mod)
    for model in (plain, mended):
        model.train()
        del model.extra
    assert not hasattr(mended._orig_mod, "extra")
    assert observe(mended, (x,), __file__).printed == "called 10 True\n"


def test_state_is_loaded_alike() -> None:
    plain, mended = pair(True)
    mended.load_state_dict(plain.state_dict())
    other = Model()
    other.load_state_dict(mended._orig_mod.state_dict())
    missing = [
        make(Model()).load_state_dict(other.state_dict(), strict=False) for make in (torch.compile, mended_compile)
    ]
    assert missing[0] == missing[1]


def test_a_function_has_the_same_attributes() -> None:
    plain, mended = (make(step, backend="eager") for make in (torch.compile, mended_compile))
    assert set(dir(mended)) - {"report"} == set(dir(plain))
    assert mended._torchdynamo_orig_callable is plain._torchdynamo_orig_callable is step
    assert mended.__wrapped__ is plain.__wrapped__ is step
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "_torchdynamo_inline"):
        assert getattr(mended, name) == getattr(plain, name)
    assert torch._dynamo.eval_frame.innermost_fn(mended) is step
    assert step not in (plain, mended) and not hasattr(step, "report")


def test_a_compiled_function_is_compiled_again() -> None:
    again = mended_compile(mended_compile(step, backend="eager"), backend="eager", fullgraph=True)
    assert observe(again, (X,), __file__).printed == "step (2, 3)\n"
    over_plain = mended_compile(torch.compile(step, backend="eager"), backend="eager", fullgraph=True)
    assert observe(over_plain, (X,), __file__).printed == "step (2, 3)\n"
    under_plain = torch.compile(mended_compile(step, backend="eager"), backend="eager")
    assert observe(under_plain, (X,), __file__).printed == "step (2, 3)\n"


def saved(model: Any) -> Any:
    data = io.BytesIO()
    torch.save(model, data)
    data.seek(0)
    return torch.load(data, weights_only=False)


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "save": saved,
}


@pytest.mark.parametrize(
    ("how", "called"), [("deepcopy", True), ("copy", True), ("pickle", False), ("pickle", True), ("save", False)]
)
def test_a_copy_is_what_torch_makes_of_it(how: str, called: bool) -> None:
    def outcome(model: Any) -> Any:
        try:
            copied = COPIES[how](model)
        except Exception as error:
            return type(error).__name__
        seed()
        seen = [observe(copied, (x,), __file__, copied._orig_mod) for x in (X, X * 1000)]
        # A break shows in the frames of an error after it.
        for each in seen:
            each.error = each.error and each.error[:2]
        shared = copied._orig_mod is model._orig_mod
        return isinstance(copied, torch._dynamo.OptimizedModule), shared, seen, module_state(model._orig_mod)

    plain, mended = pair(called)
    assert outcome(mended) == outcome(plain)


@pytest.mark.parametrize("called", [False, True], ids=["fresh", "called"])
def test_a_deep_copy_is_mended_too(called: bool) -> None:
    _, mended = pair(called)
    copied = copy.deepcopy(mended)
    assert copied._orig_mod is not mended._orig_mod
    before = mended.report.calls
    observe(copied, (X,), __file__)
    assert copied.report is not mended.report and copied.report in report.all_reports()
    assert (copied.report.whole, copied.report.graphs, mended.report.calls) == (True, 1, before)


def test_the_originals_deep_copy_is_plain() -> None:
    _, mended = pair(True)
    copied = copy.deepcopy(mended._orig_mod)
    assert type(copied) is Model
    assert pickle.loads(pickle.dumps(mended._orig_mod)).count == 1


@pytest.mark.parametrize("how", COPIES)
def test_a_model_compiled_in_place_is_copied_alike(how: str) -> None:
    def outcome(make: Any) -> Any:
        seed()
        model = Model()
        model._compiled_call_impl = make(model._call_impl, backend="eager")
        observe(model, (X,), __file__)
        try:
            copied = COPIES[how](model)
        except Exception as error:
            return type(error).__name__
        seed()
        seen = observe(copied, (X,), __file__, copied)
        return copied._compiled_call_impl is None, seen

    assert outcome(mended_compile) == outcome(torch.compile)


def test_a_function_is_pickled_as_torchs_is() -> None:
    def outcome(make: Any) -> str:
        try:
            return repr(type(pickle.loads(pickle.dumps(make(step, backend="eager")))))
        except Exception as error:
            return type(error).__name__

    assert outcome(mended_compile) == outcome(torch.compile)

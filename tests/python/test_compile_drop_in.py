"""`graphmend.compile` stands in for `torch.compile`: every way to call it, every backend, the same errors."""

from __future__ import annotations

import functools
import inspect
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import observe, same_program

from graphmend._mending.compile import compile as mended_compile
from graphmend._reporting.report import Report

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def talk(x: Any, scale: Any = 2.0) -> Any:
    y = x * scale
    print("sum", y.sum().item())
    if y.max() > 100:
        raise ValueError("too large", tuple(y.shape))
    return y + 1


class Talker(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))
        self.steps = 0

    def forward(self, x: Any) -> Any:
        self.steps += 1
        self.count += 1
        y = self.linear(x)
        print("step", self.steps, tuple(y.shape))
        if x.max() > 100:
            raise ValueError("too large")
        return torch.relu(y)

    def other(self, x: Any) -> Any:
        print("other", self.steps)
        return self.linear(x) * 2


GOOD, BAD = torch.ones(2, 3), torch.full((2, 3), 1000.0)


def test_a_function() -> None:
    compiled = same_program(talk, [(GOOD,), (BAD,), (GOOD, 3.0)], __file__, fullgraph=True)
    assert compiled.report.whole and compiled.report.misses == 1
    assert [entry.mend for entry in compiled.report.mended] == ["postpone", "check"]


def test_a_module() -> None:
    compiled = same_program(Talker(), [(GOOD,), (BAD,), (GOOD,)], __file__, fullgraph=True)
    assert compiled.report.whole and compiled.report.misses == 1


def test_a_bound_method() -> None:
    one, other = Talker(), Talker()
    other.load_state_dict(one.state_dict())
    compiled = mended_compile(other.other, backend="eager", fullgraph=True)
    assert observe(compiled, (GOOD,), __file__, other) == observe(one.other, (GOOD,), __file__, one)
    assert compiled.report.whole


def test_a_method_of_a_class() -> None:
    class Model(Talker):
        @mended_compile(backend="eager", fullgraph=True)  # type: ignore[untyped-decorator,unused-ignore]
        def other(self, x: Any) -> Any:
            print("decorated", self.steps)
            return self.linear(x)

    model = Model()
    seen = observe(model.other, (GOOD,), __file__)
    assert (seen.printed, seen.error) == ("decorated 0\n", None)
    assert Model.other.report.whole


def test_a_decorator_with_and_without_arguments() -> None:
    @mended_compile
    def bare(x: Any) -> Any:
        print("bare", x.sum().item())
        return x + 1

    @mended_compile()  # type: ignore[untyped-decorator,unused-ignore]
    def called(x: Any) -> Any:
        print("called", x.sum().item())
        return x + 1

    for function, text in ((bare, "bare"), (called, "called")):
        seen = observe(function, (GOOD,), __file__)
        assert (seen.printed, seen.error) == (f"{text} 6.0\n", None)
        assert function.__name__ == text
        assert isinstance(function.report, Report) and function.report.whole


def test_a_callable_object_and_a_partial() -> None:
    class Caller:
        def __call__(self, x: Any) -> Any:
            print("object")
            return x + 1

    for target, text in ((Caller(), "object\n"), (functools.partial(talk, scale=1.0), "sum 6.0\n")):
        plain = observe(torch.compile(target, backend="eager"), (GOOD,), __file__)
        torch._dynamo.reset()
        assert observe(mended_compile(target, backend="eager"), (GOOD,), __file__) == plain
        assert plain.printed == text


def test_module_compile_as_torch_does_it() -> None:
    one, other = Talker(), Talker()
    other.load_state_dict(one.state_dict())
    other._compiled_call_impl = mended_compile(other._call_impl, backend="eager", fullgraph=True)
    for x in (GOOD, BAD, GOOD):
        assert observe(other, (x,), __file__, other) == observe(one, (x,), __file__, one)
    assert list(other.state_dict()) == list(one.state_dict())
    assert other._compiled_call_impl.report.whole


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition"])
def test_named_backends(backend: str) -> None:
    compiled = same_program(Talker(), [(GOOD,), (BAD,), (GOOD,)], __file__, backend=backend, fullgraph=True)
    assert compiled.report.whole


def test_inductor_with_its_options() -> None:
    options = {"max_autotune": False, "fallback_random": True}
    x = torch.arange(6.0).reshape(2, 3)
    compiled = same_program(talk, [(x,), (x * 1000,), (x,)], __file__, options=options, backend="inductor")
    assert compiled.report.whole and compiled.report.misses == 1


def test_a_mode_reaches_the_backend() -> None:
    assert_same_settings({"mode": "reduce-overhead"})
    assert_same_settings({"options": {"epilogue_fusion": True}})
    assert_same_settings({"mode": "max-autotune-no-cudagraphs", "dynamic": True})


def assert_same_settings(settings: dict[str, Any]) -> None:
    mended, plain = (make(talk, **settings) for make in (mended_compile, torch.compile))
    assert mended.get_compiler_config() == plain.get_compiler_config()


@pytest.mark.parametrize("settings", [{}, {"options": {"depth": 3}}, {"mode": "fast"}], ids=["none", "options", "mode"])
def test_a_users_backend_sees_a_pure_graph_and_its_settings(settings: dict[str, Any]) -> None:
    seen: list[tuple[dict[str, Any], list[str]]] = []

    def backend(graph: Any, inputs: Any, **kwargs: Any) -> Any:
        seen.append((kwargs, [str(node.target) for node in graph.graph.nodes if node.op.startswith("call")]))
        return graph.forward

    torch.compile(lambda x: x + 1, backend=backend, **settings)(GOOD)
    compiled = same_program(talk, [(GOOD,), (BAD,)], __file__, backend=backend, **settings)
    assert compiled.report.whole
    assert seen[0][0] == seen[1][0]
    assert not any("graphmend" in name for name in seen[1][1])


def test_a_backend_that_raises() -> None:
    def backend(graph: Any, inputs: Any) -> Any:
        raise RuntimeError("no compiler")

    def call(make: Any) -> Any:
        torch._dynamo.reset()
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
            make(talk, backend=backend)(GOOD)
        return type(caught.value.inner_exception), "no compiler" in str(caught.value)

    assert call(mended_compile) == call(torch.compile) == (RuntimeError, True)


BAD_ARGUMENTS: list[dict[str, Any]] = [
    {"mode": "default", "options": {}},
    {"mode": "default", "options": {"max_autotune": True}},
    {"mode": "no such mode"},
    {"options": {"no_such_option": 1}},
    {"options": {"max_autotune": "yes"}},
    {"backend": "no such backend"},
    {"backend": 3},
    {"no_such_argument": True},
    {"fullgraph": "yes"},
    {"dynamic": "yes"},
    {"backend": "eager", "recompile_limit": "many"},
]


@pytest.mark.parametrize("settings", BAD_ARGUMENTS, ids=str)
def test_bad_arguments_are_refused_alike(settings: dict[str, Any]) -> None:
    def error(make: Any) -> Any:
        torch._dynamo.reset()
        try:
            make(inspect.unwrap(talk), **settings)
        except Exception as raised:
            return type(raised), str(raised).replace("graphmend._mending.compile.", "").replace("compile()", "f()")
        return None

    assert error(mended_compile) == error(torch.compile)


def test_what_cannot_be_compiled_is_refused_alike() -> None:
    for target in (3, "text"):
        errors = []
        for make in (torch.compile, mended_compile):
            try:
                errors.append(repr(make(target, backend="eager")))
            except Exception as raised:
                errors.append(type(raised).__name__)
        assert errors[0] == errors[1]


def test_disable_returns_the_model_itself() -> None:
    model = Talker()
    assert mended_compile(model, disable=True) is torch.compile(model, disable=True) is model


def test_the_default_backend_is_the_users() -> None:
    seen: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        seen.append(graph)
        return graph.forward

    if not hasattr(torch.compiler, "set_default_backend"):
        pytest.skip("this torch has no default backend to set")
    torch.compiler.set_default_backend(backend)
    try:
        assert observe(mended_compile(talk), (GOOD,), __file__).printed == "sum 12.0\n"
        assert len(seen) == 1
    finally:
        torch.compiler.set_default_backend(None)


def test_nothing_to_compile_is_refused_alike() -> None:
    for make in (torch.compile, mended_compile):
        with pytest.raises(RuntimeError, match="Model can't be None"):
            make(backend="eager")(None)


def test_a_reset_of_dynamo_forgets_what_was_mended() -> None:
    for _ in range(3):
        compiled = mended_compile(talk, backend="eager", fullgraph=True)
        assert observe(compiled, (GOOD,), __file__).printed == "sum 12.0\n"
        assert compiled.report.graphs == 1
        torch._dynamo.reset()
        assert not torch._C._dynamo.eval_frame._debug_get_cache_entry_list(talk.__code__)
        assert observe(torch.compile(talk, backend="eager"), (GOOD,), __file__).printed == "sum 12.0\n"
        torch._dynamo.reset()


def test_the_signature_takes_what_torchs_takes() -> None:
    theirs = inspect.signature(torch.compile).parameters
    ours = inspect.signature(mended_compile)
    ours.bind(**dict.fromkeys(theirs))
    # Newer ones say None for the default backend.
    defaults = {
        name: None if parameter.default == "inductor" else parameter.default for name, parameter in theirs.items()
    }
    assert {name: ours.parameters[name].default for name in theirs if name in ours.parameters} == {
        name: default for name, default in defaults.items() if name in ours.parameters
    }
    with pytest.raises(TypeError):
        ours.bind(talk, True)


def shows(x: Any) -> Any:
    print("sum", x.sum())
    return x * 2


def test_dynamo_is_itself_until_something_is_mended(capsys: Any) -> None:
    from torch._dynamo.side_effects import SideEffects

    store, seen = SideEffects.store_attr, []

    def backend(graph: Any, inputs: Any) -> Any:
        seen.append(SideEffects.store_attr is store)
        return graph.forward

    x = torch.ones(3)
    assert mended_compile(lambda x: x + 1, backend=backend)(x).tolist() == [2.0] * 3
    assert mended_compile(shows, backend=backend)(x).tolist() == [2.0] * 3
    # What was mended for another is mended here from the start.
    compiled = mended_compile(lambda x: shows(x + 1) - 1, backend=backend, fullgraph=True)
    assert compiled(x).tolist() == [3.0] * 3
    assert seen == [True, False, False]
    assert SideEffects.store_attr is store
    assert capsys.readouterr().out == "sum tensor(3.)\nsum tensor(6.)\n"


# In a file of its own, of whose asserts pytest makes nothing else.
ASSERTS = """
import numpy as np

def asserts_and_draws(x):
    assert x.sum() > 0
    return x + np.random.rand(2).shape[0]
"""


def maybe_shows(x: Any, shows_it: bool) -> Any:
    if shows_it:
        print("sum", x.sum())
    return x + np.random.rand(2).shape[0]


def test_what_is_captured_whole_as_it_is_written_is_not_broken_for_the_sake_of_mends(tmp_path: Path) -> None:
    (tmp_path / "asserts.py").write_text(ASSERTS, encoding="utf-8")
    asserts_and_draws = runpy.run_path(str(tmp_path / "asserts.py"))["asserts_and_draws"]
    x = torch.ones(2)
    assert mended_compile(asserts_and_draws, backend="eager", fullgraph=True)(x).tolist() == [3.0, 3.0]
    # Asserts that are not operators raise what they raise in Python, and may have a break behind them.
    with pytest.raises(AssertionError):
        mended_compile(asserts_and_draws, backend="eager")(-x)
    for shows_it, fullgraph in ((False, True), (True, False), (False, True), (False, False)):
        compiled = mended_compile(lambda x, shows_it=shows_it: maybe_shows(x, shows_it), fullgraph=fullgraph)
        assert compiled(x).tolist() == [3.0, 3.0]
        if not shows_it:
            assert (compiled.report.calls, compiled.report.graphs, compiled.report.breaks) == (1, 1, [])


def test_a_graph_that_is_compiled_ahead_of_time_is_torchs() -> None:
    compiled = mended_compile(lambda x: x * 2, backend="eager", fullgraph=True)
    if not hasattr(compiled, "aot_compile"):
        pytest.skip("this torch has no aot_compile")
    x = torch.ones(2)
    assert compiled.aot_compile(((x,), {}))(x).tolist() == [2.0, 2.0]


def changes_a_view_by_rows(x: Any) -> Any:
    y = torch.vmap(lambda row: row * 2)(x)
    print("sum", y.sum())
    torch.vmap(lambda row: row.add_(1))(x)
    print("changed", x.sum())
    return y


def test_vmap() -> None:
    compiled = same_program(changes_a_view_by_rows, [(torch.ones(2, 2),)] * 2, __file__)
    assert not compiled.report.left

"""`graphmend.assert_no_graph_breaks`, as a block, a decorator and a pytest fixture."""

from __future__ import annotations

import contextlib
import copy
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import graphmend

torch = pytest.importorskip("torch")

from graphmend._mending.backend import MendedBackend  # noqa: E402 - it needs torch

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def whole(x: Any) -> Any:
    return x * 2


def talk(x: Any) -> Any:
    print("x", x.sum().item())
    return x * 2


def asked(x: Any) -> Any:
    torch._dynamo.graph_break()
    return x * 1


def skipped(x: Any) -> Any:
    # Dynamo cannot resume here, and leaves the frame to Python.
    for _ in range(2):
        with torch.no_grad():
            torch._dynamo.graph_break()
            x = x * 1
    return x


class Model(torch.nn.Module):  # type: ignore[misc,name-defined]
    def forward(self, x: Any) -> Any:
        return talk(x)


X = torch.ones(3)


def test_breaks_of_torch_compile_are_named() -> None:
    compiled = torch.compile(talk, backend="eager")
    with pytest.raises(AssertionError) as caught, graphmend.assert_no_graph_breaks():
        compiled(X)
    line = talk.__code__.co_firstlineno + 1
    assert f"test_assertions.py:{line} in talk" in str(caught.value)
    assert 'print("x", x.sum().item())' in str(caught.value)
    assert "why:    " in str(caught.value)
    assert isinstance(caught.value, graphmend.GraphBreakError)
    assert caught.value.place.line == line


@pytest.mark.parametrize("function", [whole, talk])
@pytest.mark.parametrize("before", [False, True])
def test_what_is_mended_does_not_break(capsys: pytest.CaptureFixture[str], function: Any, before: bool) -> None:
    compiled = graphmend.compile(function, backend="eager")
    if before:
        compiled(X)
    with graphmend.assert_no_graph_breaks():
        assert torch.equal(compiled(X), X * 2)
    assert capsys.readouterr().out == "x 3.0\n" * ((1 + before) * (function is talk))


def test_what_graphmend_leaves_breaks_with_its_reason() -> None:
    compiled = graphmend.compile(asked, backend="eager")
    with pytest.raises(AssertionError) as caught, graphmend.assert_no_graph_breaks():
        compiled(X)
    (left,) = compiled.report.left
    assert left.reason
    assert f"left:   {left.reason}" in str(caught.value)


@pytest.mark.parametrize("function", [talk, asked, skipped, Model()])
def test_what_broke_before_is_noticed(function: Callable[..., Any]) -> None:
    compiled = torch.compile(function, backend="eager")
    expected = compiled(X)
    for _ in range(2):
        with pytest.raises(AssertionError, match="graph break"), graphmend.assert_no_graph_breaks():
            compiled(X)
    # Behind the block everything is as before.
    assert torch.equal(compiled(X), expected)


@pytest.mark.parametrize("function", [asked, skipped])
def test_what_graphmend_left_before_is_noticed(function: Callable[..., Any]) -> None:
    compiled = graphmend.compile(function, backend="eager")
    compiled(X)
    with pytest.raises(AssertionError, match="graph break"), graphmend.assert_no_graph_breaks():
        compiled(X)


def test_what_was_captured_whole_is_not_compiled_again() -> None:
    graphs = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(whole, backend=backend)
    for _ in range(2):
        compiled(X)
        with graphmend.assert_no_graph_breaks():
            compiled(X)
    assert len(graphs) == 1


def test_what_is_compiled_inside_is_used_outside() -> None:
    compiled = torch.compile(whole, backend="eager")
    with graphmend.assert_no_graph_breaks():
        compiled(X)
    with torch.compiler.set_stance("fail_on_recompile"):
        compiled(X)


def test_an_error_that_the_program_swallows_comes_back() -> None:
    compiled = torch.compile(talk, backend="eager")

    def careless() -> None:
        with contextlib.suppress(AssertionError):
            compiled(X)

    with pytest.raises(AssertionError, match="graph break"), graphmend.assert_no_graph_breaks():
        careless()


def test_as_a_decorator_and_nested() -> None:
    compiled = torch.compile(talk, backend="eager")

    @graphmend.assert_no_graph_breaks()
    def run(function: Any, deeper: bool) -> Any:
        return run(function, False) if deeper else function(X)

    assert torch.equal(run(torch.compile(whole, backend="eager"), True), X * 2)
    for _ in range(2):
        with pytest.raises(AssertionError, match="graph break"):
            run(compiled, True)
    assert torch.equal(compiled(X), X * 2)


def test_other_errors_are_not_touched() -> None:
    def f(x: Any) -> Any:
        return x @ torch.ones(7)

    compiled = torch.compile(f, backend="eager")
    with pytest.raises(RuntimeError, match="size"), graphmend.assert_no_graph_breaks():
        compiled(X)


class Talking(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
    def forward(self, x: Any) -> Any:
        return talk(x)


def test_the_kill_switch_brings_breaks_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MendedBackend, "disabled", False)
    compiled = graphmend.compile(talk, backend="eager")
    with graphmend.assert_no_graph_breaks():
        compiled(X)
    model = graphmend.compile(Talking(), backend="eager")
    copied = copy.deepcopy(model)
    with graphmend.assert_no_graph_breaks():
        copied(X)
    assert graphmend.disable() > 0
    for callable_ in (compiled, graphmend.compile(talk, backend="eager"), copied, copy.deepcopy(model)):
        with pytest.raises(AssertionError, match="graph break"), graphmend.assert_no_graph_breaks():
            callable_(X)


TESTS = """
import torch

def broken(x):
    return x * int(x[0])

def test_whole(assert_no_graph_breaks):
    torch.compile(torch.sin, backend="eager")(torch.ones(2))

def test_broken(assert_no_graph_breaks):
    torch.compile(broken, backend="eager")(torch.ones(2))

def test_caught(assert_no_graph_breaks):
    try:
        torch.compile(broken, backend="eager")(torch.ones(2))
    except AssertionError:
        pass

def test_without():
    torch.compile(broken, backend="eager")(torch.ones(2))
"""


def test_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", str(tmp_path)]
    if not any(entry.name == "graphmend" for entry in entry_points(group="pytest11")):
        command += ["-p", "graphmend._checking.pytest_plugin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "PASSED test_it.py::test_whole" in done.stdout, done.stdout
    assert "PASSED test_it.py::test_without" in done.stdout
    # Once: not as an error of the fixture, too.
    assert "FAILED test_it.py::test_broken" in done.stdout
    assert "ERROR test_it.py::test_broken" not in done.stdout
    assert "ERROR test_it.py::test_caught" in done.stdout
    assert "test_it.py:5 in broken" in done.stdout

"""Functions without source, from notebooks, of files that changed or were loaded again."""

from __future__ import annotations

import importlib
import linecache
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import observe, same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.arange(6.0).reshape(2, 3)

FUNCTION = """
import torch
def talk(x):
    print("sum", x.sum().item())
    if x.max() > 100:
        raise ValueError("large")
    return x + 1
"""


def test_code_without_source() -> None:
    space: dict[str, Any] = {}
    exec(compile(FUNCTION, "<made up>", "exec"), space)
    compiled = same_program(space["talk"], [(X,), (X * 100,), (X,)], __file__, frames=False)
    assert not compiled.report.mended and compiled.report.left[0].reason == "its source cannot be read"


def test_code_whose_file_is_gone(tmp_path: Path) -> None:
    space: dict[str, Any] = {}
    exec(compile(FUNCTION, str(tmp_path / "gone.py"), "exec"), space)
    compiled = same_program(space["talk"], [(X,), (X * 100,), (X,)], __file__, frames=False)
    assert not compiled.report.mended and compiled.report.left[0].reason == "its source cannot be read"


REPL = f"""
import graphmend
{FUNCTION}
compiled = graphmend.compile(talk, backend="eager")
print(compiled(torch.ones(2)))
compiled(torch.ones(2) * 200)
print(compiled(torch.zeros(2)))
compiled.report.left[0].reason
"""


def test_functions_that_are_typed_at_pythons_prompt() -> None:
    done = subprocess.run([sys.executable, "-i", "-q"], input=REPL, capture_output=True, text=True, check=True)
    said = ["sum 2.0", "tensor([2., 2.])", "sum 400.0", "sum 0.0", "tensor([1., 1.])", "'its source cannot be read'"]
    assert done.stdout.splitlines() == said
    assert "ValueError: large" in done.stderr


def cell(text: str, name: str, space: dict[str, Any]) -> None:
    """Runs a cell of a notebook: its text is known to linecache and to nobody else."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space)


@pytest.mark.parametrize("name", ["<ipython-input-1-abcdef>", "/tmp/ipykernel_1234/5678.py"])
def test_cells_of_a_notebook(name: str) -> None:
    space: dict[str, Any] = {}
    cell(FUNCTION, name, space)
    compiled = same_program(space["talk"], [(X,), (X * 100,), (X,)], name, fullgraph=True)
    assert compiled.report.whole
    # A cell that is edited has another name.
    cell(FUNCTION.replace("+ 1", "+ 2"), f"{name}.other", space)
    assert same_program(space["talk"], [(X,), (X * 100,)], f"{name}.other", fullgraph=True).report.whole


def imported(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_that_changed_after_its_import(tmp_path: Path) -> None:
    path = tmp_path / "subject.py"
    path.write_text(FUNCTION)
    module = imported(path)
    path.write_text("# A line more.\n" + FUNCTION.replace('"sum"', '"changed"'))
    compiled = same_program(module.talk, [(X,), (X * 100,), (X,)], __file__, frames=False)
    assert not compiled.report.mended and "the file was changed" in compiled.report.left[0].reason
    path.write_text("def (:\n")
    torch._dynamo.reset()
    compiled = same_program(imported_again(module), [(X,)], __file__, frames=False)
    assert not compiled.report.mended


def imported_again(module: Any) -> Any:
    space: dict[str, Any] = {}
    exec(compile(FUNCTION, module.__file__, "exec"), space)
    return space["talk"]


def test_a_file_that_changed_after_it_was_mended(tmp_path: Path) -> None:
    path = tmp_path / "subject.py"
    path.write_text(FUNCTION)
    old = imported(path)
    assert same_program(old.talk, [(X,), (X * 100,)], str(path), fullgraph=True).report.whole
    path.write_text(FUNCTION.replace('"sum"', '"new"').replace("large", "enormous"))
    new = imported(path)
    compiled = same_program(new.talk, [(X,), (X * 100,), (X,)], str(path), fullgraph=True)
    assert observe(compiled, (X,), str(path)).printed == "new 15.0\n"
    again = mended_compile(old.talk, backend="aot_eager")
    assert observe(again, (X,), str(path)).printed == "sum 15.0\n"


def test_a_module_that_is_reloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "reloaded_subject.py"
    path.write_text(FUNCTION)
    module = importlib.import_module("reloaded_subject")
    try:
        assert same_program(module.talk, [(X,), (X * 100,)], str(path), fullgraph=True).report.whole
        path.write_text("# A line more.\n" + FUNCTION.replace('"sum"', '"new"'))
        importlib.reload(module)
        compiled = same_program(module.talk, [(X,), (X * 100,), (X,)], str(path), fullgraph=True)
        assert observe(compiled, (X,), str(path)).printed == "new 15.0\n"
    finally:
        del sys.modules["reloaded_subject"]


def test_a_handler_that_is_far_from_its_try() -> None:
    def function(x: torch.Tensor) -> Any:
        y = x + 1
        print(y.sum().item())
        try:
            y = y * y.tolist()[0]
        except KeyError as caught:
            print("caught", len(caught.args), x.shape, x.dtype)
            print("caught", len(caught.args), x.shape, x.dtype)
            print("caught", len(caught.args), x.shape, x.dtype)
        finally:
            deviation = y.std()
        return y, deviation

    compiled = mended_compile(function, backend="eager", speculate=False)
    expected, seen = function(torch.tensor([1.0, 2.0])), compiled(torch.tensor([1.0, 2.0]))
    assert all(map(torch.equal, expected, seen))
    assert [each.source for each in compiled.report.left] == ["y = y * y.tolist()[0]"], compiled.report

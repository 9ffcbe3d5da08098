"""`graphmend.explain`, and settings that decide what is mended."""

from __future__ import annotations

import dataclasses
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import graphmend
from graphmend import _config
from graphmend._mending import scope

torch = pytest.importorskip("torch")

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def talk(x: Any) -> Any:
    y = x * 2
    print("sum", y.sum().item())
    z = y + 1
    torch._dynamo.graph_break()
    return z * 3


def test_each_break_is_there_with_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    # The second time, the code is mended already.
    for _ in range(2):
        x = torch.ones(3)
        found = graphmend.explain(talk, x)
        assert capsys.readouterr().out == ""
        first = talk.__code__.co_firstlineno
        assert {(entry.line - first, entry.mend) for entry in found.breaks} == {(2, "postpone"), (4, None)}
        text = str(found)
        assert "2 places broke, 1 mended, 1 left" in text
        assert f"test_explain.py:{first + 2} in talk" in text
        assert 'print("sum", y.sum().item())' in text
        assert "mended: postpone: it runs after the graph" in text
        assert "to do:" in text
        assert (found.before.graphs, found.before.breaks) == (3, 2)
        assert (found.after.graphs, found.after.breaks, found.after.places) == (2, 1, 1)
        assert found.before.places > found.after.places
        assert found.report.left[0].line - first == 4
        assert found.error is None


def test_a_model_that_does_not_break() -> None:
    model = torch.compile(torch.nn.Linear(2, 2), backend="eager")
    found = graphmend.explain(model, torch.ones(1, 2))
    assert found.before == found.after
    assert (found.before.graphs, found.before.ops, found.before.places) == (1, 1, 0)
    assert not found.breaks
    assert "nothing broke" in str(found)


def test_a_call_that_raises_is_explained_as_well() -> None:
    def f(x: Any, *, limit: float) -> Any:
        if x.sum() > limit:
            raise ValueError("too large")
        return x

    found = graphmend.explain(f, torch.ones(2), limit=1.0)
    assert isinstance(found.error, ValueError)
    assert "the call raised ValueError: too large" in str(found)
    assert [entry.mend for entry in found.breaks] == ["check"]


def settings(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    changed = dataclasses.replace(_config.Settings(), **values)
    monkeypatch.setattr(_config, "current", lambda: changed)


def module(monkeypatch: pytest.MonkeyPatch, path: Path, name: str, text: str) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    made = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    made.__file__ = str(path)
    exec(compile(text, str(path), "exec"), vars(made))
    return made


PACKAGE = "def f(x):\n    print('inside', x)\n    return x + 1\n"


@pytest.mark.parametrize(
    ("packages", "file", "reason"),
    [
        ((), "site-packages/p/q.py", None),
        (("p",), "site-packages/p/q.py", None),
        (("p.q",), "site-packages/p/q.py", None),
        (("other",), "site-packages/p/q.py", scope.OUTSIDE),
        (("other",), "dist-packages/p/q.py", scope.OUTSIDE),
        (("other",), "mine/q.py", None),
        (("p.q.r", "q", "pp"), "site-packages/p/q.py", scope.OUTSIDE),
    ],
)
def test_only_named_packages_and_the_users_files_are_mended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, packages: tuple[str, ...], file: str, reason: str | None
) -> None:
    settings(monkeypatch, packages=packages)
    inside = module(monkeypatch, tmp_path / file, "p.q", PACKAGE)
    report = graphmend.explain(inside.f, torch.ones(1)).report
    assert [entry.reason for entry in report.left] == ([reason] if reason else [])
    assert len(report.mended) == (0 if reason else 1)


def test_the_standard_library_is_not_the_users() -> None:
    assert not scope.is_users(dataclasses.__file__)
    assert scope.is_users("<ipython-input-3>")
    assert scope.is_users(__file__)


def test_disabled_by_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    settings(monkeypatch, disable=True)
    assert not hasattr(graphmend.compile(talk, backend="eager"), "report")
    assert graphmend.explain(talk, torch.ones(3)).after.graphs == 3
    graphmend.verify(talk, (torch.ones(3),), backend="eager", calls=1)


EFFECTS = """
SEEN = []
def record(name, value):
    SEEN.append((name, value.item()))
class Board:
    @staticmethod
    def write(*values):
        record(*values)
"""


@pytest.mark.parametrize(
    ("head", "call", "effect"),
    [
        ("from metrics.board import record", "record('x', x)", "metrics.board.record"),
        ("from metrics.board import record as r", "r('x', x)", "metrics.board.record"),
        ("from metrics import board", "board.record('x', x)", "metrics.board.record"),
        ("import metrics.board", "metrics.board.record('x', x)", "metrics.board.record"),
        ("from metrics.board import Board", "Board.write('x', x)", "metrics.board.Board.write"),
    ],
)
@pytest.mark.parametrize("by_setting", [True, False])
def test_declared_effects_are_known_however_they_are_spelled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, head: str, call: str, effect: str, by_setting: bool
) -> None:
    package = module(monkeypatch, tmp_path / "metrics/__init__.py", "metrics", "")
    board = package.board = module(monkeypatch, tmp_path / "metrics/board.py", "metrics.board", EFFECTS)
    user = module(monkeypatch, tmp_path / "user.py", "user", f"{head}\ndef f(x):\n    {call}\n    return x + 1\n")
    if by_setting:
        settings(monkeypatch, effects=(effect,))
    else:
        graphmend.effect(_config._find(effect))
    mended = graphmend.compile(user.f, backend="eager")
    mended(torch.ones(1))
    assert [(entry.mend, entry.function) for entry in mended.report.breaks] == [("postpone", "f")]
    assert board.SEEN == [("x", 1.0)]


def test_functions_are_named_as_in_the_source() -> None:
    """Also where Dynamo has made a function of what comes after a break."""

    def twice(x: Any) -> Any:
        torch._dynamo.graph_break()
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1

    explained = graphmend.explain(twice, torch.ones(2))
    assert [(entry.function, entry.mend) for entry in explained.breaks] == [("twice", None)] * 2

"""Imports that fail: whether there is a module is looked at in each call, and nobody sees another exception."""

from __future__ import annotations

import logging
import sys
import types
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

NAME = "no_such_module_at_all"
logger = logging.getLogger(__name__)


def numbers() -> torch.Tensor:
    return torch.arange(4.0)


def tries(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    try:
        import no_such_module_at_all  # type: ignore[import-not-found]
    except ImportError:
        return y * 2
    return y * no_such_module_at_all.factor


def tries_all(x: torch.Tensor) -> Any:
    found = []
    try:
        from no_such_module_at_all.inner import something  # type: ignore[import-not-found] # noqa: F401
    except (ValueError, ModuleNotFoundError):
        found.append(1)
    try:
        import no_such_module_at_all.inner as other  # noqa: F401
    except Exception:
        found.append(2)
    return x * 2, found, has_it()


def has_it() -> bool:
    try:
        import no_such_module_at_all  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_is_absent_stays_in_the_graph(backend: str) -> None:
    for function in (tries, tries_all):
        compiled = same_program(function, [(numbers(),)] * 3, __file__, backend=backend)
        assert compiled.report.left == []
        assert compiled.report.graphs == 1
        assert compiled.report.misses == 0


def test_a_module_that_comes_and_goes_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    compiled = mended_compile(tries, backend="eager")
    assert torch.equal(compiled(numbers()), tries(numbers()))
    module = types.ModuleType(NAME)
    module.factor = 5  # type: ignore[attr-defined]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, NAME, module)
        assert torch.equal(compiled(numbers()), (numbers() + 1) * 5)
    assert torch.equal(compiled(numbers()), (numbers() + 1) * 2)
    (tmp_path / f"{NAME}.py").write_text("factor = 7\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        assert torch.equal(compiled(numbers()), (numbers() + 1) * 7)
        del sys.modules[NAME]
    assert torch.equal(compiled(numbers()), (numbers() + 1) * 2)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, NAME, None)
        assert torch.equal(compiled(numbers()), (numbers() + 1) * 2)


def test_without_tensors_it_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = mended_compile(has_it, backend="eager")
    assert compiled() is False
    monkeypatch.setitem(sys.modules, NAME, types.ModuleType(NAME))
    assert compiled() is True


def names_it(x: torch.Tensor) -> Any:
    try:
        import no_such_module_at_all  # noqa: F401
    except ImportError as error:
        return x * 2, error.name, str(error)
    return x, "", ""


def raises_it(x: torch.Tensor) -> Any:
    try:
        import no_such_module_at_all  # noqa: F401
    except ImportError:
        if x.dim() == 1:
            raise
    return x * 2


def logs_it(x: torch.Tensor) -> Any:
    try:
        import no_such_module_at_all  # noqa: F401
    except ImportError:
        logger.exception("not there")
    return x * 2


def lets_it_go(x: torch.Tensor) -> Any:
    y = x * 2
    import no_such_module_at_all  # noqa: F401

    return y


def deals_with_others(x: torch.Tensor) -> Any:
    try:
        import no_such_module_at_all  # noqa: F401
    except ValueError:
        return x
    except ImportError:
        return x * 2
    return x


@pytest.mark.parametrize("function", [names_it, raises_it, logs_it, lets_it_go, deals_with_others])
def test_what_may_be_looked_at_is_left(function: Any) -> None:
    compiled = same_program(function, [(numbers(),)] * 2, __file__, frames=False)
    assert "Import failure" in {entry.gb_type for entry in compiled.report.left}


def test_a_module_that_fails_itself_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / f"{NAME}.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(tmp_path)
    compiled = mended_compile(tries, backend="eager")
    assert torch.equal(compiled(numbers()), tries(numbers()))
    assert compiled.report.left


def puts_it_there(x: torch.Tensor, module: Any) -> torch.Tensor:
    sys.modules[NAME] = module
    try:
        import no_such_module_at_all
    except ImportError:
        return x * 2
    return x * no_such_module_at_all.factor


def adds_its_folder(x: torch.Tensor, folder: str) -> torch.Tensor:
    sys.path.insert(0, folder)
    try:
        import no_such_module_at_all
    except ImportError:
        return x * 2
    return x * no_such_module_at_all.factor


def test_what_the_frame_itself_makes_importable(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{NAME}.py").write_text("factor = 7\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    module = types.SimpleNamespace(factor=5)
    for function, given, factor in ((puts_it_there, module, 5), (adds_its_folder, str(tmp_path), 7)):
        compiled = mended_compile(function, backend="eager")
        for _ in range(2):
            try:
                assert torch.equal(compiled(numbers(), given), numbers() * factor)
            finally:
                sys.modules.pop(NAME, None)

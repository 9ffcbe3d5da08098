"""Runs an example of a page, as it is and compiled, and notes what comes of it. In: an example. Out: observations.

An observation is everything that a program shows: values, what was printed, logged and warned of with its place, and
exceptions with the user's frames.
"""

from __future__ import annotations

import ast
import contextlib
import io
import logging
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from rule_pages import Example

_TORCH = str(Path(torch.__file__).parent)


@dataclass
class Observation:
    """What one line of a `run` block gave."""

    line: str
    value: str = ""
    printed: str = ""
    errors: str = ""
    logged: list[tuple[Any, ...]] = field(default_factory=list)
    warned: list[tuple[Any, ...]] = field(default_factory=list)
    raised: tuple[Any, ...] | None = None


class _Records(logging.Handler):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = str(path)
        self.seen: list[tuple[Any, ...]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.pathname == self.path:
            self.seen.append((record.name, record.levelname, record.getMessage(), record.lineno, record.funcName))


def run(example: Example, path: Path, wrap: Callable[[Any], Any] | None = None) -> list[Observation]:
    """Runs an example whose text is in `path`; what its `run` block calls goes through `wrap` first."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    module: dict[str, Any] = {"__name__": "example", "__file__": str(path)}
    exec(compile(example.text, str(path), "exec", dont_inherit=True), module)
    space = {"torch": torch, **module}
    tree = ast.parse(example.run)
    if wrap:
        for name in sorted({node.func.id for node in ast.walk(tree) if _is_named_call(node)} & set(module)):  # type: ignore[attr-defined]
            space[name] = wrap(module[name])
    return [_observe(statement, space, path) for statement in tree.body]


def _is_named_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _observe(statement: ast.stmt, space: dict[str, Any], path: Path) -> Observation:
    seen = Observation(ast.unparse(statement))
    printed, errors = io.StringIO(), io.StringIO()
    records = _Records(path)
    logging.getLogger().addHandler(records)
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(errors),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            try:
                if isinstance(statement, ast.Expr):
                    seen.value = shown(eval(compile(ast.Expression(statement.value), "<run>", "eval"), space))
                else:
                    exec(compile(ast.Module([statement], []), "<run>", "exec"), space)
            except torch._dynamo.exc.TorchDynamoException:
                # What is wrong with the test, not with the example.
                raise
            except Exception as error:
                seen.raised = _described(error, path)
    finally:
        logging.getLogger().removeHandler(records)
    seen.printed, seen.errors = printed.getvalue(), errors.getvalue()
    seen.logged = records.seen
    seen.warned = [
        (each.category.__name__, str(each.message), each.filename, each.lineno)
        for each in warned
        if not each.filename.startswith(_TORCH)
    ]
    return seen


def _described(error: BaseException, path: Path) -> tuple[Any, ...]:
    frames = [
        (frame.lineno, frame.name) for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    cause = _described(error.__cause__, path) if error.__cause__ else None
    return type(error).__qualname__, shown(error.args), frames, cause


def shown(value: Any) -> str:
    """A value in full: two are the same when their texts are."""
    if isinstance(value, torch.Tensor):
        kind = f"{value.dtype} {tuple(value.shape)} {value.stride()} {value.requires_grad}"
        return f"tensor({value.detach().tolist()} {kind})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    return repr(value)

"""Bugs that the generated programs must find. In: the name of one. Out: the subject with that one promise broken.

Those here are wrong steps of the simulated transaction (simulated.Points), which says quickly whether generator,
observer and comparer see them; those in the product are in planted_product.py.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .campaign import Failure, Request, run_campaign
from .observe import Event
from .planted_product import PRODUCT, MisplantedError, ProductBug
from .planted_speculation import SPECULATION
from .simulated import Points, Simulated, Snapshot
from .subject import Subject


@dataclass(frozen=True)
class Planted:
    """One bug: the promise it breaks, and how."""

    name: str
    breaks: str
    points: Callable[[], Points]
    shows: str = ""
    hint: int = 0


def _each_tensor(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_each_tensor(item, change) for item in value)
    if isinstance(value, dict):
        return {key: _each_tensor(item, change) for key, item in value.items()}
    return value


def _edit(held: list[Event], key: str, change: Callable[[Any], Any]) -> list[Event]:
    for event in held:
        if key in event:
            event[key] = change(event[key])
    return held


def _swap_streams(held: list[Event]) -> list[Event]:
    return _edit(held, "kind", lambda kind: "stdout" if kind == "stderr" else kind)


def _first_texts(call: Simulated, held: list[Event]) -> list[Event]:
    """The texts of the first call, as if its values had been compiled in."""
    first = call.memory.setdefault("first", [event.get("message", event.get("text")) for event in held])
    for event, text in zip(held, first, strict=False):
        key = "message" if "message" in event else "text" if "text" in event else None
        if key and text is not None:
            event[key] = text
    return held


def _forget_inputs(state: Snapshot, args: tuple[Any, ...]) -> None:
    for argument in args:
        if isinstance(argument, torch.Tensor):
            with torch.inference_mode() if argument.is_inference() else torch.no_grad():
                argument.copy_(state.tensors[id(argument)][1])


def _forget_buffers(state: Snapshot, args: tuple[Any, ...]) -> None:
    own = {id(argument) for argument in args}
    for key, (tensor, saved) in state.tensors.items():
        if key not in own:
            with torch.inference_mode() if tensor.is_inference() else torch.no_grad():
                tensor.copy_(saved)


def _raise_other(target: Any, args: tuple[Any, ...]) -> Any:
    try:
        return target(*args)
    except Exception as error:
        raise RuntimeError(str(error)) from None


def _lose_frames(target: Any, args: tuple[Any, ...]) -> Any:
    try:
        return target(*args)
    except Exception as error:
        # The handler's own frame takes the place of the program's.
        raise error.with_traceback(None)  # noqa: B904


def _swallow(target: Any, args: tuple[Any, ...]) -> Any:
    with contextlib.suppress(Exception):
        return target(*args)


def _stale_mode(call: Simulated, args: tuple[Any, ...]) -> None:
    """The state of the first call decides, as if a guard were missing."""
    owner = call.owner()
    if owner is not None and "flag" in vars(owner):
        owner.flag = call.memory.setdefault("flag", owner.flag)


def _draw(call: Simulated, args: tuple[Any, ...]) -> None:
    torch.rand(1)


class _Later(ast.NodeTransformer):
    """Moves effects behind the statement that follows them, with their positions: they show a later value."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for i in range(len(body) - 1):
                if _is_effect(body[i]) and isinstance(body[i + 1], (ast.Assign, ast.AugAssign, ast.Expr)):
                    body[i], body[i + 1] = body[i + 1], body[i]
        return node


def _is_effect(node: ast.AST) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    text = ast.unparse(node.value.func)
    return text == "print" or text.split(".")[0] in ("logger", "logging", "warnings", "ADAPTER")


class _Select(ast.NodeTransformer):
    """Runs both sides of a branch, one after the other, as a select without a look at what they do."""

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        assigns = all(isinstance(s, ast.Assign) for s in node.body + node.orelse)
        if not assigns or not node.orelse or "x" not in ast.unparse(node.test):
            return node
        copy = ast.If(node.test, node.body, [])
        return [ast.copy_location(s, s) for s in node.orelse] + [ast.copy_location(copy, node)]


class _Inverted(ast.NodeTransformer):
    """Every guard raises when it should not."""

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if isinstance(node.body[-1], ast.Raise):
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
            ast.fix_missing_locations(node)
        return node


def _with(**changes: Any) -> Callable[[], Points]:
    return lambda: dataclasses.replace(Points(), **changes)


PLANTED = [
    Planted("effects-twice", "each effect is delivered once", _with(effects=lambda call, held: held + held)),
    Planted("effects-reversed", "effects come in order", _with(effects=lambda call, held: held[::-1])),
    Planted("last-effect-lost", "each effect is delivered once", _with(effects=lambda call, held: held[:-1])),
    Planted("delivered-on-failure", "a failed call delivers what eager does", _with(delivers_on_failure=True)),
    Planted("check-ignored", "a guard that fires raises", _with(failed=lambda error: False)),
    Planted("check-inverted", "a guard fires when its test says so", _with(transform=lambda t: _Inverted().visit(t))),
    Planted("inputs-not-committed", "inputs are changed in place", _with(forgets=_forget_inputs)),
    Planted("buffers-not-committed", "buffers are changed in place", _with(forgets=_forget_buffers)),
    Planted("tensors-not-restored", "a failed call changes tensors once", _with(restores=("objects", "rng"))),
    Planted("objects-not-restored", "a failed call counts once", _with(restores=("tensors", "rng"))),
    Planted("rng-not-restored", "a failed call draws what eager draws", _with(restores=("tensors", "objects"))),
    Planted("rng-drawn", "the random streams are eager's", _with(begin=_draw)),
    Planted("later-value", "an effect shows the value of its moment", _with(transform=lambda t: _Later().visit(t))),
    Planted("first-value", "an effect shows this call's values", _with(effects=_first_texts)),
    Planted(
        "wrong-line",
        "log records and warnings have the user's line",
        _with(effects=lambda call, held: _edit(held, "line", lambda line: line + 1 if line else 0)),
    ),
    Planted(
        "wrong-function",
        "log records have the user's function name",
        _with(effects=lambda call, held: _edit(held, "function", lambda name: "outlined")),
    ),
    Planted(
        "wrong-category",
        "warnings keep their category",
        _with(effects=lambda call, held: _edit(held, "category", lambda name: "UserWarning")),
    ),
    Planted("wrong-stream", "print writes to its file", _with(effects=lambda call, held: _swap_streams(held))),
    Planted("exception-swallowed", "exceptions arrive", _with(rerun=_swallow)),
    Planted("exception-changed", "exceptions keep type and arguments", _with(rerun=_raise_other)),
    Planted("traceback-lost", "tracebacks show the user's frames", _with(rerun=_lose_frames)),
    Planted("gradient-lost", "gradients flow", _with(result=lambda r, args: _each_tensor(r, lambda t: t.detach()))),
    Planted(
        "identity-lost",
        "a returned input is the input",
        _with(result=lambda r, args: _each_tensor(r, lambda t: t.clone())),
    ),
    Planted(
        "strides-changed",
        "outputs keep their strides",
        _with(result=lambda r, args: _each_tensor(r, lambda t: t.contiguous())),
    ),
    Planted("stale-guard", "what changed between calls is seen", _with(begin=_stale_mode)),
    Planted(
        "both-sides-run", "only the taken side of a branch has effects", _with(transform=lambda t: _Select().visit(t))
    ),
]


def planted_in(request: Request) -> Sequence[Planted | ProductBug]:
    """The bugs that the programs of a request can find in its subject."""
    if request.subject == Simulated.name:
        return PLANTED
    return SPECULATION if request.speculate else PRODUCT


@contextlib.contextmanager
def plant(name: str, subject: Subject) -> Iterator[None]:
    """The subject with the bug in it, as long as this lasts."""
    if not isinstance(subject, Simulated):
        with next(bug for bug in [*PRODUCT, *SPECULATION] if bug.name == name).patch():
            yield
        return
    right = subject.points
    subject.points = next(bug for bug in PLANTED if bug.name == name).points()
    yield
    subject.points = right


def find(bug: Planted | ProductBug, request: Request, count: int) -> Failure | None:
    """The first program of `count` that shows the bug; the one that is known to have shown it is asked first."""
    planted = dataclasses.replace(request, planted=bug.name)
    if isinstance(bug, ProductBug):
        # Here, and not in a worker, a part that has moved is an error.
        with bug.patch():
            pass
    waiting = [bug.hint, *(index for index in range(count) if index != bug.hint)]
    while waiting:
        seen = run_campaign(planted, waiting, enough=lambda summary: bool(summary.failures))
        if not seen.failures:
            return None
        failure = seen.failures[0]
        if MisplantedError.__name__ in repr(failure.verdict.wrong):
            raise RuntimeError(f"`{bug.name}` does not fit the product any more")
        # A crash of the harness is not a find, and neither is what fails without the bug.
        places = [d.place for found in failure.verdict.wrong.values() for d in found]
        is_shown = any(place.startswith(bug.shows) for place in places) and not failure.verdict.crash
        if is_shown and not run_campaign(request, [failure.index]).failures:
            return failure
        waiting = waiting[waiting.index(failure.index) + 1 :]
    return None

"""What becomes of a case: in eager, in plain `torch.compile`, and in `graphmend.compile`."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from compiled_calls import Seen, observe, seed
from torch._dynamo import exc

from graphmend._mending.compile import compile as mended_compile

from .cases import Case


@contextlib.contextmanager
def _around(case: Case) -> Iterator[None]:
    settings = torch._dynamo.config.patch(**case.settings) if case.settings else contextlib.nullcontext()
    torch._dynamo.reset()
    with warnings.catch_warnings(), torch.set_grad_enabled(case.grad), settings, case.surroundings():
        warnings.simplefilter("ignore")
        seed()
        yield
    torch._dynamo.reset()


def run(case: Case, call: Callable[..., Any], calls: int = 2) -> list[Seen]:
    """All that some calls show; twice, as what is compiled is run by the second alone."""
    with _around(case):
        file = case.function.__code__.co_filename
        return [observe(call, case.inputs(), file) for _ in range(calls)]


def first_break(case: Case) -> str:
    """The type of the first break of plain `torch.compile`; nothing if there is none."""
    compiled = torch.compile(case.function, backend="eager", dynamic=case.dynamic)
    with _around(case), torch._dynamo.error_on_graph_break(True), _silent():
        try:
            compiled(*case.inputs())
        except exc.Unsupported as error:
            return getattr(error, "gb_type", None) or str(error).partition("\n")[0]
    return ""


def all_breaks(case: Case) -> set[str]:
    """The types that Dynamo meets on its way where breaks are allowed."""
    met: set[str] = set()
    original = exc.Unsupported.__init__

    def init(self: exc.Unsupported, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        met.add(str(getattr(self, "gb_type", None)))

    exc.Unsupported.__init__ = init
    try:
        with _around(case), _silent(), contextlib.suppress(Exception):
            torch.compile(case.function, backend="eager", dynamic=case.dynamic)(*case.inputs())
    finally:
        exc.Unsupported.__init__ = original
    return met


def mended(case: Case, speculates: bool) -> tuple[Any, list[Seen]]:
    """The report of the mended twin, and what its calls show."""
    compiled = mended_compile(case.function, backend="eager", dynamic=case.dynamic, speculate=speculates)
    seen = run(case, compiled)
    return compiled.report, seen


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)

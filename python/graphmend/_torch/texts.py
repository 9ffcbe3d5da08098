"""Exceptions that Dynamo raises in Python's place, with texts and arguments of its own, and programs that look at them.

In: traces. Out: `ask` is called where such an exception gets a name (`except KeyError as error`).
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.symbolic_convert import ExceptionStack, InstructionTranslatorBase

from graphmend._torch.instructions import on_instructions
from graphmend._torch.replaced import replaced

_STORES = ("STORE_FAST", "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME")
_MARK = "_graphmend_text_of_dynamo"


class _Raising:
    """Whether what is raised has the program's own text, or Python's."""

    is_right = False


def own_texts_noticed(ask: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
    return replaced(
        (ExceptionStack, "set_current_exception", _marking),
        (InstructionTranslatorBase, "_raise_exception_variable", _raised_by_program),
        *on_instructions(lambda original: _storing(original, ask), *_STORES),
    )


def raise_as_python(kind: type[Exception], tx: Any, text: str) -> None:
    """Raises in the trace what Python raises there, with its text."""
    with _right():
        raise_observed_exception(kind, tx, args=[text])


@contextlib.contextmanager
def _right() -> Iterator[None]:
    before, _Raising.is_right = _Raising.is_right, True
    try:
        yield
    finally:
        _Raising.is_right = before


def _marking(original: Any) -> Any:
    def set_current_exception(self: Any, value: Any, *more: Any, **options: Any) -> Any:
        if not _Raising.is_right and not _is_of_python(value):
            setattr(value, _MARK, True)
        return original(self, value, *more, **options)

    return set_current_exception


def _is_of_python(value: Any) -> bool:
    """Whether Dynamo passes on what Python has raised, when it was called on constants. Of a KeyError it makes another
    text all the same."""
    error = sys.exc_info()[1]
    if error is None or isinstance(error, KeyError) or getattr(value, "exc_type", None) is not type(error):
        return False
    is_known = all(each.is_python_constant() for each in value.args)
    return is_known and error.args == tuple(each.as_python_constant() for each in value.args)


def _raised_by_program(original: Any) -> Any:
    def raise_exception_variable(self: Any, *more: Any, **options: Any) -> Any:
        with _right():
            return original(self, *more, **options)

    return raise_exception_variable


def _storing(original: Any, ask: Callable[[], None]) -> Any:
    def store(self: Any, instruction: Any) -> None:
        if vars(self.stack[-1]).get(_MARK):
            ask()
        original(self, instruction)

    return store

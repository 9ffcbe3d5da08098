"""What the running CPython says about a source: its verdict and its tree.

In: bytes. Out: `Verdict`, and the dump of 3.13. Runs inside any CPython from 3.8 on.
"""

from __future__ import annotations

import ast
import warnings
from typing import NamedTuple

from oracle import fast_dump

ACCEPT = "accept"
REJECT = "reject"
DO_NOT_CARE = "do-not-care"


class Verdict(NamedTuple):
    """`kind` is ACCEPT, REJECT or DO_NOT_CARE; the rest describes the exception."""

    kind: str
    exception: str = ""
    message: str = ""
    line: int = 0
    column: int = 0


def _refusal(error: BaseException) -> Verdict:
    name = type(error).__name__
    if isinstance(error, SyntaxError):
        return Verdict(REJECT, name, str(error.msg), error.lineno or 0, error.offset or 0)
    if isinstance(error, ValueError):
        # Before 3.12 a NUL byte was a ValueError; some codecs still answer with a UnicodeError.
        return Verdict(REJECT, name, str(error))
    # RecursionError, MemoryError, OverflowError, SystemError: limits of the machine, not of the language.
    return Verdict(DO_NOT_CARE, name, str(error))


def compile_verdict(source: bytes) -> Verdict:
    """Whether `compile` takes the source, later stages (symbol table, code generation) included."""
    warnings.simplefilter("ignore")
    try:
        compile(source, "f", "exec", dont_inherit=True)
    except Exception as error:
        return _refusal(error)
    return Verdict(ACCEPT)


def parse_verdict(source: bytes) -> tuple[Verdict, ast.AST | None]:
    """Whether `ast.parse` takes the source, and the tree if so."""
    warnings.simplefilter("ignore")
    try:
        return Verdict(ACCEPT), ast.parse(source)
    except Exception as error:
        return _refusal(error), None


def dump_of(source: bytes) -> tuple[Verdict, str]:
    """The verdict of `ast.parse`, and the dump of 3.13 if it accepts."""
    verdict, tree = parse_verdict(source)
    return verdict, fast_dump.dump(tree) if tree is not None and fast_dump.IS_AVAILABLE else ""

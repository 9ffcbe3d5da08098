"""What the running CPython says about a source: its verdict and its tree.

In: bytes. Out: `Verdict`, and the dump of 3.13. Runs inside any CPython from 3.8 on.
"""

from __future__ import annotations

import ast
import io
import tokenize
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
    # Before 3.12 a NUL byte was a ValueError; some codecs still answer with a UnicodeDecodeError.
    if isinstance(error, UnicodeDecodeError) or (isinstance(error, ValueError) and "null byte" in str(error)):
        return Verdict(REJECT, name, str(error))
    # RecursionError, MemoryError, OverflowError, SystemError: limits of the machine, not of the language. And slips of
    # CPython: a lone surrogate in a docstring is a UnicodeEncodeError, some f-strings a ValueError in 3.12.
    return Verdict(DO_NOT_CARE, name, str(error))


def _is_decodable(source: bytes) -> bool:
    try:
        source.decode("utf-8")
        return True
    except UnicodeDecodeError:
        pass
    try:
        source.decode(tokenize.detect_encoding(io.BytesIO(source).readline)[0])
        return True
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return False


# compile(bytes) does not decode comments, but `python FILE` refuses the same bytes: CPython has two opinions.
_TWO_OPINIONS = Verdict(DO_NOT_CARE, "", "bytes in a comment that are not in the file's encoding")


def compile_verdict(source: bytes) -> Verdict:
    """Whether `compile` takes the source, later stages (symbol table, code generation) included."""
    warnings.simplefilter("ignore")
    try:
        compile(source, "f", "exec", dont_inherit=True)
    except Exception as error:
        return _refusal(error)
    return Verdict(ACCEPT) if _is_decodable(source) else _TWO_OPINIONS


def parse_verdict(source: bytes) -> tuple[Verdict, ast.AST | None]:
    """Whether `ast.parse` takes the source, and the tree if so."""
    warnings.simplefilter("ignore")
    try:
        tree = ast.parse(source)
    except Exception as error:
        return _refusal(error), None
    return (Verdict(ACCEPT), tree) if _is_decodable(source) else (_TWO_OPINIONS, None)


def dump_of(source: bytes) -> tuple[Verdict, str]:
    """The verdict of `ast.parse`, and the dump of 3.13 if it accepts."""
    verdict, tree = parse_verdict(source)
    return verdict, fast_dump.dump(tree) if tree is not None and fast_dump.IS_AVAILABLE else ""

"""What a worker can be asked. In: plain values. Out: plain values (they travel between CPythons).

Each compares the running CPython with graphmend on one input, or a run of inputs; fuzz.py makes those of the fuzzer.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from oracle import cpython, difference, fast_dump, lossless, native, scopes

_native: native.Native | None = None


def load_native(library: str) -> None:
    """Loads graphmend's shared library; the other tasks need it."""
    global _native
    _native = native.Native(library)


def graphmend() -> native.Native:
    """The library that load_native loaded."""
    if _native is None:
        raise RuntimeError("the worker was started without graphmend's library")
    return _native


def _target() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def digest(text: str) -> str:
    """What the cache keeps of a dump."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# (verdict of ast.parse, verdict of compile, digest of the dump)
if TYPE_CHECKING:
    OracleRecord = tuple[str, str, str]


def oracle_record(source: bytes) -> OracleRecord:
    """What the cache keeps of one source."""
    parsed, dump = cpython.dump_of(source)
    if parsed.kind != cpython.ACCEPT:
        return parsed.kind, parsed.kind, ""
    return parsed.kind, cpython.compile_verdict(source).kind, digest(dump)


def same_tree(path: str, known: OracleRecord | None) -> tuple[OracleRecord, str, Any]:
    """(record, outcome, detail): "same", "refused", "refused later", "rejected" or "differs".

    "refused" is by ast.parse, "refused later" by compile and by graphmend, "rejected" by graphmend only.
    """
    source = Path(path).read_bytes()
    record = known or oracle_record(source)
    if record[0] != cpython.ACCEPT:
        return record, "refused", None
    dump, errors = graphmend().dump_ast(source, _target())
    if dump is None and record[1] != cpython.ACCEPT:
        return record, "refused later", None
    if dump is None or errors:
        return record, "rejected", [tuple(error) for error in errors[:3]]
    if digest(dump) == record[2]:
        return record, "same", None
    return record, "differs", tuple(difference.first_difference(cpython.dump_of(source)[1], dump))


def same_scopes(source: bytes) -> tuple[str, Any]:
    """(outcome, detail): "same", "refused" by CPython, "rejected" by graphmend only, "differs" with what and where.

    Of a source that is the same, the detail is how many scopes and symbols there were.
    """
    expected = scopes.of_cpython(source)
    if expected is None:
        return "refused", None
    dump = graphmend().dump_scopes(source, _target())
    if dump is None:
        is_accepted = cpython.compile_verdict(source).kind == cpython.ACCEPT
        return ("rejected" if is_accepted else "refused"), None
    found = scopes.first_difference(expected, scopes.of_dump(dump))
    return ("differs", found) if found else ("same", scopes.count(expected))


def same_scopes_of_program(name: str, source: bytes) -> tuple[str, Any]:
    """The same for a program with a name."""
    return same_scopes(source)


def same_scopes_of_file(path: str) -> tuple[str, Any]:
    """The same for a file."""
    return same_scopes(Path(path).read_bytes())


def fast_dump_is_right(path: str) -> bool:
    """Whether the dump of a file is what `ast.dump` gives."""
    source = Path(path).read_bytes()
    _, tree = cpython.parse_verdict(source)
    return tree is None or cpython.dump_of(source)[1] == ast.dump(tree, include_attributes=True)


def oracle_snippet(source: bytes) -> tuple[tuple[Any, ...], str, str]:
    """(verdict of compile, kind of the verdict of ast.parse, dump if it accepts)."""
    parsed, dump = cpython.dump_of(source)
    return tuple(cpython.compile_verdict(source)), parsed.kind, dump


def oracle_kind(source: bytes) -> str:
    """The kind of compile's verdict, without graphmend."""
    return cpython.compile_verdict(source).kind


def verdicts(source: bytes) -> tuple[tuple[Any, ...], list[tuple[int, int, str]]]:
    """CPython's verdict and graphmend's errors, with this CPython's version as target."""
    errors = graphmend().errors(source, _target())
    return tuple(cpython.compile_verdict(source)), [(error.line, error.column, error.message) for error in errors]


def check_lossless(source: bytes) -> str:
    """Why tokens and gaps do not give back the bytes, or the empty string."""
    return lossless.complaint(source, graphmend().tokens(source))


def check_lossless_file(path: str) -> str:
    """The same for a file."""
    return check_lossless(Path(path).read_bytes())


class Outcome(NamedTuple):
    """How two verdicts and trees compare; `group` is what outcomes of one cause share."""

    kind: str
    group: str = ""
    detail: str = ""


SAME = "same"
VALID_REJECTED = "valid rejected"
INVALID_ACCEPTED = "invalid accepted"
TREE_DIFFERS = "tree differs"


def _shape(message: str) -> str:
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", "_", message))


def classify(source: bytes) -> Outcome:
    """Compares verdict and tree of CPython and graphmend on one source.

    Of CPythons before 3.13 only what they accept counts: graphmend need not know the mistakes they did not make.
    """
    parsed, dump = cpython.dump_of(source)
    compiled = cpython.compile_verdict(source) if parsed.kind == cpython.ACCEPT else parsed
    ours, errors = graphmend().dump_ast(source, _target())
    if cpython.DO_NOT_CARE in (parsed.kind, compiled.kind):
        return Outcome(SAME, cpython.DO_NOT_CARE)
    if compiled.kind == cpython.ACCEPT and errors:
        return Outcome(VALID_REJECTED, _shape(errors[0].message), f"line {errors[0].line}: {errors[0].message}")
    if compiled.kind == cpython.REJECT and not errors and fast_dump.IS_AVAILABLE:
        stage = "" if parsed.kind == cpython.REJECT else "later stage: "
        return Outcome(INVALID_ACCEPTED, stage + _shape(compiled.message), f"line {compiled.line}: {compiled.message}")
    # Where a later stage rejects, the tree is there all the same.
    if dump and ours is not None and ours != dump:
        found = difference.first_difference(dump, ours)
        return Outcome(
            TREE_DIFFERS, found.group, f"line {found.line}: expected {found.expected!r}, got {found.actual!r}"
        )
    return Outcome(SAME, compiled.kind)


def classify_source(source: bytes) -> tuple[str, str, str]:
    """classify, as plain values."""
    return tuple(classify(source))  # type: ignore[return-value]

"""The door to the native library: loads it, and turns its results into Python bytes.

The C side is described in src/api/graphmend.h; the structs here mirror it. What comes back is copied at once, so no
Python object ever points into memory that the library owns.
"""

import ctypes
import functools
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

API_VERSION = 2

WANT_ERRORS = 1
WANT_TEXT = 2
WANT_TOKENS = 4
WANT_TREE = 8
WANT_TOKENS_DUMP = 16
WANT_TREE_DUMP = 32
WANT_AST_DUMP = 64

IS_TEXT = 1

_OUT_OF_MEMORY = 2

# Sizes of the flat records: graphmend_error, graphmend_token, graphmend_node.
ERROR_SIZE = 32
TOKEN_SIZE = 12
NODE_SIZE = 16


class _Options(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("wanted", ctypes.c_uint32),
        ("target_minor", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
    )


class _Result(ctypes.Structure):
    _fields_ = (
        ("text", ctypes.c_void_p),
        ("text_length", ctypes.c_uint64),
        ("encoding", ctypes.c_void_p),
        ("encoding_length", ctypes.c_uint64),
        ("line_starts", ctypes.c_void_p),
        ("line_count", ctypes.c_uint64),
        ("error_count", ctypes.c_uint64),
        ("errors", ctypes.c_void_p),
        ("messages", ctypes.c_void_p),
        ("messages_length", ctypes.c_uint64),
        ("tokens", ctypes.c_void_p),
        ("token_count", ctypes.c_uint64),
        ("nodes", ctypes.c_void_p),
        ("parents", ctypes.c_void_p),
        ("node_count", ctypes.c_uint64),
        ("tokens_dump", ctypes.c_void_p),
        ("tokens_dump_length", ctypes.c_uint64),
        ("tree_dump", ctypes.c_void_p),
        ("tree_dump_length", ctypes.c_uint64),
        ("ast_dump", ctypes.c_void_p),
        ("ast_dump_length", ctypes.c_uint64),
    )


class _MendRequest(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("line_count", ctypes.c_uint32),
        ("lines", ctypes.c_void_p),
        ("file_name", ctypes.c_char_p),
        ("file_name_length", ctypes.c_uint64),
        ("talkers", ctypes.c_char_p),
        ("talkers_length", ctypes.c_uint64),
        ("functions", ctypes.c_void_p),
        ("function_count", ctypes.c_uint64),
        ("ahead", ctypes.c_uint64),
        ("speculates", ctypes.c_uint64),
        ("substitutes", ctypes.c_char_p),
        ("substitutes_length", ctypes.c_uint64),
    )


class _Flat(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_uint64))


@dataclass(frozen=True, slots=True)
class Result:
    """One result of the library as flat bytes; what was not asked for is empty."""

    encoding: str
    error_count: int
    text: bytes
    line_starts: bytes
    errors: bytes
    messages: bytes
    tokens: bytes
    nodes: bytes
    parents: bytes
    tokens_dump: bytes
    tree_dump: bytes
    ast_dump: bytes


class Library:
    """The loaded library. Threads may share it."""

    def __init__(self, path: Path) -> None:
        try:
            native = ctypes.CDLL(str(path))
        except OSError as error:
            raise ImportError(f"graphmend: cannot load the native library {path}: {error}") from None
        try:
            native.graphmend_api_version.restype = ctypes.c_uint32
            version = native.graphmend_api_version()
        except AttributeError:
            raise ImportError(f"graphmend: {path} is not graphmend's native library") from None
        if version != API_VERSION:
            raise ImportError(
                f"graphmend: the native library {path} has API version {version}, this package needs {API_VERSION}; "
                "reinstall graphmend"
            )
        native.graphmend_release.restype = ctypes.c_char_p
        native.graphmend_status_text.restype = ctypes.c_char_p
        native.graphmend_token_kind.restype = ctypes.c_char_p
        native.graphmend_node_kind.restype = ctypes.c_char_p
        native.graphmend_read.restype = ctypes.c_int32
        native.graphmend_read.argtypes = (
            ctypes.c_char_p,
            ctypes.c_uint64,
            ctypes.POINTER(_Options),
            ctypes.POINTER(ctypes.POINTER(_Result)),
        )
        native.graphmend_result_free.restype = None
        native.graphmend_result_free.argtypes = (ctypes.POINTER(_Result),)
        native.graphmend_mend.restype = ctypes.c_int32
        native.graphmend_mend.argtypes = (
            ctypes.c_char_p,
            ctypes.c_uint64,
            ctypes.POINTER(_MendRequest),
            ctypes.POINTER(ctypes.POINTER(_Flat)),
        )
        native.graphmend_flat_free.restype = None
        native.graphmend_flat_free.argtypes = (ctypes.POINTER(_Flat),)
        self._native = native
        self.path = path
        self.release = self._string(native.graphmend_release())
        self.token_kinds = self._names(native.graphmend_token_kind)
        self.node_kinds = self._names(native.graphmend_node_kind)

    @staticmethod
    def _string(value: bytes) -> str:
        return value.decode("utf-8")

    @staticmethod
    def _names(function: "ctypes._NamedFuncPointer") -> tuple[str, ...]:
        names: list[str] = []
        while (name := function(ctypes.c_uint32(len(names)))) is not None:
            names.append(sys.intern(name.decode("ascii")))
        return tuple(names)

    def read(self, source: bytes, wanted: int, *, target_minor: int = 0, is_text: bool = False) -> Result:
        """Reads `source`; syntax errors are in the result, only trouble raises."""
        options = _Options(ctypes.sizeof(_Options), wanted, target_minor, IS_TEXT if is_text else 0)
        pointer = ctypes.POINTER(_Result)()
        status = self._native.graphmend_read(source, len(source), ctypes.byref(options), ctypes.byref(pointer))
        self._require_ok(status)
        try:
            return _copy(pointer.contents)
        finally:
            self._native.graphmend_result_free(pointer)

    def mend(
        self,
        source: bytes,
        file_name: str,
        lines: Sequence[int],
        functions: Sequence[int],
        talkers: Sequence[str],
        speculates: bool,
        substitutes: Sequence[str] = (),
        ahead: bool = False,
    ) -> bytes:
        """Mends `source` at these lines, and all of the functions that begin at those; and what is like these lines.

        What comes back is described at `graphmend_flat` in the header.
        """
        numbers = (ctypes.c_uint32 * len(lines))(*lines)
        firsts = (ctypes.c_uint32 * len(functions))(*functions)
        name = file_name.encode("utf-8", "surrogateescape")
        names = b"".join(talker.encode() + b"\0" for talker in talkers)
        others = b"".join(each.encode() + b"\0" for each in substitutes)
        request = _MendRequest(
            ctypes.sizeof(_MendRequest),
            len(lines),
            ctypes.cast(numbers, ctypes.c_void_p),
            name,
            len(name),
            names,
            len(names),
            ctypes.cast(firsts, ctypes.c_void_p),
            len(functions),
            ahead,
            speculates,
            others,
            len(others),
        )
        pointer = ctypes.POINTER(_Flat)()
        status = self._native.graphmend_mend(source, len(source), ctypes.byref(request), ctypes.byref(pointer))
        self._require_ok(status)
        try:
            flat = pointer.contents
            return ctypes.string_at(flat.data, flat.length)
        finally:
            self._native.graphmend_flat_free(pointer)

    def _require_ok(self, status: int) -> None:
        if status == 0:
            return
        reason = self._string(self._native.graphmend_status_text(status))
        raise MemoryError(reason) if status == _OUT_OF_MEMORY else ValueError(f"graphmend: {reason}")


def _copy(native: _Result) -> Result:
    def flat(address: int | None, size: int) -> bytes:
        return ctypes.string_at(address, size) if address and size else b""

    return Result(
        encoding=flat(native.encoding, native.encoding_length).decode("utf-8"),
        error_count=native.error_count,
        text=flat(native.text, native.text_length),
        line_starts=flat(native.line_starts, 4 * native.line_count),
        errors=flat(native.errors, ERROR_SIZE * native.error_count),
        messages=flat(native.messages, native.messages_length),
        tokens=flat(native.tokens, TOKEN_SIZE * native.token_count),
        nodes=flat(native.nodes, NODE_SIZE * native.node_count),
        parents=flat(native.parents, 4 * native.node_count),
        tokens_dump=flat(native.tokens_dump, native.tokens_dump_length),
        tree_dump=flat(native.tree_dump, native.tree_dump_length),
        ast_dump=flat(native.ast_dump, native.ast_dump_length),
    )


def library_path() -> Path:
    """Where the library is: beside this file, unless GRAPHMEND_LIBRARY names another one."""
    chosen = os.environ.get("GRAPHMEND_LIBRARY")
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise ImportError(f"graphmend: GRAPHMEND_LIBRARY names {chosen}, which is no file")
        return path
    folder = Path(__file__).resolve().parent
    for name in ("libgraphmend.so", "libgraphmend.dylib", "graphmend.dll"):
        if (folder / name).is_file():
            return folder / name
    raise ImportError(
        f"graphmend: the native library is missing from {folder}; install graphmend with pip, "
        "or set GRAPHMEND_LIBRARY to a libgraphmend that you built"
    )


@functools.cache
def library() -> Library:
    """The library, loaded at the first call."""
    return Library(library_path())

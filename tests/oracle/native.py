"""graphmend's shared library, by ctypes. In: bytes and a target version. Out: dumps, errors, tokens.

The only door is src/api/graphmend.h, whose structs are mirrored here; not the package's, so that CPython 3.8 loads it.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

_API_VERSION = 2
_WANT_ERRORS = 1
_WANT_TEXT = 2
_WANT_TOKENS = 4
_WANT_AST_DUMP = 64
_WANT_SCOPES_DUMP = 128
# Enough to tell causes apart; a damaged file may have thousands.
_MAX_ERRORS = 20


class Error(NamedTuple):
    """One syntax error; lines and columns count from 1."""

    line: int
    column: int
    message: str


class _Options(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("struct_size", "wanted", "target_minor", "flags")]


class _Error(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint32)
        for name in ("start", "end", "line", "column", "end_line", "end_column", "message_start", "message_length")
    ]


class _Token(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint32), ("end", ctypes.c_uint32)] + [
        (name, ctypes.c_uint8) for name in ("kind", "flags", "prefix_length", "unused")
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_void_p),
        ("text_length", ctypes.c_uint64),
        ("encoding", ctypes.c_void_p),
        ("encoding_length", ctypes.c_uint64),
        ("line_starts", ctypes.c_void_p),
        ("line_count", ctypes.c_uint64),
        ("error_count", ctypes.c_uint64),
        ("errors", ctypes.POINTER(_Error)),
        ("messages", ctypes.c_void_p),
        ("messages_length", ctypes.c_uint64),
        ("tokens", ctypes.POINTER(_Token)),
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
        ("scopes_dump", ctypes.c_void_p),
        ("scopes_dump_length", ctypes.c_uint64),
    ]


class TokenList(NamedTuple):
    """The decoded text, the encoding's name, and (start, end, kind) of each token in the text."""

    text: bytes
    encoding: str
    tokens: list[tuple[int, int, str]]


class Native:
    """The library at one path."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        library.graphmend_api_version.restype = ctypes.c_uint32
        if library.graphmend_api_version() != _API_VERSION:
            raise RuntimeError(f"{path} has another API version than tests/oracle/native.py")
        library.graphmend_token_kind.restype = ctypes.c_char_p
        library.graphmend_status_text.restype = ctypes.c_char_p
        library.graphmend_result_free.restype = None
        library.graphmend_result_free.argtypes = [ctypes.c_void_p]
        library.graphmend_read.restype = ctypes.c_int32
        library.graphmend_read.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
        self._library = library
        self._kinds: list[str] = []
        while True:
            name = library.graphmend_token_kind(ctypes.c_uint32(len(self._kinds)))
            if name is None:
                break
            self._kinds.append(name.decode())

    def _read(self, source: bytes, wanted: int, target: str) -> ctypes.c_void_p:
        minor = int(target.split(".")[1]) if target else 0
        options = _Options(ctypes.sizeof(_Options), wanted, minor, 0)
        result = ctypes.c_void_p()
        status = self._library.graphmend_read(source, len(source), ctypes.byref(options), ctypes.byref(result))
        if status != 0:
            raise RuntimeError(self._library.graphmend_status_text(status).decode())
        return result

    def dump_ast(self, source: bytes, target: str = "") -> tuple[str | None, list[Error]]:
        """The text of `graphmend dump ast` without its line end, and the errors; no dump where there are errors."""
        pointer = self._read(source, _WANT_ERRORS | _WANT_AST_DUMP, target)
        try:
            result = ctypes.cast(pointer, ctypes.POINTER(_Result)).contents
            errors = _errors_of(result)
            if not result.ast_dump:
                return None, errors
            return ctypes.string_at(result.ast_dump, result.ast_dump_length).decode("utf-8").rstrip("\n"), errors
        finally:
            self._library.graphmend_result_free(pointer)

    def dump_scopes(self, source: bytes, target: str = "") -> str | None:
        """The text of `graphmend dump scopes`; None where there are errors."""
        pointer = self._read(source, _WANT_SCOPES_DUMP, target)
        try:
            result = ctypes.cast(pointer, ctypes.POINTER(_Result)).contents
            if not result.scopes_dump:
                return None
            return ctypes.string_at(result.scopes_dump, result.scopes_dump_length).decode("utf-8")
        finally:
            self._library.graphmend_result_free(pointer)

    def errors(self, source: bytes, target: str = "") -> list[Error]:
        """What `graphmend parse` reports, the first of them."""
        pointer = self._read(source, _WANT_ERRORS, target)
        try:
            return _errors_of(ctypes.cast(pointer, ctypes.POINTER(_Result)).contents)
        finally:
            self._library.graphmend_result_free(pointer)

    def tokens(self, source: bytes) -> TokenList:
        """The tokens and the text they lie in."""
        pointer = self._read(source, _WANT_TEXT | _WANT_TOKENS, "")
        try:
            result = ctypes.cast(pointer, ctypes.POINTER(_Result)).contents
            text = ctypes.string_at(result.text, result.text_length)
            encoding = ctypes.string_at(result.encoding, result.encoding_length).decode()
            kinds = self._kinds
            tokens = [(t.start, t.end, kinds[t.kind]) for t in result.tokens[: result.token_count]]
            return TokenList(text, encoding, tokens)
        finally:
            self._library.graphmend_result_free(pointer)


def _errors_of(result: _Result) -> list[Error]:
    messages = ctypes.string_at(result.messages, result.messages_length) if result.error_count else b""
    errors = []
    for error in result.errors[: min(result.error_count, _MAX_ERRORS)]:
        message = messages[error.message_start : error.message_start + error.message_length]
        errors.append(Error(error.line, error.column, message.decode("utf-8", "replace")))
    return errors

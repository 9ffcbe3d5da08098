"""`parse` and what it returns: a tree of light nodes over flat arrays.

Lines count from 1, columns count characters from 1 (as SyntaxError.offset does), `start` and `end` are indices into
`tree.text`. Nodes and tokens are made when somebody asks for them; the tree itself is a few flat byte strings.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, overload

from graphmend import _native

_OLDEST_MINOR = 8
_NEWEST_MINOR = 15
_NO_PARENT = 0xFFFFFFFF
_ERROR = struct.Struct("=8I")


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """One syntax error: where it is and what is wrong there."""

    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class SyntaxProblems(SyntaxError):  # noqa: N818 (it holds several, and says so)
    """What `parse(..., strict=True)` raises; as a SyntaxError it describes the first of `problems`."""

    def __init__(self, problems: Sequence[SyntaxProblem], filename: str, lines: Sequence[str]) -> None:
        first = problems[0]
        line = lines[first.line - 1] if first.line <= len(lines) else ""
        super().__init__(first.message, (filename, first.line, first.column, line, first.end_line, first.end_column))
        self.problems = tuple(problems)
        self._arguments = (self.problems, filename, tuple(lines))

    def __reduce__(self) -> tuple[type[SyntaxProblems], tuple[object, ...]]:
        # Exceptions travel between processes; the default would pass our arguments in SyntaxError's order.
        return type(self), self._arguments


class _Place:
    """What nodes and tokens have in common: a range of the text."""

    __slots__ = ("_tree", "index")

    def __init__(self, tree: Tree, index: int) -> None:
        self._tree = tree
        self.index = index

    @property
    def _bytes(self) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def byte_start(self) -> int:
        """Offset of the first byte in the UTF-8 of the text."""
        return self._bytes[0]

    @property
    def byte_end(self) -> int:
        return self._bytes[1]

    @property
    def start(self) -> int:
        """Index into `tree.text`."""
        return self._tree._character(self._bytes[0])

    @property
    def end(self) -> int:
        return self._tree._character(self._bytes[1])

    @property
    def line(self) -> int:
        return self._tree._line(self._bytes[0])

    @property
    def end_line(self) -> int:
        return self._tree._line(self._bytes[1])

    @property
    def column(self) -> int:
        return self._tree._column(self._bytes[0])

    @property
    def end_column(self) -> int:
        """The column just after the last character."""
        return self._tree._column(self._bytes[1])

    @property
    def text(self) -> str:
        start, end = self._bytes
        return self._tree._source[start:end].decode("utf-8", "surrogateescape")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, _Place)
        return self._tree is other._tree and self.index == other.index

    def __hash__(self) -> int:
        return hash((type(self), id(self._tree), self.index))


class Token(_Place):
    """One token: `kind` is a name such as "Name", "String", "LeftParen", "Comment"."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        return _native.library().token_kinds[self._tree._token_bytes[_native.TOKEN_SIZE * self.index + 8]]

    @property
    def _bytes(self) -> tuple[int, int]:
        words = self._tree._token_words
        return words[3 * self.index], words[3 * self.index + 1]

    def __repr__(self) -> str:
        return f"<Token {self.kind} {self.text!r} at {self.line}:{self.column}>"


class Tokens(Sequence[Token]):
    """All tokens in the order of the text, comments included."""

    __slots__ = ("_tree",)

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def __len__(self) -> int:
        return len(self._tree._token_bytes) // _native.TOKEN_SIZE

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> list[Token]: ...
    def __getitem__(self, index: int | slice) -> Token | list[Token]:
        if isinstance(index, slice):
            return [Token(self._tree, i) for i in range(len(self))[index]]
        return Token(self._tree, range(len(self))[index])

    def __repr__(self) -> str:
        return f"<{len(self)} tokens>"


class Node(_Place):
    """One node of the tree: `kind` is a name such as "FunctionDef", "Call", "Name"."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        return _native.library().node_kinds[self._tree._node_bytes[_native.NODE_SIZE * self.index]]

    @property
    def first_token(self) -> Token:
        return Token(self._tree, self._tree._node_words[4 * self.index + 1])

    @property
    def last_token(self) -> Token:
        return Token(self._tree, self._tree._node_words[4 * self.index + 2])

    @property
    def tokens(self) -> list[Token]:
        """The tokens of this node and of everything in it."""
        words = self._tree._node_words
        first, last = words[4 * self.index + 1], words[4 * self.index + 2]
        return [Token(self._tree, index) for index in range(first, last + 1)]

    @property
    def parent(self) -> Node | None:
        """None for the root."""
        parent = self._tree._parents[self.index]
        return None if parent == _NO_PARENT else Node(self._tree, parent)

    @property
    def children(self) -> list[Node]:
        words = self._tree._node_words
        end = self.index + words[4 * self.index + 3]
        children: list[Node] = []
        child = self.index + 1
        while child < end:
            children.append(Node(self._tree, child))
            child += words[4 * child + 3]
        return children

    def walk(self) -> Iterator[Node]:
        """This node and everything in it, in the order of the text."""
        size = self._tree._node_words[4 * self.index + 3]
        for index in range(self.index, self.index + size):
            yield Node(self._tree, index)

    @property
    def _bytes(self) -> tuple[int, int]:
        nodes, tokens = self._tree._node_words, self._tree._token_words
        return tokens[3 * nodes[4 * self.index + 1]], tokens[3 * nodes[4 * self.index + 2] + 1]

    def __repr__(self) -> str:
        return f"<Node {self.kind} at {self.line}:{self.column}>"


class Tree:
    """What `parse` returns. There is always a tree; where the source is wrong it has error nodes."""

    def __init__(self, given: bytes, is_text: bool, target_minor: int, filename: str) -> None:
        wanted = _native.WANT_ERRORS | _native.WANT_TEXT | _native.WANT_TOKENS | _native.WANT_TREE
        result = _native.library().read(given, wanted, target_minor=target_minor, is_text=is_text)
        self.filename = filename
        self.encoding = result.encoding
        self._given = given
        self._is_text = is_text
        self._target_minor = target_minor
        self._source = result.text
        self._line_starts = _words(result.line_starts)
        self._token_bytes = result.tokens
        self._token_words = _words(result.tokens)
        self._node_bytes = result.nodes
        self._node_words = _words(result.nodes)
        self._parents = _words(result.parents)
        self._errors = result.errors
        self._messages = result.messages

    @property
    def ok(self) -> bool:
        """Whether CPython of the target version would take the source."""
        return not self._errors

    @cached_property
    def errors(self) -> list[SyntaxProblem]:
        """All syntax errors in the order of the text."""
        problems: list[SyntaxProblem] = []
        for start, end, line, column, end_line, end_column, message, length in _ERROR.iter_unpack(self._errors):
            text = self._messages[message : message + length].decode("utf-8", "replace")
            first, last = self._character(start), self._character(end)
            problems.append(SyntaxProblem(line, column, end_line, end_column, text, first, last))
        return problems

    @cached_property
    def text(self) -> str:
        """The source as text, line endings as they were. Undecodable bytes are lone surrogates, as in file names."""
        return self._source.decode("utf-8", "surrogateescape")

    @property
    def tokens(self) -> Tokens:
        return Tokens(self)

    @property
    def root(self) -> Node:
        return Node(self, 0)

    def walk(self) -> Iterator[Node]:
        """Every node, parents before children, in the order of the text."""
        return self.root.walk()

    def dump(self) -> str:
        """The tree as text, one node on a line: `graphmend dump tree`."""
        return self._again(_native.WANT_TREE_DUMP).tree_dump.decode("utf-8", "surrogateescape")

    def dump_tokens(self) -> str:
        """The tokens as text, one on a line: `graphmend dump tokens`."""
        return self._again(_native.WANT_TOKENS_DUMP).tokens_dump.decode("utf-8", "surrogateescape")

    def dump_ast(self) -> str:
        """What CPython 3.13 prints for ast.dump(..., include_attributes=True); SyntaxProblems if there are errors."""
        if not self.ok:
            self.raise_errors()
        return self._again(_native.WANT_AST_DUMP).ast_dump.decode("utf-8", "surrogatepass")

    def raise_errors(self) -> NoReturn:
        """Raises SyntaxProblems; there must be errors."""
        raise SyntaxProblems(self.errors, self.filename, _lines(self.text))

    def __repr__(self) -> str:
        errors = len(self._errors) // _native.ERROR_SIZE
        state = "ok" if errors == 0 else f"{errors} error{'' if errors == 1 else 's'}"
        return f"<Tree of {self.filename}: {len(self._parents)} nodes, {state}>"

    def _again(self, wanted: int) -> _native.Result:
        # Dumps are rare and reading is fast: nothing native is kept alive for them.
        return _native.library().read(self._given, wanted, target_minor=self._target_minor, is_text=self._is_text)

    @cached_property
    def _is_ascii(self) -> bool:
        return self._source.isascii()

    @cached_property
    def _line_characters(self) -> list[int]:
        """For each line, the index of its first character."""
        starts = list(self._line_starts)
        indices: list[int] = []
        index = 0
        for start, end in zip(starts, [*starts[1:], len(self._source)], strict=True):
            indices.append(index)
            index += len(self._source[start:end].decode("utf-8", "surrogateescape"))
        return indices

    def _line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def _column(self, offset: int) -> int:
        start = self._line_starts[self._line(offset) - 1]
        if self._is_ascii:
            return offset - start + 1
        return len(self._source[start:offset].decode("utf-8", "surrogateescape")) + 1

    def _character(self, offset: int) -> int:
        if self._is_ascii:
            return offset
        return self._line_characters[self._line(offset) - 1] + self._column(offset) - 1


def _words(flat: bytes) -> memoryview[int]:
    """32-bit numbers, in the order of bytes of this machine."""
    return memoryview(flat).cast("I")


def parse(
    source: str | bytes,
    *,
    target_version: str = "3.15",
    strict: bool = False,
    filename: str = "<unknown>",
) -> Tree:
    """Parses Python source.

    Bytes are read as a file is: a byte-order mark or a coding cookie decides the encoding. In a `str` a cookie means
    nothing, as in `compile`. `target_version` is the Python whose syntax is accepted, "3.8" to "3.15".

    Syntax errors are in `tree.errors`; with `strict=True` they raise SyntaxProblems, a SyntaxError.
    """
    minor = _minor(target_version)
    if isinstance(source, str):
        try:
            given, is_text = source.encode("utf-8"), True
        except UnicodeEncodeError as error:
            code = f"U+{ord(source[error.start]):04X}"
            raise ValueError(
                f"graphmend: the source has a lone surrogate ({code}) at index {error.start}, which is no text; "
                "decode the file without surrogateescape, or pass its bytes"
            ) from None
    elif isinstance(source, (bytes, bytearray, memoryview)):
        given, is_text = bytes(source), False
    else:
        raise TypeError(f"graphmend: source must be str or bytes, not {type(source).__name__}")
    tree = Tree(given, is_text, minor, filename)
    if strict and not tree.ok:
        tree.raise_errors()
    return tree


def _minor(target_version: str) -> int:
    for minor in range(_OLDEST_MINOR, _NEWEST_MINOR + 1):
        if target_version == f"3.{minor}":
            return minor
    raise ValueError(
        f"graphmend: unknown target version {target_version!r}, expected 3.{_OLDEST_MINOR} to 3.{_NEWEST_MINOR}"
    )


def _lines(text: str) -> list[str]:
    """Lines as the tokenizer counts them, which str.splitlines does not."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

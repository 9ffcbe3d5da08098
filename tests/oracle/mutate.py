"""Makes programs that are almost right. In: a pool of sources and a seeded generator. Out: one mutated source.

Works on tokens found by a regular expression, not by a lexer: what a broken program's tokens are is the question asked.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from oracle import fragments

_TOKEN = re.compile(
    rb"""[A-Za-z]{0,2}(?:'''|\"\"\")|[A-Za-z]{0,2}'(?:[^'\\\n]|\\.)*'|[A-Za-z]{0,2}"(?:[^"\\\n]|\\.)*\""""
    rb"""|[A-Za-z_\x80-\xff][A-Za-z_0-9\x80-\xff]*|[0-9][0-9A-Za-z_.]*"""
    rb"""|\#[^\r\n]*|\r\n|\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[-+*/%@&|^=!<>]=|[ \t]+|.""",
    re.DOTALL,
)
_MAX_BYTES = 4000
_WORDS = frozenset(fragments.WORDS)

if TYPE_CHECKING:
    Mutation = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def tokens_of(source: bytes) -> list[bytes]:
    """Pieces that make up the source again when joined."""
    found: list[bytes] = _TOKEN.findall(source)
    return found


def _fragment(choose: random.Random) -> bytes:
    kind = choose.random()
    if kind < 0.45:
        return choose.choice(fragments.EXPRESSIONS).encode()
    if kind < 0.75:
        return choose.choice(fragments.WORDS).encode()
    return choose.choice(fragments.SPECIAL)


def _solid(tokens: list[bytes], choose: random.Random) -> int:
    # Prefer tokens to blanks: deleting a blank seldom changes anything.
    at = choose.randrange(len(tokens))
    return at if tokens[at].strip() else choose.randrange(len(tokens))


def delete_token(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    at = _solid(tokens, choose)
    del tokens[at : at + choose.choice((1, 1, 1, 2, 3))]
    return b"".join(tokens)


def duplicate_token(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    at = _solid(tokens, choose)
    end = at + choose.choice((1, 1, 2, 3, 5))
    tokens[at:at] = tokens[at:end]
    return b"".join(tokens)


def swap_tokens(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    first = _solid(tokens, choose)
    second = _solid(tokens, choose) if choose.random() < 0.5 else min(first + choose.choice((1, 2)), len(tokens) - 1)
    tokens[first], tokens[second] = tokens[second], tokens[first]
    return b"".join(tokens)


def replace_token(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    other = tokens_of(choose.choice(pool)) or tokens
    tokens[_solid(tokens, choose)] = other[_solid(other, choose)]
    return b"".join(tokens)


def replace_by_fragment(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    tokens[_solid(tokens, choose)] = _fragment(choose)
    return b"".join(tokens)


def insert_fragment(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    piece = _fragment(choose)
    blank = choose.choice((b"", b" "))
    tokens.insert(choose.randrange(len(tokens) + 1), blank + piece + blank)
    return b"".join(tokens)


def _indent(piece: bytes, blank: bytes) -> bytes:
    lines = piece.splitlines(keepends=True)
    return b"".join(blank + line for line in lines) + (b"" if piece.endswith(b"\n") else b"\n")


def insert_statement(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    lines = source.splitlines(keepends=True)
    at = choose.randrange(len(lines) + 1)
    neighbour = lines[min(at, len(lines) - 1)]
    blank = neighbour[: len(neighbour) - len(neighbour.lstrip(b" \t"))]
    piece = choose.choice(fragments.STATEMENTS).encode() if choose.random() < 0.8 else choose.choice(pool)
    lines.insert(at, _indent(piece, blank))
    return b"".join(lines)


def splice(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    lines = source.splitlines(keepends=True)
    other = choose.choice(pool).splitlines(keepends=True)
    return b"".join(lines[: choose.randrange(len(lines) + 1)] + other[choose.randrange(len(other) + 1) :])


def splice_tokens(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    other = tokens_of(choose.choice(pool))
    start = choose.randrange(len(other) + 1)
    at = choose.randrange(len(tokens) + 1)
    tokens[at : at + choose.randrange(4)] = other[start : start + choose.randrange(1, 12)]
    return b"".join(tokens)


def change_indent(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    lines = source.splitlines(keepends=True)
    at = choose.randrange(len(lines))
    line = lines[at]
    body = line.lstrip(b" \t\x0c")
    blank = line[: len(line) - len(body)]
    lines[at] = (
        choose.choice(
            (
                blank + b" ",
                blank[1:],
                blank + b"\t",
                blank.replace(b"        ", b"\t"),
                blank.replace(b"    ", b"\t"),
                b"\x0c" + blank,
                blank + b"\x0c",
                blank[:2] + b"\x0c" + blank[2:],
                blank + b"    ",
                b"\\\n" + blank,
                blank + b"\\\n" + blank[:2],
                b"",
            )
        )
        + body
    )
    return b"".join(lines)


def flip_byte(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    at = choose.randrange(len(source))
    changed = choose.choice((source[at] ^ (1 << choose.randrange(8)), choose.randrange(256), choose.randrange(32, 127)))
    return source[:at] + bytes((changed,)) + source[at + 1 :]


def change_line_ends(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    end = choose.choice((b"\r\n", b"\r", b"\n\r", b"\x0c\n", b" \\\n", b"\n\n", b";", b" # c\n"))
    if choose.random() < 0.5:
        return source.replace(b"\n", end)
    parts = source.split(b"\n")
    at = choose.randrange(len(parts))
    return b"\n".join(parts[: at + 1]) + end + b"\n".join(parts[at + 1 :])


def truncate(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    if choose.random() < 0.3:
        return source.rstrip(b"\r\n") + choose.choice(fragments.ENDINGS)
    return source[: choose.randrange(len(source) + 1)]


def wrap(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    opening, closing = choose.choice(fragments.WRAPPERS)
    tokens = tokens_of(source)
    start = _solid(tokens, choose)
    end = min(start + choose.choice((1, 1, 1, 3, 5)), len(tokens))
    return b"".join(tokens[:start]) + opening + b"".join(tokens[start:end]) + closing + b"".join(tokens[end:])


def nest(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    header = choose.choice(fragments.HEADERS)
    return header + b"\n" + _indent(source, choose.choice((b"    ", b"    ", b"\t", b"  ")))


def change_string(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    tokens = tokens_of(source)
    strings = [at for at, token in enumerate(tokens) if token[-1:] in (b"'", b'"')]
    if not strings:
        return insert_fragment(source, choose, pool)
    at = choose.choice(strings)
    token = tokens[at]
    body = token.lstrip(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if choose.random() < 0.6 and len(body) > 1:
        cut = choose.randrange(1, len(body))
        body = body[:cut] + choose.choice(fragments.STRING_PIECES) + body[cut:]
    tokens[at] = choose.choice(fragments.STRING_PREFIXES).encode() + body
    return b"".join(tokens)


def replace_operand(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    """Puts an expression where a name stood: most such programs are right, or wrong for one reason only."""
    tokens = tokens_of(source)
    names = [at for at, token in enumerate(tokens) if _is_name(token)]
    if not names:
        return insert_fragment(source, choose, pool)
    expression = choose.choice(fragments.EXPRESSIONS).encode()
    tokens[choose.choice(names)] = b"(" + expression + b")" if choose.random() < 0.4 else expression
    return b"".join(tokens)


def rename(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    """Leaves few names, so that they meet: parameters with locals, globals with nonlocals, captures with captures."""
    names = (b"x", b"y", b"x", b"f", b"A", b"T", b"_", b"self.x")
    renamed: dict[bytes, bytes] = {}
    tokens = tokens_of(source)
    for at, token in enumerate(tokens):
        if _is_name(token):
            tokens[at] = renamed.setdefault(token, choose.choice(names))
    return b"".join(tokens)


def stack_statements(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    """Several statements, each in the one before or beside it."""
    stacked = source
    for _ in range(choose.choice((1, 2, 3))):
        piece = choose.choice(fragments.STATEMENTS).encode()
        both = (piece + b"\n", stacked) if choose.random() < 0.5 else (stacked, b"\n" + piece + b"\n")
        stacked = both[0] + both[1]
        if choose.random() < 0.6:
            stacked = choose.choice(fragments.HEADERS) + b"\n" + _indent(stacked, b"    ")
    return stacked


def _is_name(token: bytes) -> bool:
    return token[:1].isalpha() and token.isalnum() and token.decode("latin-1") not in _WORDS


def add_cookie(source: bytes, choose: random.Random, pool: Sequence[bytes]) -> bytes:
    return choose.choice(fragments.COOKIES) + source


# Those named twice are the ones that find most.
_MUTATIONS: list[Mutation] = [
    *(delete_token, delete_token, duplicate_token, swap_tokens, replace_token, truncate),
    *(replace_by_fragment, replace_by_fragment, insert_fragment, insert_fragment),
    *(insert_statement, insert_statement, splice, splice_tokens, change_indent, flip_byte),
    *(change_line_ends, wrap, wrap, nest, change_string),
    *(replace_operand, replace_operand, replace_operand, rename, rename, stack_statements, stack_statements),
]


def mutated(pool: Sequence[bytes], seed: int, number: int) -> bytes:
    """The source of one round: the same for the same pool, seed and number."""
    choose = random.Random(seed << 40 | number)
    is_plain = choose.random() < 0.15
    source = choose.choice(fragments.STATEMENTS).encode() + b"\n" if is_plain else choose.choice(pool)
    for _ in range(choose.choice((1, 1, 1, 1, 2, 2, 3))):
        # Every mutation needs at least one line and one token to work on.
        source = choose.choice(_MUTATIONS)(source, choose, pool) or b"x\n"
    if choose.random() < 0.02:
        source = add_cookie(source, choose, pool)
    return source[:_MAX_BYTES]

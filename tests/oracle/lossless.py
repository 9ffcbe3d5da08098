"""Tokens plus gaps are the bytes. In: a source, its text and tokens. Out: the first reason why that does not hold.

Gaps may hold white space, line ends, line continuations, and nothing else. Text is the source without a byte-order
mark, decoded; where it cannot be decoded, the bytes as they are.
"""

from __future__ import annotations

import codecs
import re

from oracle.native import TokenList

_GAP = re.compile(rb"(?:[ \t\f\r\n]|\\(?:\r\n|\r|\n))*\Z")


def complaint(source: bytes, lexed: TokenList) -> str:
    """The empty string means that all is well."""
    wrong = _text_complaint(source, lexed)
    if wrong:
        return wrong
    text = lexed.text
    position = 0
    for start, end, kind in lexed.tokens:
        if start < position or end < start or end > len(text):
            return f"token {kind} {start}..{end} after offset {position} of {len(text)}"
        if start > position and not _GAP.match(text[position:start]):
            return f"bytes outside every token: {position}..{start} {text[position:start][:40]!r}"
        position = end
    if not _GAP.match(text[position:]):
        return f"bytes after the last token: {position}.. {text[position:][:40]!r}"
    return ""


def _text_complaint(source: bytes, lexed: TokenList) -> str:
    plain = source[len(codecs.BOM_UTF8) :] if source.startswith(codecs.BOM_UTF8) else source
    if lexed.text in (plain, source):
        return ""
    try:
        decoded = plain.decode(lexed.encoding).encode("utf-8")
    except (LookupError, UnicodeError) as error:
        return f"text in {lexed.encoding} was changed: {error}"
    return "" if decoded == lexed.text else f"text in {lexed.encoding} is not what CPython decodes"

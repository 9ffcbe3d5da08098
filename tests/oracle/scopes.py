"""Scopes in one shape, from CPython and from graphmend. In: source, or a dump. Out: nested tuples that compare.

Compared are the raw flags of every symbol, of which all methods of `symtable.Symbol` are functions together with the
name of the table and `is_namespace`, and of every table its type, name, line and nesting, children in order.
"""

from __future__ import annotations

import re
import symtable
from typing import Any, NamedTuple

# Numbers of CPython 3.13; those older versions lack never occur there.
_FLAGS = {
    1: "global",
    2: "assigned",
    4: "parameter",
    8: "nonlocal",
    16: "referenced",
    64: "free-in-class",
    128: "imported",
    256: "annotated",
    512: "comprehension-target",
    1024: "type-parameter",
    2048: "comprehension-cell",
}
_SCOPES = {1: "local", 2: "global-explicit", 3: "global-implicit", 4: "free", 5: "cell"}
# What 3.12 called otherwise.
_TYPES = {"type-parameter": "type-parameters", "TypeVar-bound": "type-variable"}


class Scope(NamedTuple):
    """One table: what it is, its symbols by name, and its children."""

    head: str
    symbols: dict[str, str]
    children: list[Any]


def _symbol_text(flags: int, *, is_namespace: bool) -> str:
    # Behind the flags stands the number of the scope.
    offset: int = symtable.SCOPE_OFF  # type: ignore[attr-defined]
    mask: int = symtable.SCOPE_MASK  # type: ignore[attr-defined]
    words = [word for bit, word in _FLAGS.items() if flags & bit & (1 << offset) - 1]
    if is_namespace:
        words.append("namespace")
    return " ".join([_SCOPES[flags >> offset & mask] + ",", *words])


def _scope_of_table(table: symtable.SymbolTable) -> Scope:
    raw = table._table  # type: ignore[attr-defined]
    kind = str(table.get_type()).replace(" ", "-")
    kind = _TYPES.get(kind, kind)
    nested = " nested" if table.is_nested() else ""
    head = f"{kind} {table.get_name()} line {table.get_lineno()}{nested}"
    assert table.is_optimized() == (kind == "function")
    symbols = {
        symbol.get_name(): _symbol_text(raw.symbols[symbol.get_name()], is_namespace=symbol.is_namespace())
        for symbol in table.get_symbols()
    }
    return Scope(head, symbols, [_scope_of_table(child) for child in table.get_children()])


def of_cpython(source: bytes) -> Scope | None:
    """What `symtable` says; None if it refuses the source."""
    try:
        # Bytes are taken as well, and decoded as a file's are.
        return _scope_of_table(symtable.symtable(source, "<source>", "exec"))  # type: ignore[arg-type]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_INDENTED = re.compile(r"( *)(?:\((\d+)\) )?(.*)")
_SYMBOL = re.compile(r"([^ :]+): ([^;]*);")


def of_dump(dump: str) -> Scope:
    """What the text of `graphmend dump scopes` says, without the scopes that CPython does not list."""
    root = Scope("", {}, [])
    # For each depth: the scope there, into which children go.
    open_scopes = [root]
    for line in dump.splitlines():
        match = _INDENTED.fullmatch(line)
        assert match is not None
        depth = int(match[2]) if match[2] else len(match[1]) // 2
        text = match[3]
        symbol = _SYMBOL.match(text)
        if symbol:
            open_scopes[depth].symbols[symbol[1]] = symbol[2].rstrip()
            continue
        del open_scopes[depth + 1 :]
        around = open_scopes[depth]
        if text.endswith(" hidden"):
            open_scopes.append(Scope(text, {}, []))
        elif text.endswith(" inlined"):
            # Its children are those of the scope around it.
            open_scopes.append(Scope(text, {}, around.children))
        else:
            scope = Scope(text, {}, [])
            around.children.append(scope)
            open_scopes.append(scope)
    module: Scope = root.children[0]
    return module


def first_difference(expected: Scope, actual: Scope, path: str = "") -> tuple[str, str, str, str] | None:
    """(path of the scope, what differs, expected, actual); None if there is no difference."""
    if expected.head != actual.head:
        return path, "scope", expected.head, actual.head
    path = f"{path} / {expected.head}"
    for name in sorted(set(expected.symbols) | set(actual.symbols)):
        wanted, got = expected.symbols.get(name, "nothing"), actual.symbols.get(name, "nothing")
        if wanted != got:
            return path, f"symbol {name}", wanted, got
    for wanted_child, got_child in zip(expected.children, actual.children):
        found = first_difference(wanted_child, got_child, path)
        if found:
            return found
    if len(expected.children) != len(actual.children):
        heads = [", ".join(child.head for child in scope.children) for scope in (expected, actual)]
        return path, "children", heads[0], heads[1]
    return None


def count(scope: Scope) -> tuple[int, int]:
    """How many scopes and how many symbols."""
    scopes, symbols = 1, len(scope.symbols)
    for child in scope.children:
        inner = count(child)
        scopes, symbols = scopes + inner[0], symbols + inner[1]
    return scopes, symbols

"""`ast.dump(tree, include_attributes=True)` of CPython 3.13, several times as fast.

In: a tree from `ast.parse`. Out: the identical string. Left out: trees built by hand that lack positions.
One function per node class is generated from the class's own field types, so a class cannot be forgotten.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

IS_AVAILABLE = tuple(sys.version_info)[:2] == (3, 13)

_LEAVES = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
_FORMAT: dict[type, Callable[[Any], str]] = {type(None): repr}


def _field_piece(cls: type, name: str, field_type: Any) -> str:
    """The expression that gives `name=value, ` for one field, or the empty string where ast.dump omits it."""
    if name == "value" and cls in (ast.Constant, ast.MatchSingleton):
        return f"'{name}=' + repr(n.{name}) + ', '"
    text = str(field_type)
    if text.startswith("list["):
        item = field_type.__args__[0]
        if isinstance(item, type) and issubclass(item, ast.AST):
            body = f"', '.join([F[type(x)](x) for x in n.{name}])"
        else:
            body = f"', '.join([repr(x) for x in n.{name}])"
        return f"('{name}=[' + {body} + '], ' if n.{name} else '')"
    is_optional = "None" in text
    item = field_type.__args__[0] if is_optional else field_type
    is_node = isinstance(item, type) and issubclass(item, ast.AST)
    value = f"F[type(n.{name})](n.{name})" if is_node else f"repr(n.{name})"
    piece = f"'{name}=' + {value} + ', '"
    return f"({piece} if n.{name} is not None else '')" if is_optional else piece


def _generate(cls: Any) -> Callable[[Any], str]:
    if issubclass(cls, _LEAVES):
        text = cls.__name__ + "()"
        return lambda n: text
    pieces: list[str] = [_field_piece(cls, name, cls._field_types[name]) for name in cls._fields]
    if cls._attributes:
        positions = ", ".join(f"{name}={{n.{name}}}" for name in cls._attributes)
        body = f"'{cls.__name__}(' + " + " + ".join([*pieces, f"f'{positions})'"])
    else:
        joined = " + ".join(pieces) or "''"
        body = f"'{cls.__name__}(' + ({joined})[:-2] + ')'"
    scope: dict[str, Any] = {"F": _FORMAT}
    exec(f"def dump_{cls.__name__}(n):\n    return {body}", scope)
    made: Callable[[Any], str] = scope[f"dump_{cls.__name__}"]
    return made


def _generate_all() -> None:
    stack: list[Any] = [ast.AST]
    while stack:
        cls = stack.pop()
        stack.extend(cls.__subclasses__())
        # Below Constant are the deprecated Num, Str, ...: never made by the parser.
        is_deprecated = issubclass(cls, ast.Constant) and cls is not ast.Constant
        is_abstract = cls is not ast.Constant and bool(cls.__subclasses__())
        if not is_deprecated and not is_abstract and set(cls._fields) <= set(getattr(cls, "_field_types", ())):
            _FORMAT[cls] = _generate(cls)


def dump(tree: ast.AST) -> str:
    """The identical string to `ast.dump(tree, include_attributes=True)`; needs CPython 3.13."""
    if not IS_AVAILABLE:
        raise RuntimeError("fast_dump gives the dump of CPython 3.13 only")
    if len(_FORMAT) == 1:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 1_000_000))
        _generate_all()
    try:
        return _FORMAT[type(tree)](tree)
    except ValueError:
        # A long hexadecimal literal is legal, but its decimal form is beyond the limit for printing.
        limit = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            return _FORMAT[type(tree)](tree)
        finally:
            sys.set_int_max_str_digits(limit)

"""Texts of numbers that may change: made after the graph, as they are written.

Dynamo rebuilds an f-string's float behind a break as the float, or fails on its format; it knows no `str(n)` and no
`"%d" % n` of a number that is a symbol. In: traces. Out: traces in which such a text is a call of `str.format`.
"""

import contextlib
import operator
import re
from collections.abc import Sequence
from typing import Any

from torch._dynamo.exc import unimplemented
from torch._dynamo.symbolic_convert import InstructionTranslator, InstructionTranslatorBase
from torch._dynamo.variables import BuiltinVariable, SymNodeVariable, TupleVariable
from torch._dynamo.variables.misc import StringFormatVariable
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.exact import as_constant
from graphmend._torch.replaced import replaced

_CONVERSIONS = ("", "!s", "!r", "!a")
# `%-8.3f`: flags, width, precision, type.
_PERCENT = re.compile(r"%(?:(%)|([-+ 0]*)(\d*)(\.\d+)?([dsrfFeEgG]))")


def formats_kept() -> contextlib.AbstractContextManager[None]:
    """Inside, a number that may change is formatted after the graph."""
    # Before torch 2.13 such a text is taken for one that is in no list, set or dict: there it is not made.
    knows_keys = hasattr(StringFormatVariable, "hash_impl")
    return replaced(
        (InstructionTranslatorBase, "_format_value", _in_f_strings),
        (BuiltinVariable, "call_function", _in_calls),
        (StringFormatVariable, "hash_impl", _as_keys) if knows_keys else (StringFormatVariable, "create", _of_known),
    )


def _in_f_strings(original: Any) -> Any:
    def format_value(self: Any, spec: Any, flags: int) -> None:
        value = self.stack[-1].realize()
        if not isinstance(value, SymNodeVariable) or value.python_type() is not float:
            original(self, spec, flags)
            return
        self.pop()
        form = "{" + _CONVERSIONS[flags & 3] + ":" + spec.as_python_constant() + "}"
        self.push(StringFormatVariable.create(form, [value], {}))

    return format_value


def _in_calls(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        text = None
        if self.fn in (str, repr) and len(args) == 1 and not kwargs:
            text = _text("{!r}", [args[0].realize()])
        elif self.fn is operator.mod and _is_text(args[0]):
            given = args[1].realize()
            values = [each.realize() for each in given.items] if isinstance(given, TupleVariable) else [given]
            if isinstance(given, TupleVariable) and any(each.is_tensor() for each in values):
                # Dynamo raises a TypeError, which a handler of the program's would take for its own.
                _cannot("Text of a tensor", "A text is made of a tensor's values.")
            form, kinds = as_format(args[0].as_python_constant())
            if len(kinds) == len(values) and _has_symbol(values) and all(map(_fits, kinds, values)):
                text = _text(form, [_whole(tx, *each) for each in zip(kinds, values, strict=True)])
        return original(self, tx, args, kwargs) if text is None else text

    return call_function


def _as_keys(original: Any) -> Any:
    def hash_impl(self: Any, tx: Any) -> Any:
        # Dynamo would take the text for another than any; only the numbers tell. They are needed, or guarded on.
        for value in (*self.sym_args, *self.sym_kwargs.values()):
            as_constant(tx, value)
        return _cannot("Text of a number as a key", "A text that is made of a number which may change is looked up.")

    return hash_impl


def _of_known(original: Any) -> Any:
    def create(form: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        tx = InstructionTranslator.current_tx()
        named = {name: as_constant(tx, value) for name, value in kwargs.items()}
        return original(form, [as_constant(tx, value) for value in args], named)

    return create


def _cannot(gb_type: str, explanation: str) -> Any:
    """Breaks the graph."""
    return unimplemented(gb_type=gb_type, context="", explanation=explanation, hints=[])


def _is_text(value: Any) -> bool:
    return value.is_python_constant() and isinstance(value.as_python_constant(), str)


def _fits(kind: str, value: Any) -> bool:
    """Whether `%` and `str.format` have the same type for it."""
    return kind in "sr" or value.python_type() in (int, float)


def _whole(tx: Any, kind: str, value: Any) -> Any:
    """The value as `%d` has it."""
    is_fraction = kind == "d" and value.python_type() is float
    return BuiltinVariable(int).call_function(tx, [value], {}) if is_fraction else value


def _text(form: str, values: list[Any]) -> Any:
    return StringFormatVariable.create(form, values, {}) if _has_symbol(values) else None


def _has_symbol(values: list[Any]) -> bool:
    """Whether all are constants and numbers, one of which may change."""
    may_change = [_is_symbol(each) for each in values]
    return any(may_change) and all(
        changes or each.is_python_constant() for changes, each in zip(may_change, values, strict=True)
    )


def _is_symbol(value: Any) -> bool:
    """Whether it is a number, and Dynamo would not compile for the very one."""
    if not isinstance(value, SymNodeVariable):
        return False
    kind = value.python_type()
    return kind is float or (kind is int and bool(free_unbacked_symbols(value.sym_num)))


def as_format(template: str) -> tuple[str, list[str]]:
    """What a template of `%` is for `str.format`, and the types of its fields; without any if it cannot be said so."""
    form, kinds, at = "", [], 0
    for found in _PERCENT.finditer(template):
        before = template[at : found.start()]
        is_percent, flags, width, precision, kind = found.groups()
        # Of a whole number a precision is its least digits, of a text the most letters; signs are none of a text's.
        is_other = (precision and kind in ("d", "s", "r")) or (kind in ("s", "r") and set(flags) - {"-"})
        if "%" in before or is_other:
            return "", []
        form += _escaped(before) + ("%" if is_percent else _field(flags, width, precision or "", kind))
        kinds += [] if is_percent else [kind]
        at = found.end()
    return ("", []) if "%" in template[at:] else (form + _escaped(template[at:]), kinds)


def _field(flags: str, width: str, precision: str, kind: str) -> str:
    left = "<" if "-" in flags else ""
    if kind in "sr":
        return "{!" + kind + ":" + (left or ">") + width + "}"
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and not left else ""
    return "{:" + left + sign + zeros + width + precision + kind + "}"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")

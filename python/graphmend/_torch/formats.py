"""Texts of numbers that may change: made after the graph, as they are written.

Dynamo rebuilds an f-string's number as the number, or fails on its format; it knows no `str(n)` and no `"%d" % n` of a
number that is a symbol. In: traces. Out: traces in which such a text is a call of `str.format`; where Dynamo would
compile for the very number, or knows no operation of symbols, it has the number.
"""

import contextlib
import operator
import re
from collections.abc import Iterable, Sequence
from string import Formatter
from typing import Any

from torch._dynamo.exc import ObservedTypeError
from torch._dynamo.symbolic_convert import InstructionTranslator, InstructionTranslatorBase
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    ConstDictVariable,
    SymNodeVariable,
    TupleVariable,
)
from torch._dynamo.variables.misc import StringFormatVariable
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.exact import as_constant
from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced
from graphmend._torch.told import has_text_of_its_own, is_object, says_by_repr, text_by_repr, text_of_object

_MAKE_TEXTS = (str, repr, format, operator.mod)
_TYPICAL = {int: 1, float: 1.5}
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
        told = text_of_object(self, value, spec.as_python_constant()) if flags & 3 == 0 else None
        if told is not None:
            self.stack[-1] = told
            return
        if not isinstance(value, SymNodeVariable):
            original(self, spec, flags)
            return
        self.pop()
        text = _text("{" + _CONVERSIONS[flags & 3] + ":" + spec.as_python_constant() + "}", [value])
        if text is not None:
            self.push(text)
        else:
            # Dynamo would put the number there, without its format.
            self.push(as_constant(self, value))
            original(self, spec, flags)

    return format_value


def _in_calls(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        text = _text_made(self.fn, tx, args) if self.fn in _MAKE_TEXTS and not kwargs else None
        if text is not None:
            return text
        if self.fn is str and len(args) == 1 and not kwargs and says_by_repr(args[0].realize()):
            return text_by_repr(tx, args[0].realize())
        if self.fn is str.format and args and args[0].is_python_constant():
            _leave_objects(args[0], (*args[1:], *kwargs.values()))
        if self.fn is format and not kwargs:
            return _formatted([_known(tx, each) for each in args])
        try:
            return original(self, tx, args, kwargs)
        except ObservedTypeError:
            # It may be Dynamo that knows no such operation of a symbol.
            known = [_known(tx, each) for each in args]
            if not _differ(known, args):
                raise
            tx.exn_vt_stack.clear_current_exception()
            return original(self, tx, known, kwargs)

    return call_function


def _leave_objects(form: Any, values: Iterable[Any]) -> None:
    """Breaks the graph where `str.format` would ask an object before that is what it is."""
    objects = [given for each in values if is_object(given := each.realize())]
    if objects and (any(map(has_text_of_its_own, objects)) or _reads_parts(str(form.as_python_constant()))):
        leave_to_python("Text of an object", objects, "`str.format` asks it before the frame has changed it.")


def _reads_parts(form: str) -> bool:
    """Whether a format reads attributes or items of what it is given; also if it is none."""
    try:
        return any(set(name or "") & set(".[") for _, name, *_ in Formatter().parse(form))
    except ValueError:
        return True


def _text_made(function: Any, tx: Any, args: Sequence[Any]) -> Any:
    """What a function makes of a number that may change; None if that is no text."""
    values = [each.realize() for each in args]
    if function in (str, repr):
        return _text("{!r}", values) if len(values) == 1 else None
    if function is format and all(map(_is_text, values[1:])):
        return _text("{:" + "".join(each.as_python_constant() for each in values[1:]) + "}", values[:1])
    if function is format or not _is_text(values[0]):
        return None
    given = values[1]
    fields = [each.realize() for each in given.items] if isinstance(given, TupleVariable) else [given]
    if isinstance(given, TupleVariable) and any(each.is_tensor() for each in fields):
        # Dynamo raises a TypeError, which a handler of the program's would take for its own.
        leave_to_python("Text of a tensor", "", "A text is made of a tensor's values.")
    form, kinds = as_format(values[0].as_python_constant())
    if len(kinds) != len(fields) or not _has_symbol(fields) or not all(map(_fits, kinds, fields)):
        return None
    return _text(form, [_whole(tx, *each) for each in zip(kinds, fields, strict=True)])


def _formatted(args: list[Any]) -> Any:
    """What `format` makes of constants; Dynamo takes it for `str.format`."""
    if not all(each.is_python_constant() for each in args):
        leave_to_python("Text of an object", "", "`format` is called with what is no constant.")
    try:
        return ConstantVariable.create(format(*(each.as_python_constant() for each in args)))
    except (TypeError, ValueError):
        leave_to_python("Text that cannot be made", "", "`format` raises.")


def _known(tx: Any, value: Any) -> Any:
    """An argument with its numbers as they are: guarded on, or predicted. The very argument if it has none."""
    value = value.realize()
    if isinstance(value, StringFormatVariable):
        numbers = [as_constant(tx, each).as_python_constant() for each in value.sym_args]
        named = {name: as_constant(tx, each).as_python_constant() for name, each in value.sym_kwargs.items()}
        return ConstantVariable.create(value.format_string.format(*numbers, **named))
    if isinstance(value, TupleVariable):
        items = [_known(tx, each) for each in value.items]
        return TupleVariable(items) if _differ(items, value.items) else value
    if isinstance(value, ConstDictVariable):
        entries = {key: _known(tx, each) for key, each in value.items.items()}
        return value.clone(items=entries) if _differ(entries.values(), value.items.values()) else value
    return as_constant(tx, value)


def _differ(known: Iterable[Any], given: Iterable[Any]) -> bool:
    return any(one is not other.realize() for one, other in zip(known, given, strict=True))


def _as_keys(original: Any) -> Any:
    def hash_impl(self: Any, tx: Any) -> Any:
        # Dynamo would take the text for another than any; only the numbers tell. They are needed, or guarded on.
        for value in (*self.sym_args, *self.sym_kwargs.values()):
            as_constant(tx, value)
        leave_to_python(
            "Text of a number as a key", "", "A text that is made of a number which may change is looked up."
        )

    return hash_impl


def _of_known(original: Any) -> Any:
    def create(form: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        tx = InstructionTranslator.current_tx()
        named = {name: as_constant(tx, value) for name, value in kwargs.items()}
        return original(form, [as_constant(tx, value) for value in args], named)

    return create


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
    """The text that is made after the graph; None if all is known already, or if it would raise."""
    if not _has_symbol(values):
        return None
    try:
        form.format(
            *(_TYPICAL[each.python_type()] if _is_symbol(each) else each.as_python_constant() for each in values)
        )
    except ValueError:
        return None
    return StringFormatVariable.create(form, values, {})


def _typical(value: Any) -> Any:
    """A constant, or a number of the type that one which may change has."""
    return _TYPICAL[value.python_type()] if _is_symbol(value) else value.as_python_constant()


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

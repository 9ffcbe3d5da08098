"""Raise guards and assertions on tensor values. In: a Writer. Out: lines.

Inputs change from call to call, so that a guard fires on some calls and not on others.
"""

from __future__ import annotations

from . import effects
from . import expressions as e
from . import statements as s
from .writer import Writer

_TYPES = [
    "ValueError",
    "RuntimeError",
    "KeyError",
    "IndexError",
    "TypeError",
    "ArithmeticError",
    "GivenError",
    "GivenError",
]


def error(w: Writer) -> str:
    """An exception to raise."""
    kind = w.choose(_TYPES)
    form = w.random.random()
    if form < 0.25:
        return f'{kind}("bad input")'
    if form < 0.5:
        w.use("raise.item")
        return f'{kind}(f"bad {{{effects.item(w)}:.3f}}")'
    if form < 0.6:
        w.use("raise.tensor")
        return f'{kind}("tensor", {e.full_name(w)}, {e.scalar(w)})'
    if form < 0.7:
        w.use("raise.class")
        return kind
    if form < 0.78:
        w.use("raise.many")
        return f"GivenError({effects.shown(w)}, code={e.integer(w)})"
    if form < 0.85:
        w.use("raise.made")
        return f"make_error({e.full_name(w)})"
    if form < 0.87:
        w.use("raise.base")
        return w.choose(["SystemExit(3)", "KeyboardInterrupt()"])
    return f"{kind}({effects.shown(w)})"


def raise_line(w: Writer) -> str:
    form = w.random.random()
    if form < 0.12:
        w.use("raise.from")
        return f"raise {_instance(error(w))} from {w.choose(['None', 'ValueError(1)', 'KeyError'])}"
    return f"raise {error(w)}"


def _instance(text: str) -> str:
    return text if "(" in text else f"{text}()"


def guard_test(w: Writer) -> str:
    """A condition; half of them are seldom true, so that what follows the guard runs as well."""
    if w.chance(0.5):
        return e.test(w)
    w.use("test.seldom")
    name = e.full_name(w)
    return w.choose(
        [
            f"torch.isnan({name}).any()",
            f"{name}.max() > 4.0",
            f"not torch.isfinite({name}).all()",
            f"({name} < -4.5).any()",
            f"{name}.abs().max().item() > 5.0",
            f"{name}.mean() > 1.8 and {name}.min() > 0",
            f"not ({name} > -4.0).all()",
            f"torch.equal({name}, torch.zeros_like({name}))",
            f"1.7 < {name}.mean() < 2.5",
        ]
    )


def guard(w: Writer) -> None:
    """`if <tensor test>: … raise`, in one of its shapes."""
    w.use("guard")
    form = w.random.random()
    if form < 0.12:
        w.use("guard.oneline")
        text = raise_line(w)
        w.line(f"if {guard_test(w)}: {text}")
        return
    sides: list[dict[str, str]] = []
    with w.block(f"if {guard_test(w)}:"):
        _raising_body(w)
    if form < 0.3:
        w.use("guard.elif")
        with w.block(f"elif {guard_test(w)}:"), w.branch(sides):
            if w.chance(0.5):
                _raising_body(w)
                sides.append(dict(w.frame.names))
            else:
                s.simple(w)
        del sides[1:]
    if form < 0.45:
        w.use("guard.else")
        with w.block("else:"), w.branch(sides):
            s.simple(w)
            if w.chance(0.4):
                effects.effect(w)


def _raising_body(w: Writer) -> None:
    before = dict(w.frame.names)
    if w.chance(0.35):
        w.use("guard.statements_before")
        for _ in range(w.random.randint(1, 2)):
            s.simple(w) if w.chance(0.5) else effects.effect(w)
    if w.chance(0.06):
        w.use("raise.from_caught")
        with w.block("try:"):
            w.line("int('x')")
        with w.block("except ValueError as cause:"):
            w.line(f"raise {_instance(error(w))} from cause")
    else:
        w.line(raise_line(w))
    w.frame.names = before


def assertion(w: Writer) -> None:
    w.use("assert")
    form = w.random.random()
    text = w.choose([e.test(w), f"not {e.full_name(w)}.isnan().any()", f"({e.full_name(w)} < 4.0).all()"])
    if form < 0.4:
        w.line(f"assert {text}")
    elif form < 0.7:
        w.use("assert.message")
        w.line(f'assert {text}, "must hold"')
    else:
        w.use("assert.message_value")
        w.line(f"assert {text}, {effects.shown(w)}")


def guarded_try(w: Writer) -> None:
    """A guard whose exception is caught here, or passes a finally."""
    sides: list[dict[str, str]] = []
    if w.chance(0.6):
        w.use("try.except")
        with w.block("try:"), w.branch(sides):
            guard(w)
        with w.block(
            f"except {w.choose(['Exception', 'ValueError', '(KeyError, ValueError)', 'GivenError'])} as caught:"
        ):
            if w.chance(0.5):
                effects.log_call(w, in_handler=True)
            else:
                w.line('print("caught", type(caught).__name__)')
            if w.chance(0.3):
                w.use("raise.again")
                w.line("raise")
    else:
        w.use("try.finally")
        with w.block("try:"), w.branch(sides):
            guard(w)
        with w.block("finally:"):
            if w.chance(0.6):
                effects.print_call(w)
            else:
                s.mutate(w)

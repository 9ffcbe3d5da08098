"""Statements that catch what others raise: guards, operations that cannot be, asserts, calls. In: a Writer. Out: lines.

An operation that cannot be stands on one side of a branch, so that it raises on some calls and not on others.
"""

from __future__ import annotations

from . import effects, guards
from . import expressions as e
from . import statements as s
from .writer import Choice, Writer

HEADER = """

def refuse(t, limit=0.5):
    if t.mean() > limit:
        raise GivenError("refused", t.shape[0])
    return t * 0.5


def stumble(t):
    STATE["calls"] += 1
    if (t < -2.0).any():
        return t @ torch.ones(9, 9)
    return t + 1.0


def insist(t):
    assert t.sum() < 6.0, "too much"
    print("insisted", t.shape[0])
    return t - 0.5
"""

# What raises, by what it is about; `{name}` is a (rows, columns) tensor.
_FAULTS = {
    "shapes": "{name} @ torch.ones(9, 9)",
    "cat": "torch.cat([{name}, torch.ones(1, 9)])",
    "view": "{name}.view(7, -1)",
    "reshape": "{name}.reshape(11)",
    "index": "{name}[99]",
    "element": "{name} * [1.0, 2.0][{name}.dim()]",
    "zero": "{name} * (1 // ({name}.dim() - 2))",
    "key": '{name} * STATE["none"]',
    "text": '{name} * float("x")',
    "item": "{name} * {name}.item()",
    "attribute": "{name}.missing * 2.0",
    "cholesky": "torch.linalg.cholesky({name}.detach().float()[:2, :2] * 0.0 - 1.0)",
}

_KINDS = [
    "Exception",
    "Exception",
    "RuntimeError",
    "(RuntimeError, GivenError)",
    "(ArithmeticError, LookupError)",
    "ValueError",
    "GivenError",
    "AssertionError",
]


def faulty_branch(w: Writer) -> None:
    """A branch on a tensor, one side of which raises."""
    fault = w.choose(sorted(_FAULTS))
    w.use(f"fault.{fault}")
    name = e.full_name(w)
    sides = [f"{name} = {_FAULTS[fault].format(name=name)}", f"{name} = {e.full(w, 1)} * 1.0"]
    if w.chance(0.4):
        sides.reverse()
    with w.block(f"if {e.test(w)}:"):
        if w.chance(0.3):
            effects.effect(w)
        w.line(sides[0])
    if w.chance(0.75):
        with w.block("else:"):
            w.line(sides[1])
            if w.chance(0.3):
                s.count(w)


def fallible_call(w: Writer) -> None:
    """A function of the program's raises, or gives a tensor."""
    w.use("try.call")
    name = e.full_name(w)
    w.line(f"{name} = {w.choose(['refuse', 'stumble', 'insist'])}({e.full_name(w)})")


def _attempt(w: Writer) -> None:
    if w.chance(0.3):
        w.pick([(2, effects.effect), (1, s.simple)])
    w.pick([(2, guards.guard), (4, faulty_branch), (1, guards.assertion), (2, fallible_call)])
    if w.chance(0.4):
        w.pick([(2, effects.effect), (1, s.simple)])


def _handler(w: Writer) -> None:
    """What is done about an exception."""
    name = e.full_name(w)
    choices: list[Choice] = [
        (2, lambda w: f'print("caught", type(caught).__name__, {effects.item(w)})'),
        (1, lambda w: 'print("caught", len(caught.args))'),
        (1, lambda w: 'logger.warning("caught %s", caught.__cause__)'),
        (2, lambda w: f"{name} = {e.full(w, 1)} * 1.0"),
        (1, lambda w: "pass"),
        (1, lambda w: 'STATE["seen"].append(type(caught).__name__)'),
        (0.5, lambda w: 'raise ValueError("told on") from caught'),
        (0.3, lambda w: "raise GivenError(1) from None"),
        (0.3, lambda w: "raise"),
    ]
    if w.frame.can_return:
        choices += [(0.7, lambda w: f"return {s.result(w)}")]
    if w.chance(0.3):
        effects.log_call(w, in_handler=True)
    w.line(w.pick_text(choices))


def _alternative(w: Writer, header: str) -> None:
    """What comes behind a `try`; names that it binds may not be there."""
    bound: list[dict[str, str]] = []
    with w.block(header), w.branch(bound):
        w.pick([(3, effects.effect), (2, s.simple), (1, s.count)])


def trying(w: Writer) -> None:
    """Something that may raise, in what catches it or sees it pass."""
    form = w.random.choices(["except", "suppress", "finally", "nested"], [6, 2, 1.5, 1])[0]
    w.use(f"try.{form}_fault")
    bound: list[dict[str, str]] = []
    if form == "suppress":
        with w.block(f"with contextlib.suppress({w.choose(_KINDS).strip('()')}):"), w.branch(bound):
            _attempt(w)
        return
    with w.block("try:"), w.branch(bound):
        if form == "nested":
            trying(w)
        _attempt(w)
    if form != "finally":
        for kind in w.random.sample(_KINDS, 2 if w.chance(0.25) else 1):
            with w.block(f"except {kind} as caught:"), w.branch(bound):
                _handler(w)
        if w.chance(0.3):
            w.use("try.else")
            _alternative(w, "else:")
    if form == "finally" or w.chance(0.2):
        w.use("try.at_last")
        _alternative(w, "finally:")

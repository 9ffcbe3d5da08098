"""Loops, matches, functions and counters that change where a program goes on. In: a Writer. Out: lines."""

from __future__ import annotations

from . import effects, guards, trying
from . import expressions as e
from . import statements as s
from .writer import Choice, Frame, Writer

HEADER = """
TICKS = 0


def tell(t):
    print("told", t.sum().item())
    return t * 2.0
"""


def _rest(w: Writer) -> None:
    w.pick([(3, effects.effect), (2, s.simple), (1, guards.guard), (1, s.branch)])


def loop_else(w: Writer) -> None:
    """A loop that a tensor may end, and what comes when it does not."""
    w.use("loop.else")
    i, name = w.fresh("i"), e.full_name(w)
    bound: list[dict[str, str]] = []
    with w.block(f"for {i} in range(3):"), w.branch(bound):
        w.bind(i, "int")
        _rest(w)
        with w.block(f"if {e.test(w)}:"):
            if w.chance(0.4):
                effects.effect(w)
            w.line(w.choose(["break", "break", "continue"]))
        w.line(f"{name} = {name} * 0.5 + {i}")
    with w.block("else:"), w.branch(bound):
        _rest(w)


def loop_while(w: Writer) -> None:
    """A loop that goes on as long as a tensor is large."""
    w.use("loop.while_tensor")
    i, name = w.fresh("i"), e.full_name(w)
    bound: list[dict[str, str]] = []
    test = w.choose([f"{name}.abs().sum() > 6.0", f"({name} > 1.0).any()", f"({name}.max() > 0.5)"])
    w.line(f"{i} = 0")
    with w.block(w.choose([f"while {i} < 3 and {test}:", "while True:"])), w.branch(bound):
        w.line(f"{i} += 1")
        w.bind(i, "int")
        with w.block(f"if {i} > 2 or not {test}:"):
            w.line("break")
        _rest(w)
        if w.chance(0.3):
            with w.block(f"if {e.test(w)}:"):
                w.line("continue")
        w.line(f"{name} = {name} * 0.5")
    if w.chance(0.3):
        with w.block("else:"), w.branch(bound):
            effects.effect(w)


def match(w: Writer) -> None:
    """A match on what Python knows, or on what only a tensor knows."""
    w.use("match")
    bound: list[dict[str, str]] = []
    subject, patterns = w.random.choice(
        [
            (f"{e.full_name(w)}.shape[0]", ["2 | 3", "n if n > 4"]),
            (f"bool({e.test(w)})", ["True"]),
            (f"int({e.mask(w)}.sum())", ["0", "n if n < 6", "7 | 8"]),
            (f"({e.integer(w)}, {e.condition(w)})", ["(3, _)", "(_, True)"]),
            (f"{e.mask(w)}.any().item()", ["False"]),
        ]
    )
    with w.block(f"match {subject}:"):
        for pattern in patterns:
            guard = f" if {e.test(w)}" if " if " not in pattern and w.chance(0.2) else ""
            with w.block(f"case {pattern}{guard}:"), w.branch(bound):
                s.side(w)
        if w.chance(0.7):
            with w.block("case _:"), w.branch(bound):
                s.side(w)


def comprehension(w: Writer) -> None:
    """One that branches, talks or raises for each of its elements."""
    w.use("comprehension")
    name, limit = e.full_name(w), e.threshold(w)
    choices = [
        f"torch.stack([tell(r) for r in {name}])",
        f"torch.stack([r * 2.0 if r.sum() > {limit} else r - 1.0 for r in {name}])",
        f"torch.stack([refuse(r, 3.0) for r in {name}])",
        f"{name} * len([r for r in {name} if r.max() > {limit}])",
        f"{name} + sum(1 for r in {name} if (r > {limit}).all())",
        f"torch.stack([m for r in {name} if (m := r + 1.0).dim() == 1])",
        f'{name} * {{i: r.sum() for i, r in enumerate({name}) if print("row", i) is None}}[0]',
        f"{name} * float(any(r.sum() > {limit} for r in {name}))",
        f"{name} + max([r.sum() for r in {name}], key=lambda v: v.item())",
    ]
    w.line(f"{name} = {w.choose(choices)}")


def closure(w: Writer) -> None:
    """A function made here: a lambda, or one that counts in what is around it."""
    call, name, limit = w.fresh("f"), e.full_name(w), e.threshold(w)
    if w.chance(0.5):
        w.use("lambda")
        bodies = [
            f"t * 2.0 if t.sum() > {limit} else t - 1.0",
            'print("lambda", t.mean().item()) or t * 2.0',
            "refuse(t, 2.0)",
            'logger.info("lambda %s", t.sum()) or tell(t)',
            f"(t.sum() > {limit} and t) + 1.0",
            f"t + {name}.mean()",
        ]
        w.line(f"{call} = lambda t: {w.choose(bodies)}")
        w.line(f"{name} = {call}({e.full_name(w)})")
        return
    w.use("counting")
    counter = w.fresh("n")
    w.line(f"{counter} = 0")
    frame = Frame(names={"t": "full"}, nonlocals=[counter], can_return=False, frozen={"t"})
    with w.function(frame, f"def {call}(t):"):
        w.line(f"nonlocal {counter}")
        with w.block(f"if {e.test(w)}:"):
            w.line(f"{counter} += 1")
            if w.chance(0.4):
                effects.effect(w)
        if w.chance(0.4):
            w.pick([(1, guards.guard), (1, trying.fallible_call), (1, effects.effect)])
        w.line(f"return t * {counter} + 1.0")
    w.line(f"{name} = {call}({call}({e.full_name(w)}))")
    w.line(w.choose([f'print("counted", {counter})', f'STATE["calls"] += {counter}', f"{name} = {name} * {counter}"]))


def ticks(w: Writer) -> None:
    """A global number that a branch on a tensor changes."""
    w.use("global")
    if not w.frame.counts_ticks:
        w.line("global TICKS")
        w.frame.counts_ticks = True
    with w.block(f"if {e.test(w)}:"):
        w.line(w.choose(["TICKS += 1", "TICKS = TICKS * 2 + 1", 'TICKS = STATE["calls"]']))
        if w.chance(0.3):
            effects.effect(w)
    name = e.full_name(w)
    w.line(w.choose(['print("ticks", TICKS)', 'STATE["seen"].append(TICKS)', f"{name} = {name} + TICKS"]))


def walrus(w: Writer) -> None:
    """What a test binds goes on."""
    w.use("walrus")
    name, other = w.fresh("v"), e.full_name(w)
    with w.block(f"if ({name} := {e.full(w, 1)} * 1.0).sum() > {e.threshold(w)} or {e.condition(w)}:"):
        w.line(f"{other} = {other} + {name}")
    w.bind(name, "full")
    _rest(w)


def flow(w: Writer) -> None:
    """Any one of them."""
    choices: list[Choice] = [(2, match), (3, comprehension), (3, closure), (2, ticks), (1, walrus)]
    if not w.frame.loops:
        choices += [(2, loop_else), (1.5, loop_while)]
    w.pick(choices)

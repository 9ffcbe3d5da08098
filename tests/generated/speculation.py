"""Statements in which Python needs a tensor's value: what speculation predicts. In: a Writer. Out: lines.

Only programs with `Writer.speculates` have them; inputs repeat, alternate or change from call to call (forms.py).
"""

from __future__ import annotations

from . import effects, wanted
from . import expressions as e
from . import statements as s
from .wanted_uses import (
    arithmetic,
    different,
    elements,
    lookup,
    operands,
    positions,
    sizes,
    slices,
    take,
    wanted_counts,
)
from .writer import Choice, Frame, Writer


def remember(w: Writer) -> None:
    """Numbers that outlive the call."""
    w.use("wanted.state")
    choices: list[Choice] = [
        (1, lambda w: f'STATE["seen"].append({wanted.number(w)})'),
        (1, lambda w: f"STATE[{wanted.small(w, 4)}] = {wanted.number(w)}"),
        (1, lambda w: f'STATE["calls"] += {wanted.integer(w)}'),
    ]
    if w.frame.has_self:
        choices += [
            (1, lambda w: f"self.count += {wanted.integer(w)}"),
            (1, lambda w: f"self.items.append({wanted.number(w)})"),
            (1, lambda w: f"self.table[{wanted.number(w)}] = {e.integer(w)}"),
            (1, lambda w: f"self.last = {wanted.number(w)}"),
        ]
    if w.frame.is_module:
        choices += [
            (1, lambda w: f"self.buf.mul_({wanted.small(w, 3)})"),
            (1, lambda w: f"self.buf[:{wanted.small(w, 4)}] += 1.0"),
            (1, lambda w: f"self.steps += {wanted.integer(w)}"),
        ]
    w.line(w.pick_text(choices))


def side_effect(w: Writer) -> None:
    """One line that a branch cannot be selected with."""
    choices: list[Choice] = [(3, s.count), (2, s.mutate), (2, effects.print_call), (1, effects.log_call), (2, remember)]
    w.pick(choices)


def branch(w: Writer) -> None:
    """Sides that do more than compute."""
    w.use("wanted.branch")
    sides: list[dict[str, str]] = []
    name = w.fresh("r")
    shapes = w.chance(0.4)

    def side() -> None:
        other = e.full_name(w)
        if shapes:
            w.use("wanted.branch_shapes")
            text = [f"{other}[:2]", f"{other}.repeat(2, 1)", f"{other}.sum(0)", f"torch.zeros({wanted.small(w, 4)})"]
            w.line(f"{name} = {w.choose(text)}")
            w.bind(name, "ragged")
        if not shapes or w.chance(0.4):
            side_effect(w)
        if w.chance(0.3):
            s.simple(w)
        if w.frame.can_return and w.chance(0.12):
            w.use("wanted.early_return")
            w.line(f"return {s.result(w)}")

    with w.block(f"if {wanted.test(w)}:"), w.branch(sides):
        side()
    while w.chance(0.3):
        w.use("wanted.elif")
        with w.block(f"elif {wanted.test(w)}:"), w.branch(sides):
            side()
    if shapes or w.chance(0.5):
        with w.block("else:"), w.branch(sides):
            side()
    else:
        sides.append(dict(w.frame.names))
    w.join(sides)


def loop(w: Writer) -> None:
    """A loop whose length, or whose end, hangs on tensors."""
    i, sides = w.fresh("i"), [dict(w.frame.names)]
    headers: dict[str, Choice] = {
        "range": (1, lambda w: f"for {i} in range({wanted.small(w, 3)}):"),
        "range_tensor": (1, lambda w: f"for {i} in range({wanted.count(w)}.clamp(max=3)):"),
        "rows": (1, lambda w: f"for {i} in {e.full_name(w)}:"),
        "elements": (1, lambda w: f"for {i} in {wanted_counts(w)}:"),
        "while": (1, lambda w: f"while {wanted.count(w)} > {i} and {i} < 4:"),
        "while_value": (1, lambda w: f"while {changed}.detach().abs().sum() > 2.0 and {i} < 4:"),
        "exit": (1, lambda w: f"for {i} in range(4):"),
        "sites": (1, lambda w: f"for {i} in range(3):"),
    }
    form = w.choose([*headers, "sites", "sites", "rows", "elements"])
    w.use(f"wanted.loop_{form}")
    w.frame.loops += 1
    changed = e.full_name(w)
    is_while = form.startswith("while")
    if is_while:
        w.line(f"{i} = 0")
    header = w.pick_text([headers[form]])
    total = w.fresh("t")
    w.line(f"{total} = 0")
    with w.block(header), w.branch(sides):
        if is_while:
            w.line(f"{i} += 1")
            w.line(f"{changed} = {changed} * 0.5")
            w.frame.frozen.discard(changed)
        if form == "rows":
            w.line(f"{total} += " + w.choose([f"{i}.max().item()", f"{i}[: int(({i} > 0).sum())].sum()"]))
        elif form == "elements":
            w.line(w.choose([f"{total} += {i}.item()", f"{total} += int({i}) * 2", f"if {i} > 1:\n    {total} += 1"]))
            if w.chance(0.3):
                w.line(f"print({i}.item())")
        elif form == "sites":
            w.use("wanted.occurrences")
            form_of = w.random.random()
            if form_of < 0.4:
                # The first time round it is always the same.
                w.line(f"{total} += int({wanted_counts(w)}[:{i}].sum())")
            elif form_of < 0.7:
                w.line(f"{total} += int(({e.full_name(w)}[{i} % 2] > {e.threshold(w)}).sum())")
            else:
                w.line(f"{total} += {wanted_counts(w)}[{i} % 3].item()")
        else:
            w.bind(i, "int")
            w.line(f"{total} += {wanted.integer(w)}")
        if w.chance(0.6):
            w.pick([(2, effects.effect), (2, side_effect), (2, s.simple), (1, branch)])
        if form == "exit" or w.chance(0.15):
            w.use("wanted.loop_exit")
            with w.block(f"if {wanted.test(w)}:"):
                if w.chance(0.3):
                    side_effect(w)
                w.line(w.choose(["break", "continue"]))
    w.join(sides)
    w.frame.loops -= 1
    # Adding a tensor makes it one.
    if form != "rows":
        w.bind(total, "int")


def guard(w: Writer) -> None:
    """A number that was taken decides whether something is raised."""
    w.use("wanted.raise")
    number = wanted.number(w)
    form = w.random.random()
    limit = w.choose(["3", "4", "6"])
    if form < 0.5:
        name = w.fresh("f")
        w.line(f"{name} = {number}")
        with w.block(f"if {name} > {limit}:"):
            if w.chance(0.3):
                side_effect(w)
            w.line(w.choose([f'raise ValueError(f"too many {{{name}}}")', f"raise GivenError({name}, code={name})"]))
        w.bind(name, "real")
    elif form < 0.7:
        w.use("wanted.raise_lookup")
        name = w.fresh("n")
        w.line(f"{name} = [1, 2, 3, 4, 5][{wanted.integer(w)}]")
        w.bind(name, "int")
    elif form < 0.85:
        w.use("wanted.raise_assert")
        w.line(f"assert {number} < {limit}, {effects.shown(w)}")
    else:
        w.use("wanted.raise_caught")
        sides: list[dict[str, str]] = []
        with w.block("try:"), w.branch(sides):
            side_effect(w)
            w.line(f"1 // max({wanted.integer(w)} - 1, 0)")
        with w.block("except ZeroDivisionError as error:"):
            w.line(f'print("caught", error, {e.integer(w)})')


def around_random(w: Writer) -> None:
    """Random numbers before and behind a value that is taken, and sometimes in it."""
    w.use("wanted.random")
    first, name, second = w.fresh("v"), w.fresh("n"), w.fresh("v")
    w.line(f"{first} = {e.random_full(w)}")
    if w.chance(0.3):
        w.line(f"{first} = {first} * random.random()")
    number = wanted.integer(w)
    if w.chance(0.2):
        w.use("wanted.of_random")
        number = f"int(({first} > 0.3).sum())"
    w.line(f"{name} = {number}")
    w.bind(name, "int")
    w.line(f"{second} = {e.random_full(w)} * {name}")
    w.bind(first, "full")
    w.bind(second, "full")


def after_change(w: Writer) -> None:
    """A value of something that was changed in place before."""
    w.use("wanted.after_change")
    s.mutate(w)
    name = w.fresh("f")
    text = wanted.real(w)
    if w.frame.is_module and w.chance(0.4):
        text = w.choose(["self.steps.item()", "float(self.buf.sum())", "int(self.steps)"])
    w.line(f"{name} = {text}")
    w.bind(name, "real")
    if w.chance(0.5):
        s.mutate(w)


def show(w: Writer) -> None:
    """A number that was taken is shown."""
    w.use("wanted.shown")
    number = wanted.number(w)
    inside = number.replace('"', "'")
    choices: list[Choice] = [
        (1, lambda w: f'print("number", {number})'),
        (1, lambda w: f'logger.warning("number %s", {number})'),
        (1, lambda w: f'print(f"number {{{inside}}}")'),
        (1, lambda w: f"print([{number}] * 2, {wanted.small(w, 3)})"),
        (1, lambda w: f'warnings.warn(f"gw {{{inside}}}")'),
        (1, lambda w: f'sys.stdout.write("n" * {wanted.small(w, 3)} + "\\n")'),
    ]
    w.line(w.pick_text(choices))


def reduce_ragged(w: Writer) -> None:
    """What has a size that was predicted goes on."""
    ragged = w.names("ragged")
    if not ragged:
        take(w)
        return
    w.use("wanted.ragged")
    name, other = w.fresh("s"), w.choose(ragged)
    form = w.random.random()
    if form < 0.5:
        w.line(f"{name} = {other}.sum() * 1.0")
        w.bind(name, "scalar")
    elif form < 0.7:
        w.line(f"{name} = {other}.shape[0] if {other}.dim() else 1")
        w.bind(name, "int")
    elif form < 0.85:
        w.line(w.choose([f"print({other}.shape)", f"print({other})", f'STATE["seen"].append(tuple({other}.shape))']))
    else:
        w.line(f"{name} = {e.full_name(w)} * {other}.numel()")
        w.bind(name, "full")


def simple(w: Writer) -> None:
    """One that neither branches nor talks."""
    choices: list[Choice] = [(4, take), (3, arithmetic), (1.5, slices), (1.5, sizes), (1, lookup), (2, remember)]
    choices += [(1, reduce_ragged), (1.5, elements), (1, different), (1, operands)]
    w.pick(choices)


def statement(w: Writer) -> None:
    choices: list[Choice] = [
        (7, simple),
        (3, positions),
        (3, branch),
        (1, guard),
        (1, around_random),
        (1, after_change),
        (1, show),
        (1, reduce_ragged),
    ]
    if not w.frame.loops:
        choices += [(4, loop)]
    w.pick(choices)


def result(w: Writer) -> str:
    """What a function returns besides what it always may."""
    names = [*w.names("ragged"), *w.names("real"), *w.names("numbers"), *w.names("int")]
    if not names:
        return f"{e.full(w, 1)}, {wanted.integer(w)}"
    w.use("wanted.returned")
    return f"{e.full(w, 1)}, {', '.join(w.random.sample(names, min(len(names), 5)))}"


def helpers(w: Writer) -> tuple[list[str], list[str]]:
    """Functions that take a full tensor: those that give one, and those that give a small number."""
    given: list[str] = []
    takers: list[str] = []
    if w.chance(0.5):
        name = w.fresh("taken")
        w.line()
        with w.function(Frame(names={"t": "full"}, frozen={"t"}), f"def {name}(t):"):
            if w.chance(0.3):
                side_effect(w)
            if w.chance(0.3):
                w.use("wanted.helper_branch")
                with w.block(f"if {e.test(w)}:"):
                    w.line(f"return {wanted.integer(w)}")
            w.line(f"return {wanted.integer(w)}")
        takers.append(name)
    if w.chance(0.35):
        w.use("wanted.recursion")
        name = w.fresh("again")
        w.line()
        with w.function(Frame(names={"t": "full", "depth": "int"}, frozen={"t"}), f"def {name}(t, depth=0):"):
            ends = ["t.detach().abs().sum() < 4.0", "t.detach().abs().max().item() < 1.0", "int((t > 0.5).sum()) < 2"]
            with w.block(f"if depth > 2 or {w.choose(ends)}:"):
                w.line("return t * 1.0")
            if w.chance(0.4):
                side_effect(w)
            w.line(f"return {name}(t * 0.5, depth + {w.choose(['1', '1', wanted.small(w, 1) + ' + 1'])})")
        given.append(name)
    return given, takers

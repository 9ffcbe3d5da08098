"""Statements of generated programs: values, mutation, branches, loops. In: a Writer. Out: lines.

`body` writes a function's body within a budget of statements.
"""

from __future__ import annotations

from . import asides, effects, guards, speculation
from . import expressions as e
from .writer import Choice, Writer


def assign(w: Writer) -> None:
    form = w.random.random()
    if form < 0.65:
        value = e.full(w)
        if w.chance(0.4):
            name = e.full_name(w)
            w.frame.frozen.discard(name)
        else:
            name = w.fresh("v")
        # A plain name would make an alias; that is a feature of its own.
        if value in w.frame.names:
            w.use("alias.name")
            if value in w.frame.frozen:
                value = f"{value} * 1.0"
        w.line(f"{name} = {value}")
        w.bind(name, "full")
    elif form < 0.85:
        name = w.fresh("s")
        w.line(f"{name} = {e.scalar(w)}")
        w.bind(name, "scalar")
    else:
        name = w.fresh("m")
        w.line(f"{name} = {e.mask(w)}")
        w.bind(name, "mask")


def count(w: Writer) -> None:
    """Counters and containers that change every call."""
    choices = [
        'STATE["calls"] += 1',
        'STATE["seen"].append(' + e.integer(w) + ")",
        'STATE["calls"] = STATE["calls"] + 2',
    ]
    if w.frame.has_self:
        choices += ["self.count += 1"] * 3
        choices += [
            f"self.items.append({e.integer(w)})",
            f'self.table["k"] = {e.integer(w)}',
            "self.step_size = self.step_size + 1",
        ]
        choices += [
            f"self.last = ({e.full(w, 1)}).detach()",
            f"self.last = {e.scalar(w)}.detach()",
            "self.flag = not self.flag",
        ]
        choices += [
            'self.table.setdefault("n", []).append(self.count)',
            'self.table.pop("k", None)',
            "self.items[:] = self.items[-2:]",
        ]
    if w.frame.in_class:
        choices += ["self.__secret += 1"]
    if w.frame.nonlocals:
        choices += [f"{name} += 1" for name in w.frame.nonlocals] * 2
    text = w.choose(choices)
    w.use("state." + ("self" if "self." in text else "global" if "STATE" in text else "nonlocal"))
    if w.names("int") and w.chance(0.1):
        w.line(f"{w.choose(w.names('int'))} += 1")
    w.line(text)


def mutate(w: Writer) -> None:
    """A tensor is changed in place: an input, a temporary, a buffer."""
    names = [name for name in w.names("full") if name not in w.frame.frozen]
    choices: list[str] = []
    for name in names[:3]:
        choices += [f"{name}.add_({e.number(w)})", f"{name}.mul_({e.number(w)})", f"{name}[0] = {e.number(w)}"]
        choices += [
            f"{name} += {e.full_name(w)}",
            f"{name}[:, 0] += 1.0",
            f"{name}.clamp_(-3.0, 3.0)",
            f"torch.relu_({name})",
        ]
        choices += [f"{name}.copy_({e.full(w, 1)})", f"{name}.masked_fill_({e.mask(w)}, 0.5)"]
    if w.frame.is_module:
        choices += [f"self.buf.add_({e.full_name(w)}.detach().mean(0))", "self.buf.mul_(0.5)", "self.steps += 1"] * 2
        choices += [f"self.buf = torch.tanh({e.full_name(w)}.detach().sum(0))", "self.buf = self.buf + 1.0"]
        choices += [f"self.buf[0] = {e.scalar(w)}.detach()"]
    if not choices:
        count(w)
        return
    text = w.choose(choices)
    w.use("mutate.buffer" if text.startswith("self.") else "mutate.inplace")
    w.line(text)


def shown_then_changed(w: Writer) -> None:
    """A tensor, or a view of it, is shown and then changed in place: the text has the value of the moment."""
    names = [name for name in w.names("full") if name not in w.frame.frozen]
    if w.frame.is_module:
        names.append("self.buf")
    if not names:
        effects.effect(w)
        return
    w.use("shown.changed")
    name = w.choose(names)
    seen = w.choose([name, name, f"{name}[0]", f"{name}.detach()"])
    w.line(
        w.choose([f'print("now", {seen})', f'logger.error("now %s", {seen})', f"print({seen}, {name}.sum().item())"])
    )
    w.line(w.choose([f"{name}.add_(1.0)", f"{name}.mul_({e.number(w)})", f"{name}[0] = {e.number(w)}"]))


def collect(w: Writer) -> None:
    """A local list that is shown and then changed."""
    if w.names("items"):
        name = w.choose(w.names("items"))
        w.line(f"{name}.append({e.integer(w)})")
    else:
        name = w.fresh("items")
        w.line(f"{name} = [{e.integer(w)}, {e.integer(w)}]")
        w.bind(name, "items")
    w.use("local.list")
    if w.chance(0.5):
        w.line(f"print({name})")
        w.line(f"{name}.append(0)")


def simple(w: Writer) -> None:
    """A statement that neither branches nor talks."""
    if w.speculates and w.chance(0.35):
        speculation.simple(w)
        return
    choices: list[Choice] = [(5, assign), (2.5, count), (2.5, mutate), (0.5, collect)]
    w.pick(choices)


def branch(w: Writer) -> None:
    """if on a tensor's value; every shape of it."""
    w.use("branch")
    if w.chance(0.35):
        _join_branch(w)
        return
    sides: list[dict[str, str]] = []
    with w.block(f"if {e.test(w)}:"), w.branch(sides):
        side(w)
    while w.chance(0.2):
        w.use("branch.elif")
        with w.block(f"elif {e.test(w)}:"), w.branch(sides):
            side(w)
    if w.chance(0.5):
        with w.block("else:"), w.branch(sides):
            side(w)
    else:
        w.use("branch.no_else")
        sides.append(dict(w.frame.names))
    w.join(sides)


def _join_branch(w: Writer) -> None:
    """Both sides only give values to the same targets: what select is for."""
    w.use("branch.join")
    targets = [w.choose([e.full_name(w), w.fresh("v")])]
    if w.frame.has_self and w.chance(0.25):
        w.use("branch.attribute")
        targets.append("self.last")
    pure = w.chance(0.6)
    if pure:
        w.use("branch.pure")
        if w.chance(0.4):
            _steep(w)
    test = f"{e.full_name(w)}.{w.choose(['sum()', 'mean()', 'max()'])} > {e.threshold(w)}" if pure else e.test(w)

    def side() -> None:
        for target in targets:
            value = e.pure_full(w) if pure else e.full(w)
            alias = e.full_name(w)
            if pure and alias not in w.frame.frozen and alias != target and w.chance(0.25):
                w.use("branch.alias")
                value = alias
            elif value in w.frame.names:
                value = f"{value} * 1.0"
            w.line(f"{target} = {value}")

    with w.block(f"if {test}:"):
        side()
    rebound = not (targets[0] in w.frame.names and w.chance(0.3))
    if not rebound:
        w.use("branch.no_else")
    elif w.chance(0.15):
        w.use("branch.nested")
        with w.block("else:"):
            with w.block(f"if {e.test(w)}:"):
                side()
            with w.block("else:"):
                side()
    else:
        with w.block("else:"):
            side()
    if rebound:
        w.frame.frozen.discard(targets[0])
    w.bind(targets[0], "full")
    if pure and targets[0] not in w.frame.frozen and w.chance(0.3):
        w.line(w.choose([f"{targets[0]}.add_(1.0)", f"{targets[0]}[0] = 2.0"]))


def _steep(w: Writer) -> None:
    """A value whose derivative is infinite, or not a number, somewhere: not all sides may use it."""
    w.use("branch.steep")
    name, fresh = e.full_name(w), w.fresh("v")
    values = [f"torch.sqrt(torch.relu({name}))", f"torch.log({name}.abs().floor())", f"{name} / {name}.floor()"]
    if w.frame.is_module:
        values += [f"{name} * self.weight"] * 2
    w.line(f"{fresh} = {w.choose(values)}")
    w.bind(fresh, "full")


def side(w: Writer) -> None:
    """One side of a branch."""
    for _ in range(w.random.randint(1, 2)):
        w.pick([(5, simple), (2.5, effects.effect), (0.5, branch), (0.5, guards.guard)])
    if w.frame.can_return and w.chance(0.12):
        w.use("branch.early_return")
        w.line(f"return {result(w)}")


def python_branch(w: Writer) -> None:
    w.use("branch.python")
    sides: list[dict[str, str]] = []
    with w.block(f"if {e.condition(w)}:"), w.branch(sides):
        side(w)
    sides.append(dict(w.frame.names))
    if w.chance(0.4):
        with w.block("else:"), w.branch(sides):
            side(w)
        sides.pop(1)
    w.join(sides)


def loop(w: Writer) -> None:
    w.use("loop")
    name = w.fresh("i")
    headers = [f"for {name} in range({w.choose(['2', '3'])}):"] * 3 + [f"for {name} in [1, 2]:"]
    w.frame.loops += 1
    sides: list[dict[str, str]] = [dict(w.frame.names)]
    if w.chance(0.12):
        w.use("loop.while")
        w.line(f"{name} = 0")
        header = f"while {name} < 2:"
    else:
        header = w.choose(headers)
    with w.block(header), w.branch(sides):
        w.bind(name, "int")
        if header.startswith("while"):
            w.line(f"{name} += 1")
        for _ in range(w.random.randint(1, 2)):
            w.pick([(4, effects.effect), (3, simple), (0.7, guards.guard), (0.7, branch)])
        if w.chance(0.12):
            w.use("loop.exit")
            with w.block(f"if {e.test(w)}:"):
                w.line(w.choose(["break", "continue"]))
    w.join(sides)
    w.frame.loops -= 1


def inner_context(w: Writer) -> None:
    w.use("context.inside")
    sides: list[dict[str, str]] = []
    header = w.choose(
        [
            "with torch.no_grad():",
            "with torch.no_grad():",
            "with torch.enable_grad():",
            "with torch.set_grad_enabled(False):",
        ]
    )
    with w.block(header), w.branch(sides):
        assign(w)
        if w.chance(0.6):
            effects.effect(w)
        if w.chance(0.3):
            guards.guard(w)
    w.join(sides)


def other_random(w: Writer) -> None:
    w.use("rng.python")
    name = e.full_name(w)
    fresh = w.fresh("v")
    w.line(f"{fresh} = {name} * {w.choose(['random.random()', 'random.uniform(0.0, 1.0)', 'random.randint(1, 3)'])}")
    w.bind(fresh, "full")


def numpy_random(w: Writer) -> None:
    w.use("rng.numpy")
    fresh = w.fresh("v")
    w.line(f"{fresh} = {e.full_name(w)} + float(np.random.rand())")
    w.bind(fresh, "full")


def statement(w: Writer) -> None:
    choices: list[Choice] = [
        (6, simple),
        (6, effects.effect),
        (2.5, branch),
        (3, guards.guard),
        (0.7, guards.assertion),
        (0.5, guards.guarded_try),
        (0.8, python_branch),
        (1.2, shown_then_changed),
        (0.4, inner_context),
        (0.6, other_random),
        (0.06, numpy_random),
    ]
    if not w.frame.loops:
        choices += [(0.8, loop)]
    if w.speculates:
        choices += [(22, speculation.statement)]
    w.pick(choices)
    if w.chance(0.06):
        w.line(w.choose(["# a comment", "", "pass", "None"]))


def result(w: Writer) -> str:
    """What a function that is called from outside returns."""
    w.use("return")
    if w.speculates and not w.names("counts"):
        # A helper, whose result goes on as one tensor.
        return e.full(w, 1)
    if w.speculates and w.chance(0.75):
        return speculation.result(w)
    form = w.random.random()
    if form < 0.55:
        return e.full(w, 1)
    if form < 0.7:
        return f"{e.full(w, 1)}, {e.scalar(w)}"
    if form < 0.78:
        return f'{{"out": {e.full(w, 1)}, "n": {e.integer(w)}}}'
    if form < 0.84:
        return f"({e.full_name(w)}, {e.full_name(w)})"
    if form < 0.9:
        w.use("return.view")
        return w.choose([f"{e.full_name(w)}.t()", f"{e.full_name(w)}[:, :2]", f"{e.full_name(w)}[0]"])
    if form < 0.93:
        return "None"
    return e.scalar(w)


def body(w: Writer, statements: int) -> None:
    for _ in range(statements):
        asides.aside(w)
        statement(w)

"""Expressions of generated programs, by kind. In: a Writer with names in scope. Out: text.

full is a (rows, columns) float tensor, row a (columns,) one, scalar a 0-d one, mask a bool (rows, columns).
"""

from __future__ import annotations

from .writer import Choice, Writer


def number(w: Writer) -> str:
    return w.choose(["0.5", "2.0", "1.5", "0.25", "-1.0", "3", "0.1"])


def threshold(w: Writer) -> str:
    return w.choose(["0", "0.0", "0.5", "-0.5", "1.0", "-2.0", "4.0"])


def full_name(w: Writer) -> str:
    return w.choose(w.names("full"))


def full(w: Writer, depth: int = 2) -> str:
    """A (rows, columns) float tensor, always a new one unless it is just a name."""
    if depth <= 0 or w.chance(0.15):
        return full_name(w)
    choices: list[Choice] = [
        (4, lambda w: f"{full(w, depth - 1)} {w.choose(['+', '-', '*'])} {full(w, depth - 1)}"),
        (3, lambda w: f"{full(w, depth - 1)} {w.choose(['+', '-', '*', '/'])} {number(w)}"),
        (2, lambda w: f"{full_name(w)} {w.choose(['+', '*'])} {row(w)}"),
        (2, lambda w: f"{full_name(w)} {w.choose(['+', '*', '-'])} {scalar(w)}"),
        (3, lambda w: f"torch.{w.choose(['relu', 'tanh', 'sigmoid', 'sin', 'abs'])}({full(w, depth - 1)})"),
        (2, lambda w: f"({full(w, depth - 1)}).{w.choose(['abs()', 'neg()', 'cos()', 'clamp(min=-1.0)', 'square()'])}"),
        (1, lambda w: f"F.{w.choose(['gelu', 'silu', 'softplus'])}({full_name(w)})"),
        (1, lambda w: f"torch.where({mask(w)}, {full(w, depth - 1)}, {full(w, depth - 1)})"),
        (0.7, lambda w: f"{full_name(w)}.softmax(dim=-1)"),
        (0.5, lambda w: f"-({full(w, depth - 1)})"),
        (0.5, lambda w: f"{full_name(w)}.clone()"),
        (0.3, lambda w: f"torch.log({full_name(w)}.abs())"),
        (1.2, random_full),
    ]
    if w.frame.is_module:
        choices += [(2, _submodule), (1, lambda w: f"{full_name(w)} * self.weight")]
    if w.frame.helpers:
        choices += [(2, lambda w: f"{_used(w, 'helper', w.choose(w.frame.helpers))}({full_name(w)})")]
    if w.chance(0.06):
        w.use("branch.ternary")
        return f"({full(w, 1)} if {test(w)} else {full(w, 1)})"
    return w.pick_text(choices)


def pure_full(w: Writer) -> str:
    """A new (rows, columns) tensor from one operation that can neither fail nor draw: what both sides may compute."""
    name, other = full_name(w), full_name(w)
    return w.choose(
        [
            f"{name} {w.choose(['+', '-', '*'])} {other}",
            f"{name} * {number(w)}",
            f"torch.{w.choose(['relu', 'tanh', 'sigmoid'])}({name})",
            f"{name}.clamp(min=-1.0)",
            f"torch.where({name} > {threshold(w)}, {name}, {other})",
        ]
    )


def _used(w: Writer, feature: str, text: str) -> str:
    w.use(feature)
    return text


def _submodule(w: Writer) -> str:
    name = w.choose(["linear", "linear", "norm", "drop", "act"])
    w.use("rng.dropout" if name == "drop" else "module." + name)
    return f"self.{name}({full_name(w)})"


def random_full(w: Writer) -> str:
    name = full_name(w)
    w.use("rng.torch")
    return w.choose(
        [
            f"torch.rand_like({name})",
            f"torch.rand({name}.shape)",
            f"torch.randn({name}.size(0), {name}.size(1))",
            f"F.dropout({name}, 0.5)",
            f"F.dropout({name}, p=0.3, training=True)",
            f"{name} * torch.bernoulli(torch.full_like({name}, 0.5))",
        ]
    )


def row(w: Writer) -> str:
    choices = [f"{full_name(w)}.{how}" for how in ("mean(0)", "sum(dim=0)", "amax(0)")] + [f"{full_name(w)}[0]"]
    choices += w.names("row")
    if w.frame.is_module:
        choices += ["self.weight", "self.buf", "self.buf"]
    return w.choose(choices)


def scalar(w: Writer) -> str:
    name = full_name(w)
    choices = [f"{name}.{how}" for how in ("sum()", "mean()", "max()", "norm()", "min()", "std()")]
    choices += [f"{name}[0, 0]", f"{name}[-1].sum()", f"{mask(w)}.sum()", f"torch.sum({name} * {name})"]
    return w.choose(choices + w.names("scalar") * 2)


def mask(w: Writer) -> str:
    name = full_name(w)
    choices = [f"({name} > {threshold(w)})", f"({name} <= {full_name(w)})", f"torch.isfinite({name})"]
    choices += [f"({name} != {threshold(w)})", f"({name} > {name}.mean())", f"torch.isnan({name})"]
    return w.choose(choices + w.names("mask") * 2)


def test(w: Writer, depth: int = 2) -> str:
    """A condition on the value of a tensor."""
    w.use("test")
    choices: list[Choice] = [
        (4, lambda w: f"{scalar(w)} {w.choose(['>', '<', '>=', '<='])} {threshold(w)}"),
        (3, lambda w: f"{mask(w)}.{w.choose(['any()', 'all()'])}"),
        (1, lambda w: f"{full_name(w)}.mean() < {full_name(w)}.mean()"),
        (1, lambda w: f"torch.{w.choose(['any', 'all'])}({mask(w)})"),
        (1, lambda w: _used(w, "test.item", f"{scalar(w)}.item() > {threshold(w)}")),
        (0.7, lambda w: _used(w, "test.bool", f"bool({scalar(w)} > {threshold(w)})")),
        (0.7, lambda w: _used(w, "test.equal", f"torch.equal({full_name(w)}, {full(w, 1)})")),
        (0.7, lambda w: _used(w, "test.allclose", f"torch.allclose({full_name(w)}, {full(w, 1)}, atol=1.0)")),
        (0.5, lambda w: _used(w, "test.truth", f"{mask(w)}.sum()")),
        (0.5, lambda w: _used(w, "test.walrus", f"({_bound(w)} := {scalar(w)}) > {threshold(w)}")),
        (0.3, lambda w: _used(w, "test.isnan", f"torch.isnan({full_name(w)}).any().item()")),
    ]
    if w.speculates:
        choices += [
            (0.5, lambda w: _used(w, "test.within", f"{threshold(w)} {w.choose(['in', 'not in'])} {full_name(w)}"))
        ]
    if depth > 0:
        low = w.choose(["-4.0", "-1.0", "-20"])
        choices += [
            (1.5, lambda w: _used(w, "test.not", f"not {_closed(test(w, 0))}")),
            (1.2, lambda w: _used(w, "test.and", f"{_closed(test(w, 0))} and {_closed(test(w, 0))}")),
            (1.2, lambda w: _used(w, "test.or", f"{_closed(test(w, 0))} or {_closed(test(w, 0))}")),
            (0.6, lambda w: _used(w, "test.mixed", f"{condition(w)} and {_closed(test(w, 0))}")),
            (0.6, lambda w: _used(w, "test.mixed", f"{_closed(test(w, 0))} or {condition(w)}")),
            (1, lambda w: _used(w, "test.chain", f"{low} < {scalar(w)} <= {threshold(w)}")),
            (0.3, lambda w: _used(w, "test.chain", f"{full_name(w)}.min() < {scalar(w)} < {full_name(w)}.max()")),
        ]
    return w.pick_text(choices)


def _closed(text: str) -> str:
    return f"({text})" if any(word in text for word in (" and ", " or ", ":=")) else text


def _bound(w: Writer) -> str:
    # The name is not offered to what follows: short circuits and comprehensions may skip the binding.
    return w.fresh("seen")


def condition(w: Writer) -> str:
    """A condition that Python knows."""
    name = full_name(w)
    choices = [
        f"{name}.shape[0] > 2",
        f"{name}.dtype == torch.float32",
        f"{name}.requires_grad",
        "torch.is_grad_enabled()",
    ]
    choices += ['STATE["calls"] % 2 == 0', f"len({name}) < 9"]
    if w.frame.has_self:
        choices += ["self.flag", "self.count % 2 == 1", "len(self.items) < 3"]
    if w.frame.is_module:
        choices += ["self.training", "self.training"]
    return w.choose(choices)


def integer(w: Writer) -> str:
    name = full_name(w)
    choices = [f"{name}.shape[0]", f"{name}.size(1)", f"{name}.numel()", f"{name}.ndim", f"len({name})", "7"]
    choices += ['STATE["calls"]', *w.names("int"), *w.names("int")]
    if w.frame.has_self:
        choices += ["self.count", "self.count", "len(self.items)", "self.step_size"]
    return w.choose(choices)

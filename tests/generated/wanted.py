"""Numbers that Python takes out of tensors, as expressions. In: a Writer with names in scope. Out: text.

A count is a 0-d tensor of a small integer that is not negative; a number is Python's, taken from one.
"""

from __future__ import annotations

from . import expressions as e
from .writer import Choice, Writer


def used(w: Writer, feature: str, text: str) -> str:
    w.use(f"wanted.{feature}")
    return text


def count(w: Writer) -> str:
    """A 0-d integer tensor."""
    name = e.full_name(w)
    choices = [
        f"({name}[0] > {e.threshold(w)}).sum()",
        f"({name} > {e.threshold(w)}).sum()",
        f"{name}[0].argmax()",
        f"{name}.detach().abs().max().nan_to_num().clamp(max=4.0).long()",
    ]
    for counts in w.names("counts"):
        choices += [f"{counts}.max()", f"{counts}[0]", f"{counts}[1]", f"{counts}[-1]", f"{counts}.sum()"] * 2
    return w.choose(choices)


def integer(w: Writer) -> str:
    """A Python int."""
    name = e.full_name(w)
    counts = w.names("counts")
    choices: list[Choice] = [
        (4, lambda w: used(w, "item", f"{count(w)}.item()")),
        (4, lambda w: used(w, "int", f"int({count(w)})")),
        (1, lambda w: used(w, "int", f"int({name}.detach().max().nan_to_num().clamp(0.0, 5.0))")),
        (1, lambda w: used(w, "len_nonzero", f"len({e.mask(w)}.nonzero())")),
        (1, lambda w: used(w, "len_nonzero", f"torch.nonzero({e.mask(w)}).shape[0]")),
        (1, lambda w: used(w, "ternary", f"(2 if {e.test(w)} else {w.choose(['1', '3'])})")),
        (0.7, lambda w: used(w, "bool", f"int(bool({e.scalar(w)} > {e.threshold(w)}))")),
    ]
    choices += [(1, _in_view)]
    choices += [(0.5, lambda w: used(w, "equal", f"int(torch.equal({name}, {e.full_name(w)}))"))]
    choices += [(0.5, lambda w: used(w, "equal", f"int(torch.allclose({name}, {e.full_name(w)}, atol=0.5))"))]
    choices += [(0.5, lambda w: used(w, "equal", f"int({name}.equal({e.full_name(w)}))"))]
    choices += [(0.5, lambda w: used(w, "within", f"int({e.threshold(w)} {w.choose(['in', 'not in'])} {name})"))]
    choices += [(0.5, lambda w: used(w, "chain", f"int({e.threshold(w)} < {e.scalar(w)} < {e.threshold(w)})"))]
    choices += [(1, lambda w: used(w, "comprehension", f"len([v for v in {name}[0] if v > {e.threshold(w)}])"))]
    if counts:
        choices += [(1, lambda w: used(w, "comprehension", f"sum(int(v) for v in {w.choose(counts)})"))]
        choices += [(1, lambda w: used(w, "comprehension", f"[v.item() for v in {w.choose(counts)}][-1]"))]
        choices += [(2, lambda w: used(w, "tolist", f"{w.choose(counts)}.tolist()[{w.choose(['0', '1', '-1'])}]"))]
        choices += [(1, lambda w: used(w, "tolist", f"sum({w.choose(counts)}.tolist())"))]
    if w.names("int"):
        choices += [(4, lambda w: w.choose(w.names("int")))]
    if w.names("numbers"):
        choices += [(2, lambda w: f"{w.choose(w.names('numbers'))}[0]")]
    if w.frame.takers:
        choices += [(2, lambda w: used(w, "helper", f"{w.choose(w.frame.takers)}({e.full_name(w)})"))]
    return w.pick_text(choices)


def real(w: Writer) -> str:
    """A Python float, or an int where the tensor has ints."""
    name = e.full_name(w)
    detach = w.choose(["", ".detach()"])
    choices: list[Choice] = [
        (3, lambda w: used(w, "item", f"{name}{detach}.{w.choose(['sum()', 'max()', 'mean()'])}.item()")),
        (2, lambda w: used(w, "float", f"float({name}{detach}.{w.choose(['sum()', 'min()', 'mean()'])})")),
        (1, lambda w: used(w, "item", f"{e.scalar(w)}.item()")),
        (1, lambda w: used(w, "float", f"float({count(w)})")),
        (1, lambda w: used(w, "tolist", f"{name}[0]{detach}.tolist()[{w.choose(['0', '1'])}]")),
        (0.5, lambda w: used(w, "complex", f"abs(complex({name}.detach().sum()))")),
        (0.5, lambda w: used(w, "numpy", f"{name}[0].detach().numpy().tolist()[0]")),
        (0.5, lambda w: used(w, "numpy", f"float({name}.detach().numpy()[0, 0])")),
        (0.7, lambda w: used(w, "ternary", f"(0.5 if {e.test(w)} else 1.5)")),
        (1.5, _computed),
    ]
    if w.names("real"):
        choices += [(3, lambda w: w.choose(w.names("real")))]
    return w.pick_text(choices)


def _computed(w: Writer) -> str:
    """What Python computes of a float: to the last digit, and for some of them it raises."""
    w.use("wanted.computed")
    number = f"({w.choose(w.names('real'))})" if w.names("real") else f"{e.full_name(w)}.detach().sum().item()"
    return w.choose(
        [
            f"math.sqrt(abs({number}))",
            f"math.log(1.0 + abs({number}))",
            f"math.exp(-abs({number}))",
            f"math.atan2({number}, 2)",
            f"({number}) ** 2",
            f"2.0 ** min({number}, 3.0)",
            f"({number} // 0.3)",
            f"({number} % 0.7)",
            f"({number} * {number} + {number})",
            f"(({number} + 0.1) - {number})",
            f"round({number}, 1)",
            f"float(round({number}))",
            f"float(math.floor({number}))",
            f"float(int({number}))",
            f"(1 / {number})",
        ]
    )


def _in_view(w: Writer) -> str:
    """A number that a tensor was made of."""
    w.use("wanted.in_view")
    name = e.full_name(w)
    return w.choose(
        [
            f"int(torch.tensor({name}.shape)[0])",
            f"torch.as_tensor({name}.shape).tolist()[-1]",
            f"torch.tensor([{name}.size(0), 2]).max().item()",
            f"sum(int(v) for v in torch.as_tensor([{name}.shape[0], 1]))",
        ]
    )


def small(w: Writer, limit: int) -> str:
    """A Python int of at most `limit`."""
    return f"min({integer(w)}, {limit})"


def bound(w: Writer) -> str:
    """The bound of a slice: any number, or the tensor itself."""
    if w.chance(0.4):
        return used(w, "bound_tensor", count(w))
    return integer(w)


def test(w: Writer) -> str:
    """A test that Python decides by a number it took, or a tensor's truth."""
    choices: list[Choice] = [
        (3, e.test),
        (2, lambda w: f"{integer(w)} > {w.choose(['0', '1', '2', '3'])}"),
        (1, lambda w: f"{real(w)} > {e.threshold(w)}"),
        (1, lambda w: used(w, "bool", f"bool({e.scalar(w)} > {e.threshold(w)})")),
        (1, lambda w: f"{count(w)} > {w.choose(['0', '1', '2'])}"),
        (1, lambda w: f"{integer(w)} % 2 == 0"),
        (1, lambda w: used(w, "quantified", f"any(v > {e.threshold(w)} for v in {e.full_name(w)}[0])")),
        (0.5, lambda w: used(w, "quantified", f"all((row < {e.threshold(w)}).any() for row in {e.full_name(w)})")),
    ]
    for ragged in w.names("ragged"):
        sizes = [
            f"{ragged}.numel() == 0",
            f"not {ragged}.numel()",
            f"{ragged}.numel() > 2",
            f"len({ragged}.reshape(-1)) < 4",
        ]
        choices += [(3, lambda w, sizes=sizes: used(w, "test_size", w.choose(sizes)))]  # type: ignore[misc]
    return w.pick_text(choices)


def number(w: Writer) -> str:
    """A Python number."""
    return integer(w) if w.chance(0.5) else real(w)


def size_tensor(w: Writer) -> str:
    """A size that is given as a tensor."""
    return used(w, "size_tensor", count(w))

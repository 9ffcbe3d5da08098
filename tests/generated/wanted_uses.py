"""Statements that take a tensor's value and use it: numbers, slices, sizes, positions. In: a Writer. Out: lines."""

from __future__ import annotations

from . import expressions as e
from . import wanted
from .wanted import used
from .writer import Choice, Writer


def take(w: Writer) -> None:
    """A number is taken out of a tensor and kept."""
    form = w.random.random()
    if form < 0.5:
        name = w.fresh("n")
        w.line(f"{name} = {wanted.integer(w)}")
        w.bind(name, "int")
    elif form < 0.8:
        name = w.fresh("f")
        w.line(f"{name} = {wanted.real(w)}")
        w.bind(name, "real")
    elif w.names("counts"):
        name = w.fresh("sizes")
        w.line(f"{name} = {used(w, 'tolist', w.choose(w.names('counts')))}.tolist()")
        if w.chance(0.4):
            w.line(f"{name}.append({e.integer(w)})")
        w.bind(name, "numbers")
    else:
        name = w.fresh("flag")
        w.line(f"{name} = int({used(w, 'bool', 'bool')}({e.scalar(w)} > {e.threshold(w)}))")
        w.bind(name, "int")


def arithmetic(w: Writer) -> None:
    w.use("wanted.arithmetic")
    name = w.fresh("v")
    if w.chance(0.15):
        w.use("wanted.in_vain")
        w.line(w.choose([f"int({wanted.real(w)})", f"1 / {wanted.integer(w)}", f"7 % (1 + {wanted.integer(w)})"]))
    first = wanted.number(w)
    second = wanted.integer(w) if w.chance(0.5) else e.number(w)
    used_as = [f"* {first}", f"+ {first} * {second}", f"- ({first} - {second})", f"/ (1 + abs({first}))"]
    w.line(f"{name} = {e.full(w, 1)} {w.choose(used_as)}")
    w.bind(name, "full")


def slices(w: Writer) -> None:
    w.use("wanted.slice")
    name, other = w.fresh("r"), e.full_name(w)
    if w.chance(0.3):
        w.use("wanted.slice_of_unnamed")
        other = f"({other} * 1)"
    if w.chance(0.15):
        w.use("wanted.slice_stored")
        w.line(f"{name} = {other}.clone()")
        w.line(f"[{name}][0][{w.choose(['', ':, '])}:{wanted.bound(w)}] {w.choose(['', '+'])}= 0.5")
        w.bind(name, "full")
        return
    choices: list[Choice] = [
        (2, lambda w: f"{other}[:{wanted.bound(w)}]"),
        (1, lambda w: f"{other}[{wanted.bound(w)}:]"),
        (1, lambda w: f"{other}[:, :{wanted.bound(w)}]"),
        (1, lambda w: f"{other}[0, {wanted.bound(w)}:] * 2"),
        (1, lambda w: f"{other}[{wanted.bound(w)}:{wanted.bound(w)}]"),
        (1, lambda w: f"{other}[-{wanted.integer(w)}:]"),
        (1, lambda w: f"{other}[:: 1 + {wanted.small(w, 2)}]"),
        (1, lambda w: f"{other}[{wanted.small(w, 1)}]"),
    ]
    w.line(f"{name} = {w.pick_text(choices)}")
    w.bind(name, "ragged")
    if w.has_asides and w.aside.random() < 0.1:
        w.use("wanted.slice_kept")
        kept = w.fresh("k")
        w.line(f"{kept} = slice({wanted.bound(w)})")
        w.line(f"print({kept}.stop, {other}[{kept}].sum())")
        w.line(w.aside.choice([f'STATE["seen"].append({kept})', f"{name} = {name}.sum() + {kept}.stop", "pass"]))


def _size(w: Writer) -> str:
    return w.pick_text([(1, lambda w: wanted.small(w, 6)), (1, wanted.integer), (1, wanted.size_tensor)])


def _split(w: Writer) -> str:
    w.use("wanted.split")
    taken = w.fresh("n")
    w.line(f"{taken} = {wanted.small(w, 4)}")
    return f"torch.split({e.full_name(w)}[0], [{taken}, 4 - {taken}])[{w.choose(['0', '1'])}]"


def _by_whole(w: Writer) -> str:
    """What is counted by a whole number that a tensor says."""
    w.use("wanted.by_whole")
    other, count = e.full_name(w), wanted.count(w)
    owner = w.choose([other, f"({other} * 1)"])
    return w.choose(
        [
            f"{owner}.split(1 + {count})[0]",
            f"torch.split({other}, {count} + 1, dim=1)[-1]",
            f"{owner}.chunk({count} + 1, 1)[0]",
            f"torch.topk({other}, 1 + ({count} > 1).long())[0]",
            f"{owner}.roll({count})",
            f"torch.tril({other}, {count})",
            f"{owner}[:-{count}]",
            f"{owner}[0].select(0, {count} % 4)",
            f"torch.stack([{other}] * ({count} + 1))",
            f"{other} * len(bin({count}))",
            f"F.one_hot({count}, {count} + 1)",
            f"torch.unique({other}.detach())",
            f"{other} * max(0.25, {other}.detach().mean().item())",
            f"{other} + min({other}.detach().sum().item(), 1.5, {other}[0, 0].item())",
        ]
    )


def sizes(w: Writer) -> None:
    w.use("wanted.size")
    name, other = w.fresh("r"), e.full_name(w)
    choices: list[Choice] = [
        (1, lambda w: f"torch.zeros({_size(w)}, 4)"),
        (1, lambda w: f"torch.ones({_size(w)})"),
        (1, lambda w: f"torch.arange({_size(w)})"),
        (1, lambda w: f"torch.zeros(({_size(w)}, 2), dtype=torch.long)"),
        (1, lambda w: f"{other}.new_zeros({_size(w)})"),
        (1, lambda w: f"{other}.new_ones({_size(w)}, 2) * 0.5"),
        (1, lambda w: f"{other}[0].repeat({_size(w)}, 1)"),
        (1, lambda w: f"{other}[:1].expand({_size(w)}, 4)"),
        (1, lambda w: f"{other}.narrow(0, 0, {wanted.small(w, 2)})"),
        (1, lambda w: f"{other}.narrow(1, {wanted.small(w, 2)}, 2)"),
        (1, lambda w: f"{other}[:2].reshape(2 if {wanted.test(w)} else 4, -1)"),
        (1, lambda w: f"{other}[0].view(-1, 2 if {wanted.integer(w)} > 1 else 4)"),
        (1, lambda w: f"torch.full(({wanted.small(w, 5)},), 2.0)"),
        (1, lambda w: f"F.pad({other}, (0, {wanted.small(w, 3)}))"),
        (1, lambda w: f"F.one_hot({wanted.count(w)}, 21 + {wanted.integer(w)})"),
        (1, _split),
        (3, _by_whole),
    ]
    w.line(f"{name} = {w.pick_text(choices)}")
    w.bind(name, "ragged")


def positions(w: Writer) -> None:
    """Operators whose result has as many elements as a tensor says."""
    name, other, mask = w.fresh("r"), e.full_name(w), e.mask(w)
    form = w.choose(["mask", "masked_select", "nonzero", "as_tuple", "where", "unique", "set_mask", "where_rows"])
    w.use(f"wanted.{form}")
    texts = {
        "mask": f"{name} = {other}[{mask}]",
        "masked_select": f"{name} = torch.masked_select({other}, {mask})",
        "nonzero": f"{name} = {w.choose([f'{mask}.nonzero()', f'torch.nonzero({mask})', f'{other}.nonzero()'])}",
        "as_tuple": f"{name} = {mask}.nonzero(as_tuple=True)[{w.choose(['0', '1'])}]",
        "where": f"{name} = torch.where({mask})[0]",
        "unique": f"{name} = torch.unique({w.choose([wanted_counts(w), f'({other} > 0).sum(1)'])})",
    }
    if form == "where_rows":
        rows, columns = w.fresh("rows"), w.fresh("columns")
        w.line(f"{rows}, {columns} = torch.where({mask})")
        w.line(f"{name} = {other}[{rows}, {columns}] * 2")
    elif form == "set_mask":
        names = [each for each in w.names("full") if each not in w.frame.frozen]
        if names:
            w.line(f"{w.choose(names)}[{mask}] = {e.number(w)}")
        return
    else:
        w.line(texts[form])
    w.bind(name, "ragged")


def wanted_counts(w: Writer) -> str:
    return w.choose(w.names("counts") or [f"({e.full_name(w)} > 0).sum(0)"])


def lookup(w: Writer) -> None:
    """A number as index of a list, or key of a dict."""
    w.use("wanted.index")
    name = w.fresh("n")
    number = wanted.integer(w)
    choices = [
        f"[5, 6, 7][{number} % 3]",
        f"{{0: 1, 1: 4, 2: 9}}.get({number}, 8)",
        f"(10, 20)[{number} > 1]",
        f'"abcdef".index("abcdef"[{number} % 6])',
    ]
    if w.frame.has_self:
        choices += [f"self.items[{number} % len(self.items)]", f"self.table.get({number}, 3)"]
    text = w.choose(choices)
    w.line(f"{name} = {text}")
    # What is kept in `self` may be something else by now.
    w.bind(name, "real" if "self." in text else "int")


def elements(w: Writer) -> None:
    """An element, a row or a column at a position that a tensor says."""
    name, other = w.fresh("r"), e.full_name(w)
    row, column = f"{wanted.count(w)} % 3", f"{wanted.count(w)} % 4"
    reads = [
        f"[{row}]",
        f"[:, {column}]",
        f"[{row}, {column}]",
        f"[1, {column}] * 2",
        f"[1:, {column}]",
        f"[-({row}) - 1]",
        f"[..., {column}]",
    ]
    names = [each for each in w.names("full") if each not in w.frame.frozen]
    if names and w.chance(0.25):
        w.use("wanted.set_element")
        place = w.choose([row, f":, {column}", f"{row}, {column}", f"..., {column}"])
        w.line(f"{w.choose(names)}[{place}] {w.choose(['=', '+='])} {e.number(w)}")
        return
    w.use("wanted.element")
    w.line(f"{name} = {other}{w.choose(reads)}")
    w.bind(name, "ragged")


def different(w: Writer) -> None:
    """Values that are different from each other, one by one."""
    w.use("wanted.different")
    name, other = w.fresh("n"), e.full_name(w)
    kinds = w.choose([wanted_counts(w), f"({other} > {e.threshold(w)}).long()", f"({other} > {e.threshold(w)}).sum(1)"])
    choices = [
        f"sum(int(kind) for kind in {kinds}.unique())",
        f"len([kind for kind in torch.unique({kinds}) if kind > 0])",
        f"torch.unique({kinds}, return_counts=True)[1].tolist()[-1]",
        f"int(list({kinds}.flatten().unique_consecutive())[-1])",
        f"torch.bincount({kinds}.flatten().abs()).tolist()[-1]",
    ]
    w.line(f"{name} = {w.choose(choices)}")
    w.bind(name, "int")


def operands(w: Writer) -> None:
    """`and`, `or` and `not` as values."""
    w.use("wanted.operands")
    kept, name = w.fresh("kept"), w.fresh("v")
    one, other = (f"{e.scalar(w)} > {e.threshold(w)}" for _ in range(2))
    choices = [
        f"{one} and {other}",
        f"{one} or {other}",
        f"not ({one}) and {other}",
        f"{one} and {other} or {e.number(w)}",
    ]
    w.line(f"{kept} = {w.choose(choices)}")
    w.line(f"{name} = {e.full(w, 1)} * (2.0 if {kept} else 0.5)")
    w.bind(name, "full")

"""What was made before anything is traced: lambdas at module level that need values, or show them. In: a Writer. Out:
lines.

With them, what else needs a position or a size: writes where Python reads the position too, lists of sizes compared.
"""

from __future__ import annotations

from . import expressions as e
from . import wanted
from .writer import Choice, Writer

HEADER = """
MADE = {
    "sum": lambda t: t.detach().sum().item(), "part": lambda t: t[: int((t > 0).sum()) % 3 + 1],
    "word": lambda t: "many" if t.sum() > 0 else "few",
    "rows": lambda t: [float(row.detach().max()) for row in t],
    "show": lambda t, end="|\\n": print("made", t.shape, f"{t.sum().item():.3f}", end=end),
    "tell": lambda *values: print(*values),
}
halved = lambda t: t * 0.5 if t.abs().max() > 1 else t + 0.0  # noqa: E731
"""


def lambdas(w: Writer) -> None:
    choices: list[Choice] = [(3, _value), (3, _shown), (2, _changed), (1.5, _place), (1.5, _sizes)]
    w.pick(choices)


def _value(w: Writer) -> None:
    w.use("lambda.value")
    name = w.choose(["sum", "part", "word", "rows"])
    given = f'MADE["{name}"]({e.full_name(w)})'
    kept = f"len({given})" if name == "part" else given
    w.line(w.choose([f'print("lambda", {given})', f'STATE["seen"].append({kept})']))


def _shown(w: Writer) -> None:
    w.use("lambda.shown")
    if w.chance(0.5):
        w.line(f'MADE["show"]({e.full_name(w)}{w.choose(["", ", end=chr(10)"])})')
    else:
        w.line(f'assert MADE["tell"]({e.integer(w)}, {e.full_name(w)}.mean().item()) is None')


def _changed(w: Writer) -> None:
    w.use("lambda.changed")
    names = [name for name in w.names("full") if name not in w.frame.frozen]
    if names:
        name = w.choose(names)
        w.line(f"{name} = halved({name})")


def _place(w: Writer) -> None:
    """A write where Python needs the position for something else too."""
    w.use("wanted.place")
    row, place = w.fresh("row"), w.fresh("place")
    w.line(f"{row} = {e.full_name(w)}.detach().clone()")
    w.line(f"{place} = {wanted.count(w)} % 4")
    w.line(w.choose([f"print([0, 1, 2, 3][{place}])", f'STATE["seen"].append(list(range({place})))']))
    written = w.choose([f"[0, {place}]", f"[:, {place}]", f"[{place} % 2, {place}]"])
    w.line(f"{row}{written} {w.choose(['=', '+=', '*='])} {e.number(w)}")
    w.line(f'print("place", {row}.sum().item(), {row}.argmax().item())')


def _sizes(w: Writer) -> None:
    """A list of sizes beside one of numbers that were read."""
    w.use("wanted.list_of_sizes")
    name, count = e.full_name(w), wanted.count(w)
    sizes = w.choose([f"list({name}.size())", f"list({name}.shape)", f"[*{name}.shape]"])
    with w.block(f"if {sizes} {w.choose(['==', '!='])} [{count}, {name}.shape[1]]:"):
        w.line('print("sizes")')

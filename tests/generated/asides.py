"""Statements that are drawn beside the rest of a program, which stays the same without. In: a Writer. Out: lines.

What they may be is in trying.py, identity.py, flow.py, contexts.py, shadows.py, told.py, on_functions.py,
lambdas.py, dtypes.py and recurrent.py; names that they bind are theirs alone, others they rebind.
"""

from __future__ import annotations

from . import contexts, dtypes, flow, identity, lambdas, on_functions, recurrent, shadows, told, trying
from .writer import Choice, Writer

HEADER = trying.HEADER + flow.HEADER + contexts.HEADER + shadows.HEADER + told.HEADER + on_functions.HEADER
HEADER += lambdas.HEADER
# How often one stands before another statement.
RATE = 0.12


def aside(w: Writer) -> None:
    """One of them, now and then."""
    if not w.has_asides or w.aside.random() > RATE:
        return
    choices: list[Choice] = [(4, trying.trying), (3, identity.identity), (4, flow.flow), (2, contexts.context)]
    choices += [(1, shadows.shadow_inside), (3, told.told), (3, on_functions.on_functions), (3, lambdas.lambdas)]
    if w.speculates:
        choices += [(1.5, dtypes.dtypes)]
    if w.frame.recurrent:
        choices += [(15, recurrent.step)]
    with w.beside():
        w.pick(choices)

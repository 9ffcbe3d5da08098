"""Statements that are drawn beside the rest of a program, which stays the same without. In: a Writer. Out: lines.

What they may be is in trying.py, identity.py and flow.py; names that they bind are theirs alone, others they rebind.
"""

from __future__ import annotations

from . import flow, identity, trying
from .writer import Choice, Writer

HEADER = trying.HEADER + flow.HEADER

# How often one stands before another statement.
RATE = 0.12


def aside(w: Writer) -> None:
    """One of them, now and then."""
    if w.aside.random() > RATE:
        return
    choices: list[Choice] = [(4, trying.trying), (3, identity.identity), (4, flow.flow)]
    with w.beside():
        w.pick(choices)

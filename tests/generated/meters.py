"""Statements with an object of the program's whose methods and properties have names of a tensor's, and count.

They are drawn beside the rest of a program, which stays what it is without them.
"""

from __future__ import annotations

from .writer import Writer

HEADER = """
class Meter:
    def add(self, number):
        STATE["calls"] += number
        return number

    def any(self):
        return self.add(1) > 0

    @property
    def T(self):
        return self.add(2)


METER = Meter()
"""

_LIMITS = ("-2.0", "0.0", "1.0", "100.0")
_FORMS = {
    "side": "if {name}.sum() > {limit}:\n    METER.add(1)",
    "renamed": "if {name}.mean() > {limit}:\n    meter = METER\n    meter.add(3)",
    "property": "if {name}.max() > {limit}:\n    metered = {name} * METER.T",
    "choice": "metered = {name} + METER.add(1) if {name}.min() > {limit} else {name}",
    "operand": 'if {name}.abs().max() > 100.0 and METER.any():\n    raise ValueError("metered")',
    "shown": 'print("meter", METER.T if {name}.sum().item() > {limit} else 0)',
}


def meter(w: Writer, name: str) -> None:
    """One such statement about a tensor, now and then."""
    if w.aside.random() < 0.12:
        form = w.aside.choice(sorted(_FORMS))
        w.use(f"meter.{form}")
        w.line(_FORMS[form].format(name=name, limit=w.aside.choice(_LIMITS)))

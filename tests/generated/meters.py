"""Statements with objects of the program's: methods and properties that have names of a tensor's, and count; texts
that tell of what the call has changed, numbers that hang on it, methods that are exchanged.

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


class Tally:
    count = 0

    def __repr__(self):
        return f"tally {self.count}"

    def turned(self, number):
        return number + 1


METER = Meter()
TALLY = Tally()
"""

_LIMITS = ("-2.0", "0.0", "1.0", "100.0")
_FORMS = {
    "side": "if {name}.sum() > {limit}:\n    METER.add(1)",
    "renamed": "if {name}.mean() > {limit}:\n    meter = METER\n    meter.add(3)",
    "property": "if {name}.max() > {limit}:\n    metered = {name} * METER.T",
    "choice": "metered = {name} + METER.add(1) if {name}.min() > {limit} else {name}",
    "operand": 'if {name}.abs().max() > 100.0 and METER.any():\n    raise ValueError("metered")',
    "told": 'TALLY.count += 1\nif {name}.sum() > {limit}:\n    print("large")\nSTATE["seen"].append(f"at {{TALLY}}")',
    "sign": 'TALLY.count += 1\nprint("counted", TALLY.count)\nSTATE["seen"].append((-2) ** TALLY.count)',
    "share": (
        'TALLY.count += 1\nprint("counted", TALLY.count)\nshare = TALLY.count / 4\nSTATE["seen"].append(share is share)'
    ),
    "exchanged": (
        "turned = Tally.turned\nTally.turned = lambda self, number: number - 1\n"
        'print("turned", {name}.mean() > {limit})\nSTATE["seen"].append(TALLY.turned(2))\nTally.turned = turned'
    ),
    "shown": 'print("meter", METER.T if {name}.sum().item() > {limit} else 0)',
}


def meter(w: Writer, name: str) -> None:
    """One such statement about a tensor, now and then."""
    if w.aside.random() < 0.12:
        form = w.aside.choice(sorted(_FORMS))
        w.use(f"meter.{form}")
        w.line(_FORMS[form].format(name=name, limit=w.aside.choice(_LIMITS)))

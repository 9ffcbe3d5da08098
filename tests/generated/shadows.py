"""Names of the program's own that are also names of Python's: functions, parameters, objects. In: a Writer. Out: lines.

What they do is not what the others do, and counts.
"""

from __future__ import annotations

from . import expressions as e
from .writer import Writer

HEADER = """

class Journal:
    def note(self, *values, **options):
        STATE["seen"].append(("noted", *values[:1]))

    debug = info = warning = warn = error = exception = critical = fatal = log = warning_once = note

    def isEnabledFor(self, level):
        return True


JOURNAL = Journal()
"""

# For the whole of a program.
_OWN = {
    "print": 'def print(*values, **options):\n    STATE["seen"].append(sum(1 for value in values))',
    "print_text": 'def print(*values, **options):\n    sys.stdout.write("own " + " ".join(map(str, values)) + "\\n")',
    "int": 'def int(value):\n    STATE["calls"] += 1\n    return round(value) + 1',
    "float": "def float(value):\n    return value * 2.0",
    "bool": "def bool(value):\n    return not value",
    "len": 'def len(value):\n    STATE["calls"] += 1\n    return 2',
    "str": 'def str(value):\n    STATE["calls"] += 1\n    return "own"',
    "round": "def round(value, digits=0):\n    return value + 1",
    "range": "def range(*limits):\n    return [2, 0]",
    "warnings": "warnings = JOURNAL",
    "logger": "logger = JOURNAL",
}

# For one function, which is `{call}`.
_INSIDE = {
    "print": 'def {call}(t, print=STATE["seen"].append):\n    print(t.dim())\n    return t * 2.0',
    "print_tensor": "def {call}(t, print=tell):\n    return print(t) - 1.0",
    "float": "def {call}(t, float=torch.sigmoid):\n    return float(t)",
    "int": "def {call}(t):\n    int = torch.floor\n    return t + int(t.sum())",
    "bool": "def {call}(t):\n    bool = torch.logical_not\n    return t * 2.0 if bool(t.sum() > {limit}) else t - 1.0",
    "len": "def {call}(t, len=torch.sum):\n    return t * len(t)",
    "str": 'def {call}(t, str=tell):\n    print("s", str(t).shape)\n    return t + 1.0',
    "logger": 'def {call}(t, logger=JOURNAL):\n    logger.info("own %s", t.sum())\n    return t + 1.0',
    "warnings": "def {call}(t, warnings=JOURNAL):\n    if t.sum() > {limit}:\n"
    '        warnings.warn("own", t.sum().item())\n    return t + 1.0',
}


def shadow(w: Writer) -> None:
    """A name of Python's has a meaning of the program's own from here on, now and then."""
    if w.has_asides and w.aside.random() < 0.04:
        name = w.aside.choice(sorted(_OWN))
        w.use(f"shadow.{name}")
        w.line(f"\n{_OWN[name]}")


def shadow_inside(w: Writer) -> None:
    """The same in a function made here."""
    form = w.choose(sorted(_INSIDE))
    w.use(f"shadow.inside_{form}")
    call, name = w.fresh("f"), e.full_name(w)
    w.line(_INSIDE[form].format(call=call, limit=e.threshold(w)))
    w.line(f"{name} = {call}({e.full_name(w)})")

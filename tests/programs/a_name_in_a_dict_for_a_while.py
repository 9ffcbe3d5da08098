"""What is put among the names of an object and taken again may have been there before, or not; and so of a dict that has
names of its own."""

import torch

# Older ones have another way to what an object's `__dict__` has.
TORCH = (2, 13)


class Plain:
    pass


class Table(dict):
    pass


PLAIN, EMPTY, TABLE = Plain(), Table(), Table(a=1)
PLAIN.tmp = 3


def f(kind, x):
    if kind == "plain":
        PLAIN.__dict__["tmp"] = x
    else:
        table = EMPTY if kind == "empty" else TABLE
        setattr(table, "tmp", x)
    if x.sum() > 9:
        raise ValueError("large")
    if kind == "plain":
        return PLAIN.__dict__.pop("tmp") * 2
    delattr(table, "tmp")
    return x * 2


def state():
    return [hasattr(each, "tmp") for each in (PLAIN, EMPTY, TABLE)]


CALLS = [(kind, torch.tensor([float(n)])) for kind in ("plain", "empty", "table") for n in (1, 1, 10, 1)]

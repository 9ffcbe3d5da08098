"""What all of a class, or an object, has is listed as it is after a change, and in Python's order."""

import torch

TORCH = (2, 13)


class Base:
    count = 0


class Derived(Base):
    pass


class Held:
    def __init__(self):
        self.one, self.two = 1, 2


HELD, MODULE = Held(), torch.nn.Linear(2, 2)


def f(which, x):
    Base.count += 1
    print("given", x.sum())
    if which == "class":
        return vars(Base)["count"], Base.__dict__["count"], getattr(Base, "__dict__")["count"], x + 1
    if which == "classes":
        return [vars(each)["count"] for each in Derived.__mro__ if "count" in vars(each)], x + 1
    if which == "names":
        Derived.fresh = 3
        return "fresh" in dir(Derived), "fresh" in vars(Derived), "count" in vars(Derived), x + 1
    if which == "order":
        HELD.two = 4
        HELD.three = 5
        MODULE.last = 6
        return list(vars(HELD)), dict(vars(HELD)), [name for name in vars(MODULE)][-1], x + 1
    del HELD.one
    HELD.one = 7
    return list(vars(HELD)), x + 1


def state():
    return vars(HELD), Base.count


CALLS = [(which, torch.ones(2) * k) for which in ("class", "classes", "names", "order", "again") for k in (1, 2)]

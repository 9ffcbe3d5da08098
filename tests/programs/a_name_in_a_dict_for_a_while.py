"""What is put among the names of an object and taken again may have been there before, or not; and so of a dict that has
names of its own, and of an object whose class has the name too."""

import torch

# Older ones have another way to what an object's `__dict__` has, and delete what the class has.
TORCH = (2, 13)


class Plain:
    pass


class Given:
    tmp = 7


class Table(dict):
    pass


PLAIN, GIVEN, EMPTY, TABLE = Plain(), Given(), Table(), Table(a=1)
PLAIN.tmp = 3


def f(holder, x):
    if holder is PLAIN:
        holder.__dict__["tmp"] = x
    else:
        setattr(holder, "tmp", x)  # noqa: B010
    if x.sum() > 9:
        raise ValueError("large")
    if holder is PLAIN:
        return holder.__dict__.pop("tmp") * 2
    delattr(holder, "tmp")
    return x * getattr(holder, "tmp", 2)


def state():
    return ["tmp" in vars(each) for each in (PLAIN, GIVEN, EMPTY, TABLE)]


CALLS = [(each, torch.tensor([number])) for each in (PLAIN, GIVEN, EMPTY, TABLE) for number in (1.0, 1.0, 10.0, 1.0)]

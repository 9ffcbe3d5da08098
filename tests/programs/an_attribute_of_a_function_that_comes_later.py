"""What a function, a module of Python's or a dict of no items has not is asked anew in each call, also where it is set
meanwhile."""

import types

import torch


class Table(dict):
    pass


def counted(x):
    print("given", x.sum())
    counted.calls = getattr(counted, "calls", 0) + 1
    return x * counted.calls


OWN, TABLE = types.ModuleType("own"), Table()


def f(x):
    if hasattr(OWN, "last"):
        x = x + OWN.last
    if getattr(TABLE, "last", None) is None:
        TABLE.last = 3
    else:
        x = x + TABLE.last
    OWN.last = 2
    return counted(x), hasattr(OWN, "last"), hasattr(counted, "calls")


CALLS = [(torch.ones(2),)] * 3


def state():
    return vars(TABLE), OWN.last, counted.calls

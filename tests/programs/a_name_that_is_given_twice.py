"""A name that is given twice in a call raises."""

import torch


def named(**names):
    return names


def f(x, first, second):
    told = []
    for i in range(2):
        print(i, x.sum())
        try:
            told.append(named(**first, **second))
        except TypeError as error:
            told.append(str(error))
        try:
            told.append(named(a=1, **second))
        except TypeError as error:
            told.append(str(error))
    return x + i, told


CALLS = [(torch.ones(2), first, second) for first in ({"a": 1}, {"b": 2}) for second in ({"a": 3}, {"c": 4}, {})]

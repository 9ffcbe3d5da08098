"""A set of a class of the program's that is made, or changed, is what it is in Python."""

import torch


class Names(set):
    def __init__(self, names, title):
        super().__init__(names)
        self.title = title


class Fixed(frozenset):
    pass


GIVEN = Names([0], "given")


def state():
    return sorted(GIVEN), GIVEN.title, type(GIVEN).__name__


def f(x, number, which):
    for i in range(2):
        print(i, x.sum())
    names = Names([number, 1], "made")
    names.add(i)
    if which == "made":
        return x + len(names), names, names.title, type(names).__name__
    if which == "changed":
        GIVEN.add(number)
        return x + len(GIVEN), sorted(GIVEN)
    return x + (number in names), [type(each).__name__ for each in {Fixed([number]): 1}], {Fixed([number]): 1}


CALLS = [(torch.ones(2), number, which) for number in range(3) for which in ("made", "changed", "key")]

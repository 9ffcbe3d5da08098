"""Python makes static methods and methods of the class of some functions without being told."""

import torch


class Pair(tuple):
    made = 0

    def __new__(cls, first, second):
        print("a pair of", first.sum().item(), cls.__name__)
        return super().__new__(cls, (first, second))

    def __class_getitem__(cls, x):
        print("a kind of", x.sum().item(), cls.__name__)
        return x * 2


def f(x):
    pair = Pair(x, x + 1)
    if x.sum() > 9:
        raise ValueError("large", x)
    return pair[0] + pair[1] + Pair[x]


CALLS = [(torch.tensor(numbers),) for numbers in ([1.0, 2.0], [3.0, 1.0], [9.0, 1.0], [2.0, 1.0])]

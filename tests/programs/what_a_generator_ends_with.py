"""What `yield from` gives is what the generator returns."""

import torch


def inner(x, number):
    yield x + number
    if number > 1:
        return x * number
    return "end"


def outer(x, number):
    first = yield from inner(x, number)
    print("first", first)
    second = yield from [x]
    yield first, second, (yield from ())


def f(x, number):
    return list(outer(x, number)), [each for each in inner(x, number)]


CALLS = [(torch.ones(2), number) for number in (1, 2, 1)]

"""A deque from outside drops what it has no room for."""

from collections import deque

import torch

LAST = deque(maxlen=3)
FIRST = deque([1, 2], maxlen=2)
FREE = deque()


def state():
    return [list(LAST), list(FIRST), list(FREE), LAST.maxlen, FIRST.maxlen]


def f(x, number):
    LAST.append(number)
    FREE.append(number)
    print(sum(LAST) / len(LAST), x.sum())
    FIRST.appendleft(number)
    if x.sum() > 5:
        raise ValueError(len(FIRST))
    LAST.extend([number + 1, number + 2])
    return x * sum(FIRST), sum(LAST), list(LAST), LAST.maxlen


CALLS = [(torch.full((2,), float(number % 4)), number) for number in range(7)]

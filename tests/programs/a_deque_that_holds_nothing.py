"""A deque without room holds nothing, and a copy of one has as much room."""

import collections

import torch

NOTHING, TWO = collections.deque(maxlen=0), collections.deque([1, 2], maxlen=2)


def f(x):
    print("given", x.sum())
    NOTHING.append(1)
    NOTHING.extend([2, 3])
    made = collections.deque([1, 2], maxlen=0)
    made.appendleft(3)
    copied = TWO.copy()
    copied.append(len(x))
    return len(NOTHING), list(NOTHING), len(made), list(copied), copied.maxlen, x + 1


def state():
    return list(NOTHING), list(TWO), TWO.maxlen


CALLS = [(torch.ones(2),), (torch.ones(3),), (torch.ones(3),)]

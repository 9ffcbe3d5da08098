"""The program has a `float` of its own."""

import torch


def float(x):
    return x * 10


def f(x):
    y = x * 2 if float(x.sum()) > 20 else x * 3
    return y + 1


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

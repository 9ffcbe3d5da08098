"""The program has an `int` of its own."""

import torch


def int(x):
    return x.round()


def f(x):
    if int(x.sum() * 0.6) > 1:
        raise ValueError("x")
    return x + 1


CALLS = [(torch.full((3,), value),) for value in (0.1, 1.0, 0.1)]

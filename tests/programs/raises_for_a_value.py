"""What is raised for a value of a tensor is the program's own."""

import torch


def f(x, d={1: 2.0}):
    try:
        k = int(x.sum())
        y = x * d[k]
    except KeyError:
        y = x - 1
    return y


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

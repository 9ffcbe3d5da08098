"""A shift in place changes what it is given, and what runs once more begins with what that was."""

import torch


def f(x):
    x <<= 1
    n = x.sum().item()
    return x[: n % 3], n


CALLS = [(torch.arange(8).reshape(4, 2) + i,) for i in (1, 2, 1, 20, 3)]

"""A module has no names afterwards that it did not have before."""

import torch


def state():
    return [name for name in globals() if not name.startswith("_")]


def f(x):
    x.data = x.data * 2
    if x.sum() > 8:
        raise ValueError(x.shape[0])
    print(x.sum().item())
    y = [1] * int(x.sum())
    return x + len(y)


CALLS = [(torch.ones(number + 1),) for number in range(4)]

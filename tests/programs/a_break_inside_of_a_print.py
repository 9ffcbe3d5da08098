"""A print has a break among its arguments, and what comes after it cannot be traced."""

import torch


def stumble(x):
    if (x < -2.0).any():
        return x @ torch.ones(9, 9)
    return x + 1.0


def f(x):
    print("it is", x.max(), torch.tensor([1 if x.sum() <= 0.5 and torch.isfinite(x).sum() else 2]))
    return stumble(x) + 1


CALLS = [(torch.tensor(numbers),) for numbers in ([-3.0, 1.0], [-3.0, 9.0], [1.0, 2.0])]

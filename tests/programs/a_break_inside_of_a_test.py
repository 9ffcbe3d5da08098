"""A test has a break inside of it, and what comes after it cannot be traced: the rest of the test is as written."""

import torch


def stumble(x):
    if (x < -2.0).any():
        return x @ torch.ones(9, 9)
    return x + 1.0


def f(x):
    if not torch.equal(x, (x / 0.25 if x.sum() <= 0.5 and torch.isfinite(x).sum() else x)):
        raise ValueError("too small")
    return stumble(x) + 1


CALLS = [(torch.tensor(numbers),) for numbers in ([-3.0, 1.0], [1.0, 2.0], [0.0, 0.1])]

"""A test has a break inside of it, and goes on in eager: an operand that Python does not come to is not evaluated."""

import torch


def stumble(x):
    if (x < -2.0).any():
        return x @ torch.ones(9, 9)
    return x + 1.0


def f(x):
    same = torch.equal(x, (x if x.sum() <= 0.5 and torch.isfinite(x).sum() else x)) or x.reshape(7).sum() < 0.0
    if torch.equal(x, (x / 2 if x.sum() <= 0.5 and torch.isfinite(x).sum() else x)) or x.reshape(1, -1)[1].sum() < 0.0:
        raise ValueError("the same")
    return stumble(x) + 1, same


CALLS = [(torch.tensor(numbers),) for numbers in ([1.0, 2.0], [-3.0, 9.0], [1.0, 2.0])]

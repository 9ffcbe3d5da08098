"""A print has a break among its arguments, and what comes after it cannot be traced: each is evaluated once."""

import torch


def stumble(x):
    if (x < -2.0).any():
        return x @ torch.ones(9, 9)
    return x + 1.0


def prints(x, numbers):
    print("it is", numbers.pop(), torch.tensor([1 if x.sum() <= 0.5 and torch.isfinite(x).sum() else 2]))
    return stumble(x) + 1


def draws(x):
    print("it is", torch.rand(1), torch.tensor([1 if x.sum() <= 0.5 and torch.isfinite(x).sum() else 2]))
    return stumble(x) + 1


@torch.compiler.disable(recursive=False)
def f(x, numbers):
    try:
        return prints(x, numbers), draws(x)
    except RuntimeError:
        return draws(x)


NUMBERS = [1, 2, 3, 4, 5]
CALLS = [(torch.tensor(numbers), NUMBERS) for numbers in ([1.0, 2.0], [3.0, 1.0], [-3.0, 1.0], [-3.0, 9.0])]


def state():
    return NUMBERS

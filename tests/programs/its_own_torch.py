"""What is called `torch` is the program's own."""

import torch as real


class Own:
    @staticmethod
    def equal(a, b):
        return real.sum(a - b) < 0


def f(x):
    torch = Own
    if torch.equal(x, x + 1):
        raise ValueError("less")
    return x


CALLS = [(real.full((3,), value),) for value in (1.0, 5.0)]

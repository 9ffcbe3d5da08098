"""`super()` finds out by its frame where it is."""

import torch


class A:
    lim = 3


class M(A):
    def g(self, a):
        if a.sum() < 0 or a.max() > super().lim:
            raise ValueError("q")
        return a + 1


m = M()


def f(x):
    return m.g(x)


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

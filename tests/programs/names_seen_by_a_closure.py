"""Both sides return, and a name that one assigns is seen by a function that is kept."""

import torch

K = []


def state():
    return [k().tolist() for k in K]


def f(x):
    y = x
    K.append(lambda: y.sum())
    if x.sum() > 4:
        return x / 2
    y = x + 1
    return y * 3


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

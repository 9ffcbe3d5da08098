"""Where the frame cannot be traced with mends, an assert raises what it raises in Python, behind what comes before."""

import torch

SEEN = []


def stumble(x):
    return x @ torch.ones(9, 9) if SEEN else x


def f(x):
    SEEN.append(len(x))
    assert x.sum() < 5, "much"
    try:
        print("sum", x.sum())
        x = stumble(x)
    except RuntimeError:
        print("caught")
    return x + 1


def state():
    return SEEN


CALLS = [(torch.full((2,), k),) for k in (1.0, 2.0, 3.0, 1.0, 4.0)]

"""Python warns of the text when it is imported, and not again."""

import torch


def f(x):
    s = "\d"
    print(s, x.sum())
    return x * 2


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0)]

"""A text of a tensor says which operation made it: that of the side that was meant."""

import torch


def f(x):
    if x.sum() > 3:
        y = x + 1
    else:
        y = x * 2
    return f"{y}", y


CALLS = [(torch.full((2,), number, requires_grad=True),) for number in (1.0, 2.0, 3.0)]

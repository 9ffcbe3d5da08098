"""An attribute that is set on an input of `torch.cond`, which has variables of its own inside."""

import torch


def f(x):
    y = torch.cond(x.sum() > 2, lambda t: t.contiguous() * 2, lambda t: t * 3, (x,))
    x.tag = 1
    return y, x.tag


CALLS = [(torch.ones(3),), (-torch.ones(3),)]

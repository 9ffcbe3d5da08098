"""Only leaves may be told to require gradients."""

import torch


def f(x):
    y = x * 2
    y.requires_grad = True
    return y


CALLS = [(torch.ones(3, requires_grad=True),)]

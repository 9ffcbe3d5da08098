"""Tensors are shown by the default type of where the statement stands."""

import torch


def f(x):
    torch.set_default_dtype(torch.float64)
    print(x, x.double())
    torch.set_default_dtype(torch.float32)
    print(x, x.double())
    return x + 1


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0)]

"""The default dtype is put back by `finally`, also when an operation raises only as the graph runs."""

import torch

LINEAR = torch.nn.Linear(4, 4)


def f(x):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        y = LINEAR(torch.ones(3, 4))
        print(x.sum())
    finally:
        torch.set_default_dtype(before)
    return y


def state():
    return str(torch.get_default_dtype())


CALLS = [(torch.ones(3, 4),), (torch.zeros(3, 4),)]

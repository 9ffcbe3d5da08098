"""A bool is no size."""

import torch


def f(t):
    return torch.zeros(t)


CALLS = [(torch.tensor(True),), (torch.tensor(True),)]

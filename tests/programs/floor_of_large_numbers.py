"""`math` takes a tensor for a fraction."""

import torch

import math


def f(t):
    return math.floor(t), math.ceil(t)


CALLS = [(torch.tensor(2**60 + 1),), (torch.tensor(7),), (torch.tensor(7),), (torch.tensor(2**60 + 1),)]

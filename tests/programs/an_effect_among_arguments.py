"""An effect among the arguments of another comes before it; when a later one raises, none of them comes again."""

import torch


def told(x, name):
    print("told", name, x.sum().item())
    return x * 2


def f(x):
    for i in range(2):
        print("both", told(x, i).shape, told(told(x, i), "twice").sum())
    print("all", told(x, "all"), sep=3 if x.dim() > 1 else None)
    return x + 1


CALLS = [(torch.ones(3),), (torch.ones(2, 2),), (torch.ones(3),)]

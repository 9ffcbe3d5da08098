"""What changes an input counts for autograd as often as in eager: behind its back, or by statistics, not at all."""

import torch
from torch import nn

NORM = nn.BatchNorm1d(2)
SEEN = []


def state():
    return SEEN


def f(x, number, way):
    if way == "detached":
        x.detach().mul_(2)
    elif way == "part":
        x.detach()[0] = 5
    elif way == "data":
        x.data.mul_(2)
    elif way == "both":
        x.data.mul_(2)
        with torch.no_grad():
            x.mul_(2)
    elif way == "twice":
        x.mul_(2).add_(1)
    else:
        NORM(x)
    if number > 2:
        raise ValueError("much")
    SEEN.append((way, x._version, NORM.running_mean._version))
    return number + 1


def leaf():
    return torch.ones(2, 2, requires_grad=True)


CALLS = [
    (made, torch.tensor(number), way)
    for number in (1.0, 3.0, 1.0)
    for made, way in (
        (leaf(), "detached"),
        (leaf(), "part"),
        (leaf(), "data"),
        (torch.ones(2, 2), "data"),
        (leaf() * 2, "data"),
        (leaf(), "both"),
        (torch.ones(2, 2), "twice"),
        (leaf() * 2, "twice"),
        (torch.ones(2, 2), "statistics"),
    )
]

"""Both sides return, and a name that one assigns is seen by what comes after."""

import torch

seen = []


def state():
    return [s.tolist() for s in seen]


def f(x):
    try:
        if x.sum() > 4:
            return x / 2
        x = x + 1
        return x * 3
    finally:
        seen.append(x.sum())


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

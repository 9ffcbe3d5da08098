"""What was imported by its name may be an object whose operators count."""

import sys
import types

import torch

COUNTED = []


def state():
    return list(COUNTED)


class Scale:
    def __rmul__(self, other):
        COUNTED.append(1)
        return other * 2


sys.modules["counting_scale"] = types.ModuleType("counting_scale")
sys.modules["counting_scale"].SCALE = Scale()
from counting_scale import SCALE


def f(x):
    if x.sum() < 0 and x.max() * SCALE < -5:
        raise ValueError("small")
    return x * 2


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0, -1.0)]

"""`import *` may bring an `abs` that counts."""

import sys
import types

import torch

COUNTED = []


def state():
    return list(COUNTED)


def counting_abs(x):
    COUNTED.append(1)
    return x * 7


sys.modules["counting_names"] = types.ModuleType("counting_names")
sys.modules["counting_names"].abs = counting_abs
from counting_names import *


def f(x):
    y = x
    if x.sum() > 4:
        y = abs(x)
    return y * 2


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

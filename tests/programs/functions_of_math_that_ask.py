"""Some functions of `math` take no tensors."""

import math

import torch


def f(x, way):
    number = math.factorial(int(x[0]))
    try:
        if way == "trunc":
            return number, math.trunc(x[1])
        if way == "ldexp":
            return number, math.ldexp(x[0], x[1].long())
        return number, math.ldexp(x[0], 2), math.floor(x[1]), math.sqrt(x[0])
    except TypeError as error:
        return str(error)


CALLS = [(torch.tensor([number, 2.5]), way) for number in (1.0, 3.0) for way in ("trunc", "ldexp", "neither")]

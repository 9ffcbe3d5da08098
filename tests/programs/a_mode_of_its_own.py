"""A mode says what the truth of a tensor is, and what functions of torch give."""

import torch
from torch.overrides import TorchFunctionMode


class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.__bool__:
            return False
        result = function(*args, **(kwargs or {}))
        return result + 1 if function is torch.where else result


def f(x):
    with Mode():
        if x.sum() > 10:
            y = x.sin()
        else:
            y = x.cos()
    return y


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 1.0)]

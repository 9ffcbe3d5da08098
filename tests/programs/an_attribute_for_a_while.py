"""What is set and deleted again in one function may have been there before, or not, and is left where it raises."""

import torch


class Plain:
    pass


class Slots:
    __slots__ = ("tmp",)


HOLDERS = [Plain(), Slots(), torch.nn.Module()]


def f(holder, x):
    holder.tmp = x * 2
    if x.sum() > 9:
        raise ValueError("large")
    y = holder.tmp + 1
    del holder.tmp
    return y


def state():
    return [hasattr(each, "tmp") for each in HOLDERS]


CALLS = [(each, torch.tensor([float(number)])) for each in HOLDERS for number in (1, 10, 1)]

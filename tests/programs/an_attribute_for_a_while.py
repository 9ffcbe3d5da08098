"""What is set and deleted again in one function may have been there before, or not, and is left where it raises."""

import torch


class Plain:
    pass


class Slots:
    __slots__ = ("tmp",)


class Given:
    tmp = 7


HOLDERS = [Plain(), Slots(), Given(), torch.nn.Module()]


def f(holder, x):
    holder.tmp = x * 2
    if x.sum() > 9:
        raise ValueError("large")
    y = holder.tmp + 1
    del holder.tmp
    return y


def state():
    return [hasattr(each, "tmp") for each in HOLDERS], "tmp" in vars(HOLDERS[2])


CALLS = [(each, torch.tensor([float(number)])) for each in HOLDERS for number in (1, 10, 1)]

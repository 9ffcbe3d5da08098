"""Operands that Python does not come to read names that have no value."""

import torch

try:
    from no_such_module import LIMIT
except ImportError:
    HAS_LIMIT = False


def f(x, warm):
    if warm:
        best = x.max()
    y = x.sin()
    z = y.cos()
    if torch.isnan(y).any() or (HAS_LIMIT and y.sum() > LIMIT):
        raise ValueError("over the limit")
    if warm and y.sum() > best:
        raise ValueError("over the best")
    if (total := y.sum()) > 50 and total < 100:
        raise ValueError("in between")
    print("shown", best if y.sum().item() > 3 else 0)
    return y + z if y.sum() < 3 else y + best


CALLS = [(torch.tensor(x), warm) for x, warm in (([1.0, 2.0], True), ([30.0, 1.0], False), ([float("nan")], False))]

"""Python keeps the first of equals, and a NaN is not larger than anything."""

import torch


def f(x):
    best, least = x[0], x[0]
    for each in x:
        if each > 100:
            raise ValueError("large")
        best, least = max(best, each * 1.0), min(each * 1.0, least)
    (best * 2 + least + max([x[1] * 1.0, x[2] * 1.0])).backward()
    return best, least, x.grad


NAN = float("nan")
CALLS = [
    (torch.tensor(numbers, requires_grad=True),)
    for numbers in ([1.0, 2.0, 2.0], [1.0, NAN, 0.5], [NAN, 1.0, 3.0], [0.0, -0.0, -1.0], [3.0, 200.0, 1.0])
]

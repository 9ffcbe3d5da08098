"""Whether a comparison of numbers that change is `True` itself is asked by `is`, and by `match`."""

import torch


def f(x):
    print(x.sum())
    is_long = x.shape[0] > 3
    if is_long is True:
        return x + 1
    match x[0, 0].item() > 0:
        case True if x.dtype == torch.float32:
            pass
        case _:
            x.masked_fill_(x > 4.0, 0.5)
            return x[0, 0]


def _inputs():
    for rows, value in ((2, 1.0), (2, -1.0), (3, -2.0), (3, 7.0), (5, 1.0), (4, -1.0), (1, 2.0), (2, -3.0)):
        yield (torch.full((rows, 4), value),)


CALLS = list(_inputs())

"""A tensor with a history is changed, and somebody waits for its gradient: it takes part in what comes of the change."""

import torch


def f(x, y):
    y = y * 1.0
    print("now", y[0])
    y.add_(1.0)
    p = x if x.mean() > 0 else y
    p.register_hook(lambda g: print("hook", g.shape))
    z = y * 2
    z.sum().backward()
    return z.detach()


def call(number):
    return torch.full((2, 2), number, requires_grad=True), torch.ones(2, 2, requires_grad=True)


CALLS = [call(-1.0), call(-1.0), call(1.0), call(-1.0)]

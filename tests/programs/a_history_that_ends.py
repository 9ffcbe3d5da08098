"""A tensor that loses its history is shown as it was before; an input that does so has lost it, or has not."""

import torch


def f(x, y):
    own = y * 2
    print(own)
    own.detach_()
    same = x.contiguous()
    same.detach_()
    torch.nn.init.ones_(same)
    if y.sum() > 5:
        raise ValueError("much")
    return own, x


def call(number):
    return torch.full((3,), number, requires_grad=True), torch.full((3,), number, requires_grad=True)


CALLS = [call(1.0), call(1.5), call(3.0), call(1.0)]

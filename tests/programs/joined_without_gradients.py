"""What is one of two tensors that require grad still does so where gradients are off."""

import torch


def f(x, y):
    with torch.no_grad():
        if y.max() > 0.5:
            chosen = x
        else:
            chosen = y
        if chosen.requires_grad:
            y = y + 10
        with torch.enable_grad():
            loss = (chosen * 2).sum()
    loss.backward()
    return y, x.grad, loss


CALLS = [(torch.ones(2, requires_grad=True), torch.full((2,), number, requires_grad=True)) for number in (1.0, 0.0, 2.0)]

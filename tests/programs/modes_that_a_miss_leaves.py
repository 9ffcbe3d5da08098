"""What a graph that does not count has switched for the thread is switched back, where it ends at a break."""

import torch


@torch.compiler.disable
def outside(x):
    return x + 1


def f(x):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    y = x * torch.ones(1)
    if y.sum() > 3:
        print("large", torch.ones(1).dtype, before)
        torch.set_default_dtype(before)
        raise ValueError("too large")
    y = outside(y)
    torch.set_default_dtype(before)
    return y


def state():
    return str(torch.get_default_dtype()), torch.is_grad_enabled()


CALLS = [(torch.full((3,), value),) for value in (0.5, 0.25, 2.0, 0.125, 7.0, 0.5)]

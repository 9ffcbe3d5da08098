"""An assert on a tensor has a handler, in a function whose graph can carry no check."""

import torch


def f(x, y):
    y += y
    try:
        assert (y < 4.0).all()
    except Exception:
        x = x.softmax(dim=-1) * 1.0
    finally:
        print("asserted")
    print(x, x.sum().item())
    x[0] = -1.0
    return torch.relu(y)


CALLS = [(torch.ones(3, requires_grad=True) * 1, torch.full((3,), y, requires_grad=True) * 1) for y in (1.0, 5.0, 1.0)]

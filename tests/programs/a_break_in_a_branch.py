"""A branch inside of another is left, and what both assign is changed later by another name."""

import torch


def f(x):
    if x.sum() > 4.0:
        v1 = torch.where(x > 0.0, x, x)
    else:
        if torch.all((x > x.mean())):
            v1 = torch.relu(x)
        else:
            v1 = x
    x.mul_(2.0)
    print(v1)
    if (x > x.mean()).all():
        v2 = v1 if torch.isfinite(x).any() or x.shape[0] > 2 else v1
        v3 = v1 * v1.amax(0)
    torch.relu_(x)


CALLS = [(torch.full((3,), value, requires_grad=True) * 1,) for value in (1.0, 5.0, -1.0)]

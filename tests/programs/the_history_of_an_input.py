"""Whether an input is a leaf, has a history or is a view says each call anew."""

import torch


def f(x):
    y = x.detach() * 2
    print(x.is_leaf, x.grad_fn is None, x._base is None, x.retains_grad, x.output_nr, y.sum().item())
    if x.is_leaf:
        y = y + 1
    return y, x._base is None


LEAF = torch.ones(4, requires_grad=True)
KEPT = LEAF * 3
KEPT.retain_grad()
CALLS = [(LEAF,), (LEAF * 2,), (KEPT,), (LEAF.view(4),), (torch.ones(3, 4, requires_grad=True).unbind()[2],), (LEAF,)]

"""What an input has of its own is asked anew in each call, also by the name of an operation that gives the input back."""

import torch


def f(x, changes):
    with torch.no_grad():
        y = x.add_(1) if changes else x.to("cpu")
    print(y.detach().sum().item())
    tag = getattr(y, "tag", None)
    try:
        mark = y.mark
    except AttributeError:
        mark = None
    about = y.is_leaf, y.grad_fn is None, y._base is None, y.retains_grad, not y._backward_hooks
    return about, tag, mark, hasattr(y, "mark")


def made():
    leaf = torch.ones(2, requires_grad=True)
    kept = leaf * 1
    kept.retain_grad()
    hooked = torch.ones(2, requires_grad=True)
    hooked.register_hook(lambda grad: grad * 2)
    first, second = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    first.tag, second.tag = 1, 2
    first.mark, second.mark = "a", "b"
    return [torch.ones(2, requires_grad=True), leaf * 1, kept, hooked, first, second, torch.ones(4)[:2], torch.ones(2)]


CALLS = [(each, changes) for changes in (False, True) for each in made()]

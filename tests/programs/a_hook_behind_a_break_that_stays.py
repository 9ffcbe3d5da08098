"""Behind a break that stays, an input that was changed is where the gradients of what was made of it come by."""

import torch

HOOKED = []


def f(x):
    x.add_(3)
    made = x * 2
    if x.sum() > 100:
        raise ValueError("much")
    first = x if x.max() > 0.5 else made
    first.register_hook(lambda gradient: HOOKED.append(gradient.tolist()))
    print("made", made.sum().item())
    return made


def and_then(call):
    def called(x):
        made = call(x * 1)
        made.sum().backward()
        return made, x.grad

    return called


def state():
    return HOOKED


CALLS = [(torch.full((2,), k, requires_grad=True),) for k in (1.0, -5.0, 2.0, 60.0, 1.0)]

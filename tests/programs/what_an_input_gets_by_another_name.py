"""An input gets a hook, or is made to require grad, by the name of what gave it back; the call may raise."""

import torch

INPUTS = []


def state():
    return [
        (each.requires_grad, each.requires_grad and torch.autograd.grad(each.sum(), each)[0].tolist())
        for each in INPUTS
    ]


def f(x, number, way):
    INPUTS.append(x)
    same = x.contiguous()
    if way == "hook before":
        same.register_hook(lambda gradient: gradient * 3)
    if number > 2:
        raise ValueError("much")
    if way == "hook":
        same.register_hook(lambda gradient: gradient * 2)
    elif way == "requires grad":
        same.requires_grad_()
    return x * 2


CALLS = [
    (torch.ones(2, requires_grad=way != "requires grad"), torch.tensor(number), way)
    for number in (1.0, 3.0, 1.0)
    for way in ("hook", "hook before", "requires grad")
]

"""A view that is changed says that it is a part of its memory; one that is turned in place, by what."""

import torch


def f(which, x):
    y = (x * 2)[1:]
    if which == "operator":
        y += y
    elif which == "function":
        y = torch.relu_(y)
    elif which == "turned":
        y.mul_(2)
        y.t_()
    elif which == "turned first":
        y.t_()
        y *= 2
    elif which == "another is turned":
        other = y[1:]
        y.mul_(2)
        other.t_()
    elif which == "by another name":
        other = y
        y.unsqueeze_(0)
        other.mul_(2)
        y.squeeze_(0)
    print(y)
    return y.sum()


def made():
    return torch.arange(12.0).reshape(3, 4).requires_grad_()


WHICH = "operator", "function", "turned", "turned first", "another is turned", "by another name", "none"
CALLS = [(which, made()) for which in WHICH]

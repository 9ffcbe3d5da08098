"""An attribute that is set on a tensor is there by each name that the tensor has, also after a change in place."""

import torch

KEPT = {}


def f(x, y):
    print(x.sum().item(), getattr(KEPT.get("first"), "tag", "none"), getattr(KEPT.get("second"), "tag", "none"))
    made = y * 4
    KEPT["first"] = made.add_(1)
    KEPT["first"].tag = "kept"
    other = y * 5
    other.tag = "also kept"
    other += 1
    KEPT["second"] = other
    z = x.add_(y)
    z.tag = "set"
    own = y * 2
    own.tag = "own"
    same = own.mul_(3)
    x += 1
    given = y.to(torch.float32)
    given.detach_()
    if hasattr(given, "own"):
        print(given.own)
    return hasattr(x, "tag"), hasattr(y, "tag"), z is x, same.tag, own


def call(number, *, is_same):
    x = torch.full((3,), number)
    x.own = number
    return (x, x) if is_same else (x, torch.ones(3))


CALLS = [call(1.0, is_same=True), call(2.0, is_same=False), call(3.0, is_same=True)]

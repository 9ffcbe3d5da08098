"""A view that is changed after it was made is shown with the history that autograd then gives it."""

import torch


def f(x, way):
    whole = x * 2
    if way == "itself":
        part = whole.view(4, 2)
        part.add_(1.0)
    elif way == "whole":
        part = whole[0]
        whole[1] = 0.5
    elif way == "without gradients":
        part = whole.t()
        with torch.no_grad():
            whole.mul_(2)
    elif way == "data":
        part = whole[0]
        whole.data.mul_(2)
    elif way == "type":
        part = torch.complex(whole, whole).real
        part.mul_(2)
    elif way == "numbers":
        part = torch.view_as_real(torch.complex(whole, whole))
        part.mul_(2)
    elif way == "before":
        whole.mul_(2)
        part = whole[0]
    print(part)
    print(whole)
    return part * part


CALLS = [
    (torch.arange(8.0).view(2, 4).requires_grad_() * 1, way)
    for way in ("itself", "whole", "without gradients", "data", "type", "numbers", "before")
]

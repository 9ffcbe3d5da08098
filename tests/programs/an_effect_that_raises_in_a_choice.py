"""A print chooses by a tensor's value what it shows, and showing it raises; the program handles that."""

import torch


def shown(x):
    print(f"{x.sum():d}" if x.sum() > 2 else "fine")
    return x + 1


@torch.compiler.disable(recursive=False)
def f(x):
    try:
        return shown(x)
    except ValueError as error:
        print("handled", error)
        x.mul_(2)
        return x


CALLS = [(torch.tensor(numbers),) for numbers in ([1.0, 0.0], [3.0, 1.0], [0.5, 1.0])]

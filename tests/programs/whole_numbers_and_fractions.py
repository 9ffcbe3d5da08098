"""Python compares whole numbers and fractions without rounding either."""

import torch


def f(a, b):
    y = a + 1 if b.item() > a.item() else a + 2
    if a.item() > b.item():
        raise ValueError("greater")
    if b.item() != a.item():
        y = y - 1
    return y


CALLS = [
    (torch.tensor(whole), torch.tensor(fraction, dtype=torch.float64))
    for whole, fraction in (
        (2**53 + 1, 2.0**53),
        (2**53, 2.0**53),
        (3, 3.5),
        (2**63 - 1, 2.0**63),
        (4, float("nan")),
        (4, float("inf")),
        (-(2**63), -(2.0**63)),
    )
]

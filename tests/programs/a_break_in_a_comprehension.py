"""What a comprehension goes through grows meanwhile, where a break stays."""

import array

import torch


@torch.compiler.disable
def grow(numbers, n):
    if len(numbers) < 5:
        numbers.append(9)
    return n


def f(x, numbers):
    y = [x * grow(numbers, n) for n in numbers]
    return y, list(numbers)


CALLS = [(torch.tensor([1.0, 2.0]), array.array("i", numbers)) for numbers in ([2, 3], [3, 2], [2, 3])]

"""A number that Python draws is no tensor: with integers it makes the default type."""

import random

import torch


def f(x, y):
    a = x * random.random()
    b = y * random.random()
    twice = random.random() * 2
    return a, b, x.sum() * random.random(), y.sum() * random.random(), x + twice


CALLS = [(torch.arange(3), torch.ones(3)), (torch.arange(4), torch.ones(2))]

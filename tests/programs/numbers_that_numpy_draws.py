"""Numbers that numpy draws come from its own stream, and the stream goes on where they end."""

import numpy
import torch


def f(x, seed):
    numpy.random.seed(seed)
    total = 0.0
    for i in range(2):
        print(i, x.sum())
        total = total + numpy.random.rand(2) + numpy.random.normal(size=2)
    order = numpy.arange(4)
    numpy.random.shuffle(order)
    return x + torch.from_numpy(total), order, numpy.random.permutation(3), float(numpy.random.rand())


CALLS = [(torch.ones(2), seed) for seed in range(3)]

"""Of a number that is read from a tensor, or that is counted, and one that is drawn, comes a number."""

import random

import torch


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        print("call", self.calls)
        return x + 1, self.calls * random.random(), self.calls + random.randint(1, 5)


MODEL = Counting()


def f(is_read, x):
    if not is_read:
        return MODEL(x)
    count, total = int(x.sum()), x.sum().item()
    drawn = random.random()
    print("count", count)
    return count * drawn, count + random.randint(1, 5), drawn - total, total / random.uniform(1, 2)


CALLS = [(is_read, torch.ones(2) * k) for is_read in (True, False) for k in (1, 2, 3)]

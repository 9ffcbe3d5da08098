"""What looks like a warning is a method that does more, and stays; a print after it raises, and all runs again."""

import torch

SEEN = []


class Journal:
    def warn(self, *values):
        SEEN.append(values[0])


JOURNAL = Journal()


def halved(x, warnings=JOURNAL):
    if x.sum() > 4.0:
        warnings.warn("large", x.sum().item())
    return x / 2


def f(x):
    print("given", x.sum())
    x = halved(x)
    SEEN.append("halved")
    print("it is", x.sum(), sep=3)
    return x


CALLS = [(torch.full((3,), value),) for value in (1.0, 5.0, 5.0, 1.0)]


def state():
    return SEEN

"""Whole numbers and fractions of a module's that change: in texts, in `format`, `divmod`, `max`, and where `%` has names."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.rate = 0.5
        self.seen = []

    def forward(self, x):
        print(x.sum().item())
        try:
            texts = [f"{self.count:05d}", f"{self.count!r:>4}", f"at {self.count}", format(self.count, "x")]
            texts += ["%(n)s" % {"n": self.count}, "%d" % self.count, "%5.2f|%s" % (self.rate, self.count)]
            numbers = [divmod(self.count, 3), max(self.rate, 2), min(4, self.rate), max(3.0, self.count)]
        except TypeError as error:
            texts, numbers = repr(error), []
        self.seen.append((texts, numbers))
        self.count += 4
        self.rate *= 3
        return x * 2


f = Model()


def state():
    return f.seen


CALLS = [(torch.tensor([1.0, number]),) for number in (1.0, 2.0, 3.0, 4.0)]

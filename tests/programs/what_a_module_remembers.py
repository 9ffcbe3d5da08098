"""What a module, or an object, makes when it is first asked for is there when it is asked for again."""

import torch


class Caught(torch.nn.Module):
    def forward(self, x):
        try:
            cache = self.cache
        except AttributeError:
            cache = self.cache = x.sum()
        return x * cache


class Lazy:
    def __getattr__(self, name):
        if name != "made":
            raise AttributeError(name)
        print("made")
        self.made = 5
        return self.made


CAUGHT, LAZY = Caught(), Lazy()


def f(is_module, x):
    print("given", x.sum())
    return CAUGHT(x) if is_module else x * LAZY.made


CALLS = [(is_module, torch.tensor([number])) for is_module in (True, False) for number in (1.0, 2.0, 3.0)]


def state():
    return CAUGHT.cache, vars(LAZY)

"""What an object that is made has, as a dict, when it leaves the function; and another dict in its place."""

import torch

TORCH = (2, 13)

KEPT = []


class Options:
    def __init__(self, size):
        self.size = size
        self.names = ["a"]


class Record(dict):
    def __init__(self, **values):
        super().__init__(**values)
        self.__dict__ = self


def state():
    return KEPT


def f(x, size, which):
    for i in range(2):
        print(i, x.sum())
    options = Options(size)
    if which == "kept":
        own = vars(options)
        KEPT.append(own)
        own["later"] = i
        options.size += 1
        return x * options.later, own is options.__dict__, "size" in own, own["size"], len(own)
    if which == "shown":
        print(vars(options))
        return x, vars(options), [options.__dict__, 2], options is None
    if which == "record":
        return x, Record(size=size).size
    options.__dict__ = {"other": size}
    return x, hasattr(options, "size"), options.other, vars(options)


CALLS = [(torch.ones(2), size, which) for size in range(2) for which in ("kept", "shown", "record", "exchanged")]

"""An attribute that a list, a size or a number has not raises where it is read, and says so as Python does."""

import torch


def asked(thing):
    print("asked")
    try:
        return thing.foo
    except AttributeError as error:
        return str(error)


def f(x, way):
    told = []
    for thing in ([1], (1,), {}, {1}, x.shape, range(2), None, 3, 0.5, "a"):
        print(way)
        try:
            found = thing.foo
        except AttributeError as error:
            found = str(error)
        told.append((found, asked(thing), getattr(thing, "foo", "none"), hasattr(thing, "foo")))
    return x + 1, told


CALLS = [(torch.ones(2), "a"), (torch.ones(2), "b")]

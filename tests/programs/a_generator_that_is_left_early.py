"""Python closes a generator that nobody goes on with, and what it has in a `finally`, or at the end of a `with`, runs."""

import contextlib

import torch


def pieces(x):
    try:
        yield from x.split(1)
    finally:
        print("closed")


@contextlib.contextmanager
def told():
    print("in")
    try:
        yield
    finally:
        print("out")


def parts(x):
    with told():
        for each in x.split(1):
            yield each


def plain_parts(x):
    for each in x.split(1):
        yield each


def f(x):
    for each in pieces(x):
        if each > 1:
            break
    for other in parts(x):
        if other > 2:
            break
    print("all", all(part < 2 for part in plain_parts(x)), [part.item() for part in pieces(x)])
    return each * 2 + other


CALLS = [(torch.tensor(numbers),) for numbers in ([1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [0.0, 0.0, 0.0])]

"""A key that is made in the frame, and hashes itself by its attributes, is put into a dict from outside."""

import torch

TORCH = (2, 13)


class Name:
    def __init__(self, text):
        self.text = text

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        return isinstance(other, Name) and self.text == other.text


MADE = {}


def state():
    return [(key.text, value) for key, value in MADE.items()]


def f(x, text):
    print(x.sum())
    name = Name(text)
    if name not in MADE:
        MADE[name] = len(MADE)
    return x * MADE[name], [each.text for each in {Name(text), Name(text)}]


CALLS = [(torch.ones(2), text) for text in ("a", "b", "b", "a", "c")]

"""What an object, a dict or a tensor has not is looked for anew in each call."""

import types

import torch


class Plain:
    pass


class Slots:
    __slots__ = ("tag",)


class Table(dict):
    pass


def f(holder, x):
    print(x.sum().item())
    try:
        tag = holder.tag
    except AttributeError:
        tag = None
    return tag, x * 2


MADE = [(Plain(), Plain()), (Slots(), Slots()), (Table(a=1), Table(a=1)), (torch.ones(2), torch.ones(2))]
MADE += [(types.SimpleNamespace(), types.SimpleNamespace())]
for _, last in MADE:
    last.tag = 1
CALLS = [(each, torch.ones(2)) for pair in MADE[:3] for each in pair]
CALLS += [(each, torch.ones(3)) for pair in MADE[3:] for each in pair]

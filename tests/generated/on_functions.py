"""Operators that are given functions: activation checkpointing, `torch.cond`, own derivatives. In: a Writer."""

from __future__ import annotations

from . import effects, guards
from . import expressions as e
from .writer import Choice, Writer

HEADER = """
from torch.utils.checkpoint import checkpoint


def squashed(t):
    return torch.tanh(t) * t.sin()


def watched(t):
    if t.sum() > 6.0:
        raise ValueError(f"sum {t.sum().item():.3f}")
    return t.sin()


def clamped(t):
    if (t.abs() > 2.0).any() or torch.isnan(t).any():
        t = torch.clamp(t, min=-2.0, max=2.0)
    return t * 2


def spread(t):
    n = int((t.detach() > 0).sum())
    if n % 2:
        return t.cos() * torch.ones(n + 1).sum()
    return torch.stack([t + i for i in range(n + 1)]).sum(0)


def gathered(t):
    kept = t.detach().flatten()
    kept = kept[kept > 0.5]
    if kept.numel() > 3:
        return t * kept.sum()
    return t - kept.norm().item()


def paired(t):
    t = checkpoint(clamped, t.sin() * 3, use_reentrant=False) + t
    return watched(t) if t.max() > 0 else t


def counted(t, count):
    count.add_(1)
    return t * 2 + count


def grown(t):
    return t * 2


def shrunk(t):
    return t / 2 - 1


def dropped(t):
    return F.dropout(t, 0.5)


def bent(t):
    return (t * t.sin()).sum()


def broken(t):
    total = (t * t).sum()
    if total > 4.0:
        total = total * 0.5
    return total


class Steep(torch.autograd.Function):
    @staticmethod
    def forward(context, t):
        context.save_for_backward(t)
        return t * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * context.saved_tensors[0].cos()

"""


def on_functions(w: Writer) -> None:
    choices: list[Choice] = [(3, _checkpointed), (3, _counted), (3, _steep), (2, _slope), (1, _cond)]
    w.pick(choices)
    if w.chance(0.5):
        w.pick([(2, effects.effect), (2, guards.guard)])


def _checkpointed(w: Writer) -> None:
    # Nothing random: torch's backend eager draws it anew in the backward.
    w.use("functions.checkpoint")
    body = w.choose(["squashed", "watched", "clamped", "spread", "gathered", "paired"])
    if body != "squashed":
        w.use("functions.inside")
    w.line(f"{e.full_name(w)} = checkpoint({body}, {e.full_name(w)}, use_reentrant=False)")


def _counted(w: Writer) -> None:
    """What is changed inside is shown around it."""
    w.use("functions.changed")
    count = w.fresh("count")
    w.line(f"{count} = torch.zeros(())")
    if w.chance(0.7):
        w.line(f'print("before", {w.choose([count, f"{count}.item()"])})')
    w.line(f"{e.full_name(w)} = checkpoint(counted, {e.full_name(w)}, {count}, use_reentrant=False)")
    if w.chance(0.5):
        w.line(f'print("behind", {count})')


def _steep(w: Writer) -> None:
    w.use("functions.derivative")
    w.line(f"{e.full_name(w)} = Steep.apply({e.full_name(w)})")


def _slope(w: Writer) -> None:
    w.use("functions.transform")
    w.line(f"{e.full_name(w)} = torch.func.grad({w.choose(['bent', 'broken'])})({e.full_name(w)})")


def _cond(w: Writer) -> None:
    w.use("functions.cond")
    name, side = e.full_name(w), w.choose(["grown", "grown", "dropped"])
    w.line(f"{name} = torch.cond({e.full_name(w)}.sum() > {e.threshold(w)}, {side}, shrunk, ({name},))")

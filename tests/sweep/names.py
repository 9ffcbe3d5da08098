"""Tensors with several names: how one gets another, what is done to it by that, and what then shows by both, drawn at
random, with mends in between. In: a number of programs. Out: an exit status; each program that is another mended."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from graphmend._mending.compile import compile as mended_compile

from .observed import go_through, load, told

NAMES = """
p = x
p = x + 0
p = x.view(-1)
p = x[0]
p = x.t()
p = x.detach()
p = x.add_(1)
p = x.contiguous()
p = x.type_as(y)
p = x.expand(2, *x.shape)
p, q = x.unbind()[:2]
p = x.clone(); q = p; p += 1; y = q
p = torch.zeros(2, 2); p[0] = x[0]
p = torch.nn.Parameter(x.detach())
p = x if s > 1 else y
p = x + 1 if s > 1 else y
p = x + 1 if s > 1 else y * 2
p = (x + 1).t() if s > 1 else y * 2
p = self.kept
p = self.weight
p = self.buf
"""

CHANGES = """
pass
p.tag = 1
x.tag = p
setattr(p, 'tag', 'a')
self.kept.tag = s
p.requires_grad_()
p = p.requires_grad_(False) if p.is_leaf else p
p.register_hook(lambda g: g * 2) if p.requires_grad else None
p.retain_grad() if p.requires_grad else None
p.detach_()
p.mul_(2)
p += y.sum()
p.zero_()
p[0] = 1
p.copy_(y)
p.clamp_(min=self.buf.mean().item())
p.fill_(s.item())
p.uniform_()
p.index_fill_(0, torch.tensor([0]), 2.0)
p.masked_fill_(p > 0, 1.0)
torch.add(p, 1, out=p)
torch.nn.init.ones_(p)
with torch.no_grad(): p.add_(1)
p.data = p.data * 2
x.data.mul_(2)
self.weight.data.add_(1)
p.grad = torch.ones_like(p)
p.t_()
p.swapaxes_(0, -1)
p.unsqueeze_(0)
p.squeeze_()
self.kept = p
self.kept = p.add_(1)
self.kept += 1
p = self.kept = p * 2
self.buf = p.detach()
self.buf.add_(p.sum().detach())
self.buf, p = p, self.buf
x.add_(1)
y.mul_(p)
del p; p = x * 3
x = p; x = x * 2
p = p.to(torch.float64)
p = p.contiguous()
p = p.type_as(y)
p = p.masked_fill(p > 0, 1.0)
p = torch.no_grad()(lambda t: t * 2)(p)
d = {p: 1}; found = x in d, p in d
p.backward(torch.ones_like(p)) if p.requires_grad and p.grad_fn is not None else None
"""

QUESTIONS = """
f'{p}', f'{x}'
print(p, x.tolist()), 1
repr(p)[:9], str(x.shape)
hasattr(x, 'tag'), hasattr(p, 'tag'), getattr(y, 'tag', 0), hasattr(self.kept, 'tag')
p.tag if hasattr(p, 'tag') else x.tag
p.missing
p is x, p is y, p is self.kept, x is y
id(p) == id(x), [*map(id, (p, x))][0] == id(p)
self.buf is p, self.buf.tolist()
copy.copy(p) is p, copy.deepcopy(p.detach()) is p
p in [x]
len({p, x, y})
p.is_leaf, p.requires_grad, x.requires_grad
type(p.grad_fn).__name__ if p.grad_fn is not None else None
p._base is None, p._is_view()
p.grad, x.grad
torch.autograd.grad(p.sum(), x, allow_unused=True) if p.requires_grad and x.requires_grad and p is not x else 0
p.data_ptr() == x.data_ptr()
p.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
p.stride(), p.storage_offset(), p.is_contiguous()
[t.shape for t in (p, x, y)]
p.is_inference(), type(p).__name__
p.layout, p.device, p.dtype
p.tolist(), x.mean().item()
p.numpy() if not p.requires_grad else 0
p == x, torch.equal(p, y) if p.shape == y.shape else 0
bool(p.sum() > 0), int(x.sum())
next(iter(p)), list(x)[0]
[t for t in p.view(-1)][0]
p.sum() * 2, x * 2, y
(lambda: p)()
"""

MENDS = {
    "none": "pass",
    "print": "print('at', x.sum().item())",
    "shows": "print('p', p)",
    "check": "if s > 100:\n    raise ValueError('s')",
    "select": "if s > 1.2:\n    z = y + 1\nelse:\n    z = y * 2",
}

HEAD = """
import copy
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.ones(2, 2)
        self.weight = torch.nn.Parameter(torch.ones(2, 2))
        self.register_buffer('buf', torch.ones(2, 2))

    def forward(self, x, y, s):
"""

CALLS = (0, 1, 2, 3, 2)

# Its lines, whether inputs require grad, whether values are predicted, the backend.
Task = tuple[tuple[str, ...], bool, bool, str]


def draw(chance: random.Random, changes: int, backend: str) -> Task:
    name, question = (chance.choice(each.strip().splitlines()) for each in (NAMES, QUESTIONS))
    lines = [name, *chance.choices(CHANGES.strip().splitlines(), k=changes)]
    body = [part for line in lines for part in (chance.choice(list(MENDS.values())), *line.split("; "))]
    ends = chance.choice(list(MENDS.values())), f"r = {question}", "return r, p * 2"
    # `p` is not there yet.
    body[0] = body[0].replace("print('p', p)", "pass")
    return (*body, *ends), chance.random() < 0.5, chance.random() < 0.5, backend


def inputs(k: int, requires_grad: bool) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(k)
    leaf = torch.randn(2, 2, requires_grad=requires_grad)
    x = leaf * 1 if requires_grad and k % 2 else leaf
    return x, x if k == 1 else torch.randn(2, 2), torch.tensor([0.5, 1.5, 2.5, 1.0][k])


def calls(compiled: Callable[[Any], Any], path: Path, requires_grad: bool) -> list[str]:
    """All that can be seen of a program's calls."""
    model = load(path).Model()
    call, seen = compiled(model), []
    for k in CALLS:
        args = inputs(k, requires_grad)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = call(*args)
                told_of = told(result), _backward(result[1])
            except Exception as error:
                told_of = "raised", f"{type(error).__name__} {error}"
        tensors = (*args, model.kept, model.weight, model.buf)
        states = [(told(each), "tag" in vars(each)) for each in tensors]
        seen.append(str((told_of, printed.getvalue(), states, torch.is_grad_enabled())))
        torch.set_grad_enabled(True)
    torch._dynamo.reset()
    return seen


def _backward(result: torch.Tensor) -> str:
    try:
        result.sum().backward()
    except RuntimeError as error:
        return type(error).__name__
    return "done"


def judge(task: Task) -> str | None:
    lines, requires_grad, speculate, backend = task
    text = textwrap.indent("\n".join(lines), " " * 8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "swept.py"
        path.write_text(HEAD.lstrip() + text + "\n", encoding="utf-8")
        expected = calls(lambda model: model, path, requires_grad)
        seen = calls(lambda model: mended_compile(model, backend=backend, speculate=speculate), path, requires_grad)
        if seen == expected:
            return None
        plain = calls(lambda model: torch.compile(model, backend=backend), path, requires_grad)
    first = next(k for k in range(len(CALLS)) if expected[k] != seen[k])
    if plain[first] == seen[first] or _is_committed(expected[first], seen[first]):
        return ""
    says = f"  eager  {expected[first]}\n  mended {seen[first]}\n  plain  {plain[first]}"
    return f"requires grad: {requires_grad}, speculate={speculate}, call {first}\n{text}\n{says}"


def _is_committed(expected: str, seen: str) -> bool:
    """Whether all that differs is that an input which was changed in place says so: see the list of known ones."""
    words, others = (text.replace("\\n", " ").split() for text in (expected, seen))
    pairs = list(zip(words, others, strict=False))
    return len(words) == len(others) and all(one == other or "CopyBackwards" in other for one, other in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep.names", description=sys.modules[__name__].__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--changes", type=int, default=1, help="things done to a tensor in a program (1)")
    parser.add_argument("--backend", default="eager", help="of torch.compile (eager)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    every = [draw(chance, options.changes, options.backend) for _ in range(options.programs)]
    own, torchs = go_through(judge, every, options.jobs)
    print(f"{len(every)} programs: {own} other than eager; {torchs} more as plain torch.compile has them")
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())

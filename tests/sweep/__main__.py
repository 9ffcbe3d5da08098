"""The command line. In: the lists. Out: an exit status; each expression on which mended is another than eager."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphmend._mending.compile import compile as mended_compile

from .observed import go_through, load, told

HERE = Path(__file__).parent
HEAD = """
import collections, contextlib, copy, functools, itertools, json, logging, math, operator, os, random, string, sys
import numpy as np
import torch
"""

# Where an expression stands. `x`, `s`, `i`, `b` are tensors; `n` is a number that changes; `t` is true or false, `f`
# a fraction and `l` a list of two whole numbers, which are read from a tensor.
PLACES = {
    "try": """
        print("at", x.sum().item())
        try:
            r = EXPRESSION
        except Exception as error:
            r = type(error).__name__, str(error)
        return r, x * 2""",
    "select": """
        if x.sum() > 3:
            r = EXPRESSION
            y = x + 1
        else:
            r = 0
            y = x * 2
        return r, y""",
    "after": """
        if x.sum() > 3:
            x = x + 1
        else:
            x = x * 2
        s, b = x.sum(), x > 1
        r = EXPRESSION
        return r, x""",
    "print": """
        print("it is", EXPRESSION, x.sum().item())
        return x * 2""",
    "check": """
        r = EXPRESSION
        if x.max() > 5:
            raise ValueError(r)
        return r, x * 2""",
    "operand": """
        if x.sum() > 3 and (EXPRESSION) is not None:
            raise ValueError("both")
        return x * 2""",
}

AROUND: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "none": contextlib.nullcontext,
    "grad": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "device": lambda: torch.device("cpu"),
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
}

# Where the number comes from, for the list of numbers.
NUMBERS = {"attribute": "self.n", "shape": "x.shape[0] - 4", "argument": "k", "read": "int(x[0].item()) - 1"}

# How what is read from a tensor is read.
READ = {
    "truths": "t = (x.sum() > 5).item()",
    "fractions": "f = x.mean().item() * 1.1",
    "lists": "l = (x[:2].long() * torch.tensor([1, 0])).tolist()",
}

ROWS = [[1.0, 2.0, 0.5, -1.0], [2.0, 0.0, 3.0, -0.25], [1.0, 7.0, 0.1, 2.0], [0.0, 0.5, -1.0, 1.0]]
CALLS = (0, 1, 2, 3, 0)


def inputs(k: int, kind: str, requires_grad: bool) -> tuple[Any, ...]:
    torch.manual_seed(k)
    random.seed(k)
    np.random.seed(k)
    if kind != "tensors":
        return torch.full((4 + k,), 1.0 + k, requires_grad=requires_grad), k
    x = torch.tensor(ROWS[k], requires_grad=requires_grad)
    numbers = torch.tensor([1.5, 3.25, -0.5, 2.0]), torch.tensor([1, 2, 0, 3])
    return x, numbers[0][k].clone(), numbers[1][k].clone(), x.detach() > 0.5


def program(kind: str, expression: str, place: str, number: str) -> str:
    body = textwrap.dedent(PLACES[place]).strip().replace("EXPRESSION", expression)
    taken = "x, s, i, b" if kind == "tensors" else "x, k"
    first = f"{READ[kind]}\n" if kind in READ else ""
    if kind == "numbers":
        first = f"n = {number}\ns, b = x.sum(), x > 1\nself.n += 1\n"
    method = f"def forward(self, {taken}):\n" + textwrap.indent(first + body, "    ")
    start = "def __init__(self):\n    super().__init__()\n    self.n = 0\n"
    return HEAD + "class Model(torch.nn.Module):\n" + textwrap.indent(start + method, "    ") + "\n"


def calls(compiled: Callable[[Any], Any], path: Path, kind: str, around: str) -> list[Any]:
    """All that can be seen of a program's calls."""
    call, seen = compiled(load(path).Model()), []
    for k in CALLS:
        args = inputs(k, kind, around in ("grad", "no_grad", "inference"))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with AROUND[around]():
                    result = told(call(*args))
            except Exception as error:
                result = "raised", type(error).__name__, str(error)
        seen.append((result, printed.getvalue(), told(args), told(torch.get_rng_state()), random.random()))
    torch._dynamo.reset()
    return seen


Task = tuple[str, str, str, str, str, str, bool]


def judge(task: Task) -> str | None:
    """What is to be said of one expression in one place."""
    kind, expression, place, around, number, backend, speculate = task
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "swept.py"
        path.write_text(program(kind, expression, place, NUMBERS.get(number, "")), encoding="utf-8")
        expected = calls(lambda model: model, path, kind, around)
        seen = calls(lambda model: mended_compile(model, backend=backend, speculate=speculate), path, kind, around)
        if seen == expected:
            return None
        plain = calls(lambda model: torch.compile(model, backend=backend), path, kind, around)
    if plain == seen:
        return ""
    first = next(k for k in range(len(CALLS)) if expected[k] != seen[k])
    part = next(k for k in range(len(expected[first])) if expected[first][k] != seen[first][k])
    options = f"{place}, {around}, {number}, {backend}, speculate={speculate}"
    return f"{expression}   ({options}) call {first}\n  eager  {expected[first][part]}\n  mended {seen[first][part]}"


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    for kind, sources in (("tensors", ["none"]), ("numbers", options.numbers), *((kind, ["none"]) for kind in READ)):
        for expression in (HERE / f"{kind}.txt").read_text(encoding="utf-8").splitlines():
            for place in options.places:
                for around in options.around:
                    for number in sources:
                        yield kind, expression, place, around, number, options.backend, options.speculate


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=sys.modules["tests.sweep"].__doc__)
    parser.add_argument("--places", nargs="+", choices=PLACES, default=list(PLACES), help="where an expression stands")
    parser.add_argument("--around", nargs="+", choices=AROUND, default=["none"], help="what a call is made in")
    parser.add_argument("--numbers", nargs="+", choices=NUMBERS, default=["attribute"], help="where numbers come from")
    parser.add_argument("--backend", default="eager", help="eager, aot_eager, inductor (eager)")
    parser.add_argument("--speculate", action="store_true", help="predict values as well")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    every = list(tasks(options))
    own, torchs = go_through(judge, every, options.jobs)
    print(f"{len(every)} in places: {own} other than eager; {torchs} more as plain torch.compile has them")
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())

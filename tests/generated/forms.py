"""Whole programs. In: a seed. Out: the text of a module with `build`, `CALLS` and `SETTINGS`, and its features.

The text is all there is: a saved program runs again from its file alone (see run.py).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from . import asides, effects, guards, recurrent, shadows, speculation, told
from . import expressions as e
from . import statements as s
from .meters import HEADER as METERS
from .meters import meter
from .writer import Frame, Writer

_HEADER = """\
import contextlib
import logging
import math
import random
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("generated.model")
ADAPTER = logging.LoggerAdapter(logging.getLogger("generated.adapter"), {"who": "adapter"})
STATE = {"calls": 0, "seen": []}


class GivenError(Exception):
    def __init__(self, *args, code=0):
        super().__init__(*args)
        self.code = code


class GivenWarning(UserWarning):
    pass


class Tag:
    def __str__(self):
        return "tag %d" % STATE["calls"]


TAG = Tag()


def make_error(t):
    return GivenError("made", float(t.sum()))
"""

# Statements of a program's function, blocks counted as one.
LARGEST = 6

CONTEXTS = ["none", "no_grad", "inference_mode", "autocast", "enable_grad", "device"]


@dataclass(frozen=True)
class Program:
    """A program's text, and what it is made of."""

    name: str
    text: str
    features: Counter[str]


def generate(seed: int, index: int, speculate: bool = False, has_asides: bool = True, size: int = LARGEST) -> Program:
    """Program `index` of `seed`; the same text every time. `speculate`: with values that Python needs of tensors;
    `has_asides`: with the statements of asides.py between the others; `size`: how many steps its function may have."""
    name = f"{'s' if speculate else 'p'}{seed}_{index}"
    w = Writer(Random(f"graphmend {'speculate ' if speculate else ''}{seed} {index}"), speculate)
    w.lines = (_HEADER + METERS + asides.HEADER).split("\n")
    w.aside = Random(f"meters {seed} {index}")
    w.has_asides = has_asides
    shadows.shadow(w)
    form = w.random.choices(["module", "function", "closure", "method"], [6, 2.5, 1, 1])[0]
    w.use(f"form.{form}")
    arity = w.random.choice([1, 1, 2])
    grad_inputs = w.chance(0.35)
    names = ["x", "y"][:arity]
    frozen = set(names) if grad_inputs and w.chance(0.7) else set()
    helpers, talkers = _helpers(w)
    frame = Frame(names=dict.fromkeys(names, "full"), helpers=helpers, talkers=talkers, frozen=set(frozen))
    steps = min(size, w.random.choice([1, 2, 2, 3, 3, 4, 5, LARGEST]))
    if speculate:
        steps += 1
        more, frame.takers = speculation.helpers(w)
        frame.helpers += more
        names.append("k")
        frame.names["k"] = "counts"
    nested = w.chance(0.04) and form != "closure"
    writers = {"module": _module, "function": _function, "closure": _closure, "method": _method}
    target = writers[form](w, frame, names, steps)
    w.line()
    with w.block("def build():"):
        w.line(f"global TICKS\nTICKS = 0\n{told.FORGET}")
        w.line('STATE.clear()\nTALLY.count = 0\nSTATE.update({"calls": 0, "seen": []})')
        w.line(target)
        if nested:
            w.use("nested.compile")
            w.line("inner = COMPILE(target)")
            with w.block(f"def target({', '.join(names)}):"):
                w.line(f"first = inner({', '.join(names)})")
                if w.chance(0.5):
                    w.line('print("between", type(first).__name__)')
                w.line("return first")
        w.line("return target, owner")
    w.line()
    _calls(w, form, arity, frozen, grad_inputs)
    return Program(name, "\n".join(w.lines) + "\n", w.features)


def _helpers(w: Writer) -> tuple[list[str], list[str]]:
    helpers: list[str] = []
    talkers: list[str] = []
    while w.chance(0.45) and len(helpers) < 2:
        name = w.fresh("helper")
        w.line()
        if w.chance(0.08):
            w.use("helper.decorated")
            w.line("@torch.no_grad()")
        frame = Frame(names={"t": "full"}, helpers=list(helpers), talkers=list(talkers), frozen={"t"})
        with w.function(frame, f"def {name}(t{w.choose(['', ', scale=2.0', ', *rest', ', **options'])}):"):
            s.body(w, w.random.randint(1, 2))
            w.line(f"return {e.full(w, 1)}")
        helpers.append(name)
    while w.chance(0.3) and len(talkers) < 2:
        name = w.fresh("talk")
        w.line()
        frame = Frame(names={"t": "full"}, can_return=False, frozen={"t"})
        with w.function(frame, f"def {name}(t):"):
            for _ in range(w.random.randint(1, 2)):
                w.pick([(3, effects.effect), (1.5, guards.guard), (0.5, s.count)])
        talkers.append(name)
    return helpers, talkers


def _fields(w: Writer) -> None:
    w.line("self.count = 0\nself.step_size = 1\nself.items = [1]\nself.table = {}\nself.flag = False\nself.last = None")
    w.line('self.__secret = 3\nself.log = logging.getLogger("generated.field")')


def _base_class(w: Writer, base: str) -> None:
    w.line()
    with w.block(f"class Base({base}):" if base else "class Base:"), w.block("def describe(self):"):
        w.line('return "base %d" % self.count')


def _methods(w: Writer, frame: Frame, is_module: bool) -> None:
    with w.block("@property\ndef twice(self):"):
        w.line("return self.count * 2")
    while w.chance(0.35) and len(frame.helpers) < 4:
        name = w.fresh("part")
        inner = Frame(names={"t": "full"}, has_self=True, is_module=is_module, in_class=True, frozen={"t"})
        w.line()
        with w.function(inner, f"def {name}(self, t):"):
            s.body(w, w.random.randint(1, 2))
            w.line(f"return {e.full(w, 1)}")
        frame.helpers.append(f"self.{name}")
        w.use("class.method")


def _run(w: Writer, frame: Frame, header: str, size: int) -> None:
    with w.function(frame, header):
        if w.chance(0.1):
            w.line('"""What it does."""')
        meter(w, "x")
        s.body(w, size)
        w.line(f"return {s.result(w)}")


def _module(w: Writer, frame: Frame, names: list[str], size: int) -> str:
    _base_class(w, "nn.Module")
    w.line()
    with w.block("class Model(Base):"):
        with w.block("def __init__(self):"):
            w.line("super().__init__()")
            norm = w.choose(["nn.BatchNorm1d(4)", "nn.BatchNorm1d(4)", "nn.LayerNorm(4)"])
            w.line(
                f"self.linear = nn.Linear(4, 4)\nself.norm = {norm}\nself.drop = nn.Dropout(0.5)\nself.act = nn.GELU()"
            )
            w.line('self.weight = nn.Parameter(torch.rand(4))\nself.register_buffer("buf", torch.zeros(4))')
            w.line('self.register_buffer("steps", torch.zeros((), dtype=torch.long))')
            _fields(w)
            frame.recurrent = recurrent.add_layer(w)
        w.line()
        _methods(w, frame, is_module=True)
        w.line()
        frame.has_self = frame.is_module = frame.in_class = True
        _run(w, frame, f"def forward(self, {', '.join(names)}):", size)
    if w.chance(0.25):
        w.use("module.eval")
        return "target = owner = Model().eval()"
    return "target = owner = Model()"


def _function(w: Writer, frame: Frame, names: list[str], size: int) -> str:
    w.line()
    _run(w, frame, f"def run({', '.join(names)}):", size)
    return "target, owner = run, None"


def _closure(w: Writer, frame: Frame, names: list[str], size: int) -> str:
    w.line()
    with w.block("def make():"):
        w.line("total = 0\nscale = torch.tensor([1.0, 2.0, 0.5, -1.0])")
        frame.nonlocals = ["total"]
        frame.names |= {"total": "int", "scale": "row"}
        with w.function(frame, f"def run({', '.join(names)}):"):
            w.line("nonlocal total")
            meter(w, "x")
            s.body(w, size)
            w.line(f"return {s.result(w)}")
        w.line("return run")
    return "target = make()\nowner = target.__closure__"


def _method(w: Writer, frame: Frame, names: list[str], size: int) -> str:
    _base_class(w, "")
    w.line()
    with w.block("class Runner(Base):"):
        with w.block("def __init__(self):"):
            _fields(w)
        w.line()
        _methods(w, frame, is_module=False)
        w.line()
        frame.has_self = frame.in_class = True
        _run(w, frame, f"def run(self, {', '.join(names)}):", size)
    return "owner = Runner()\ntarget = owner.run"


def _calls(w: Writer, form: str, arity: int, frozen: set[str], grad_inputs: bool) -> None:
    """CALLS: per call the inputs, the context around it, and what changes before it."""
    backward = w.chance(0.5)
    if backward:
        w.use("backward")
    context = w.choose(CONTEXTS) if w.chance(0.25) else "none"
    shapes = [(3, 4)] if w.chance(0.85) else [(3, 4), (5, 4), (2, 4)]
    if len(shapes) > 1:
        w.use("shapes.change")
    settings = {
        "filter": w.random.choices(["always", "default", "error"], [6, 3, 0.4])[0],
        "backward": backward,
        "dtype": w.random.choices(["float32", "float64"], [9, 1])[0],
        "level": w.choose(["DEBUG", "DEBUG", "INFO", "WARNING"]),
        "dynamic": w.random.choices([None, True, False], [9, 0.5, 0.5])[0],
    }
    w.use(f"filter.{settings['filter']}")
    w.line(f"SETTINGS = {settings!r}")
    w.line("# Per call: the inputs (kind, shape, scale, shift, seed), the context around it, what is set before it.")
    with w.block("CALLS = ["):
        made: dict[int, list[tuple[str, tuple[int, ...], float, float, int]]] = {}
        for kind in _kinds(w) if w.speculates else range(w.random.choice([3, 4, 4, 5])):
            if kind not in made:
                made[kind] = _arguments(w, kind, w.random.choice(shapes), arity, frozen, grad_inputs)
                if w.speculates and made.keys() - {kind} and w.chance(0.3):
                    w.use("inputs.counts_only")
                    made[kind][:-1] = next(iter(made.values()))[:-1]
            around = w.choose(CONTEXTS) if w.chance(0.05) else context
            w.use(f"context.{around}")
            before: dict[str, object] = {}
            if w.chance(0.06):
                before["level"] = w.choose(["DEBUG", "WARNING", "CRITICAL"])
                w.use("before.level")
            if form == "module" and w.chance(0.06):
                before["train"] = w.chance(0.5)
                w.use("before.train")
            if form in ("module", "method") and w.chance(0.06):
                before["set"] = {"flag": w.chance(0.5), "count": 10}
                w.use("before.set")
            before.update(_beside(w, form))
            w.line(f"({made[kind]!r}, {around!r}, {before!r}),")
    w.line("]")


def _beside(w: Writer, form: str) -> dict[str, object]:
    """How else a call differs from the others; the rest of the program stays the same without."""
    if not w.has_asides or w.aside.random() > 0.08:
        return {}
    choices: list[tuple[str, object]] = [("thread", True), ("stance", "force_eager"), ("stance", "eager_on_recompile")]
    choices += [("again", True)]
    if form == "module":
        choices += [("load", True), ("copy", "deep"), ("copy", "pickle")]
    key, value = w.aside.choice(choices)
    if value == "eager_on_recompile" and w.features["functions.cond"]:
        # In eager too, `torch.cond` compiles its functions, and without that its backward raises a TypeError: what
        # comes then hangs on who has compiled them before.
        value = "force_eager"
    w.use(f"before.{key}")
    return {key: value}


def _arguments(
    w: Writer, number: int, shape: tuple[int, ...], arity: int, frozen: set[str], grad_inputs: bool
) -> list[tuple[str, tuple[int, ...], float, float, int]]:
    """How the inputs of a call are made (run.py)."""
    arguments: list[tuple[str, tuple[int, ...], float, float, int]] = []
    for position in range(arity):
        kind = w.random.choices(["plain", "transposed", "constant", "nan"], [8, 0.5, 0.7, 0.3])[0]
        if grad_inputs:
            kind = "leaf" if frozen else "nonleaf"
        if position == 1 and w.chance(0.04) and not grad_inputs:
            kind = w.choose(["alias", "view"])
        w.use(f"input.{kind}")
        scale, shift = w.random.choice([1.0, 2.0, 0.5]), w.random.choice([-2.0, -0.5, 0.0, 0.5, 2.0])
        arguments.append((kind, shape, scale, shift, number * 10 + position))
    if w.speculates:
        arguments.append(("counts", (3,), w.random.choice([1.0, 3.0, 4.0]), 0.0, number * 10 + 9))
    return arguments


def _kinds(w: Writer) -> list[int]:
    """Which inputs each of ten calls has: predictions are right for a while, now and then, or never."""
    pattern = w.random.choices(["repeat", "alternate", "blocks", "change"], [5, 2, 2, 1.5])[0]
    w.use(f"inputs.{pattern}")
    if pattern == "repeat":
        return w.random.choices([0, 1, 2], [7, 2, 1], k=10)
    if pattern == "alternate":
        return [number % 2 for number in range(10)]
    return [number // 3 if pattern == "blocks" else number for number in range(10)]

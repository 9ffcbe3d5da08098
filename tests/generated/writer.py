"""Writes one program's text. In: random choices. Out: lines, the names in scope, and the features that were used.

What can be written is said in expressions.py, effects.py, guards.py, statements.py and forms.py.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

# A choice is (weight, what to do); weights need not add up to anything.
Choice = tuple[float, Callable[["Writer"], str | None]]


@dataclass
class Frame:
    """The function being written: what its body may use."""

    # Names that are certainly bound here, by kind: full (rows, columns), row, scalar, mask, int, items, text;
    # in programs that speculate also counts (small ints, 1-d), real, numbers (a list), ragged (of any shape).
    names: dict[str, str] = field(default_factory=dict)
    # `self` is there, with the attributes that forms.py gives it.
    has_self: bool = False
    # An nn.Module: parameters, buffers, submodules.
    is_module: bool = False
    # In a class with a base: `super()` and private names work.
    in_class: bool = False
    # Names of an enclosing function that can be read, and rebound with nonlocal.
    nonlocals: list[str] = field(default_factory=list)
    # Inputs that must not be changed in place, because they are leaves that require a gradient.
    frozen: set[str] = field(default_factory=set)
    # Functions, by name, that take one full tensor and return one.
    helpers: list[str] = field(default_factory=list)
    # Functions that take a full tensor, talk or raise, and return nothing.
    talkers: list[str] = field(default_factory=list)
    # Functions that take a full tensor and return a small Python int that hangs on its value.
    takers: list[str] = field(default_factory=list)
    can_return: bool = True
    loops: int = 0
    # `self.cell` is there (recurrent.py).
    recurrent: bool = False
    # `global TICKS` stands in it already.
    counts_ticks: bool = False


class Writer:
    """Text under construction."""

    def __init__(self, random: Random, speculates: bool = False) -> None:
        self.random = random
        # For what is drawn beside the rest, which stays what it is without.
        self.aside = Random()
        # Whether there is anything of that but meters (asides.py).
        self.has_asides = True
        # Whether Python may need the values of tensors beyond tests and texts (speculation.py).
        self.speculates = speculates
        self.features: Counter[str] = Counter()
        self.lines: list[str] = []
        self.depth = 0
        self.frame = Frame()
        self.budget = 0
        self._fresh = 0

    def use(self, feature: str) -> None:
        """Counts a construct, so that a run can say what it covered."""
        self.features[feature] += 1

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, choices: Sequence[str]) -> str:
        return self.random.choice(choices)

    def pick(self, choices: Sequence[Choice]) -> str | None:
        """Does one of the choices."""
        weights = [weight for weight, _ in choices]
        return self.random.choices([act for _, act in choices], weights)[0](self)

    def pick_text(self, choices: Sequence[Choice]) -> str:
        """Does one of the choices that all give text."""
        text = self.pick(choices)
        assert text is not None
        return text

    def line(self, text: str = "") -> None:
        for part in text.split("\n"):
            self.lines.append("    " * self.depth + part if part else "")

    @contextlib.contextmanager
    def block(self, header: str) -> Iterator[None]:
        """A header and an indented body, which gets a `pass` when nothing is written into it."""
        self.line(header)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def fresh(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}{self._fresh}"

    def bind(self, name: str, kind: str) -> None:
        self.frame.names[name] = kind

    def names(self, kind: str) -> list[str]:
        return [name for name, of in self.frame.names.items() if of == kind]

    @contextlib.contextmanager
    def branch(self, into: list[dict[str, str]]) -> Iterator[None]:
        """One side of a branch: what it binds is collected, and forgotten at its end."""
        before, frozen = dict(self.frame.names), set(self.frame.frozen)
        yield
        into.append(self.frame.names)
        self.frame.names = before
        self.frame.frozen |= frozen

    def join(self, sides: list[dict[str, str]]) -> None:
        """After a branch: a name is bound when every side that falls through binds it."""
        if sides:
            self.frame.names = {
                name: kind for name, kind in sides[0].items() if all(side.get(name) == kind for side in sides)
            }

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """What is drawn here leaves the draws of the rest, and the names it may use, as they are without."""
        names, frozen = dict(self.frame.names), set(self.frame.frozen)
        self.random, self.aside = self.aside, self.random
        yield
        self.random, self.aside = self.aside, self.random
        self.frame.names, self.frame.frozen = names, frozen

    @contextlib.contextmanager
    def function(self, frame: Frame, header: str) -> Iterator[None]:
        outer, self.frame = self.frame, frame
        with self.block(header):
            yield
        self.frame = outer

    def call(self, callee: str, arguments: Sequence[str]) -> str:
        """A call, now and then over several lines, as people write long ones."""
        if len(arguments) > 1 and self.chance(0.12):
            self.use("layout.multiline")
            return f"{callee}(\n    " + ",\n    ".join(arguments) + ",\n)"
        if arguments and self.chance(0.04):
            self.use("layout.multiline")
            return f"{callee}(\n    {', '.join(arguments)})"
        return f"{callee}({', '.join(arguments)})"

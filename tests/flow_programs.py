"""Random small functions for tests of data flow; flow_recorder.py runs them.

Tests, items and exceptions come from functions that the program calls (`test`, `items`, `may_raise`, …), so that one
program takes many paths.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NAMES = ("a", "b", "p", "q", "r", "s")
PARAMETERS = ("a", "b")


@dataclass
class _Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    functions: int = 0
    # Statements still to come; few are enough to go wrong, and easier to read.
    budget: int = 30

    def name(self) -> str:
        return self.rng.choice(NAMES)

    def value(self, depth: int = 0) -> str:
        choice = self.rng.random()
        if choice < 0.4 or depth > 2:
            return self.name()
        if choice < 0.5:
            return str(self.rng.randrange(3))
        if choice < 0.65:
            return f"{self.value(depth + 1)} + {self.value(depth + 1)}"
        if choice < 0.72:
            return f"may_raise({self.value(depth + 1)})"
        if choice < 0.78:
            return f"({self.name()} := {self.value(depth + 1)})"
        if choice < 0.83:
            return f"({self.value(depth + 1)} if test() else {self.value(depth + 1)})"
        if choice < 0.87:
            return f"(test() and {self.value(depth + 1)})"
        if choice < 0.90:
            return f"({self.value(depth + 1)} < {self.value(depth + 1)} < {self.value(depth + 1)})"
        if choice < 0.94:
            return f"sum([{self.value(depth + 1)} + x for x in items() if {self.value(depth + 1)}])"
        if choice < 0.97:
            return f"sum({self.name()} + x for x in items())"
        return "len(locals())"

    def condition(self) -> str:
        choice = self.rng.random()
        if choice < 0.4:
            return "test()"
        if choice < 0.6:
            return f"test() and {self.value(1)}"
        if choice < 0.75:
            return f"not test() or ({self.name()} := {self.value(1)}) and test()"
        return self.value(1)

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, loop: bool, depth: int) -> None:
        for _ in range(self.rng.randint(1, 3) if self.budget > 0 else 1):
            self.statement(indent, loop, depth)

    def statement(self, indent: int, loop: bool, depth: int) -> None:
        self.budget -= 1
        if depth < 4 and self.budget > 0 and self.rng.random() < 0.5:
            kinds = (self.if_, self.while_, self.for_, self.try_, self.try_, self.with_, self.match)
            self.rng.choice(kinds)(indent, loop, depth + 1)
        else:
            self.simple(indent, loop)

    def simple(self, indent: int, loop: bool) -> None:
        choice = self.rng.random()
        if choice < 0.45:
            self.line(indent, f"{self.name()} = {self.value()}")
        elif choice < 0.53:
            self.line(indent, f"{self.name()} += {self.value()}")
        elif choice < 0.58:
            self.line(indent, f"{self.name()}, {self.name()} = {self.value()}, {self.value()}")
        elif choice < 0.62:
            self.line(indent, f"del {self.name()}")
        elif choice < 0.70:
            self.line(indent, f"may_raise({self.value()})")
        elif choice < 0.73:
            self.line(indent, f"assert test(), {self.name()}")
        elif choice < 0.76:
            self.line(indent, self.rng.choice(("raise FirstError", "raise SecondError")))
        elif choice < 0.79:
            self.line(indent, f"return {self.value()}")
        elif choice < 0.88 and loop:
            self.line(indent, self.rng.choice(("break", "continue")))
        elif choice < 0.91:
            self.closure(indent)
        elif choice < 0.93:
            self.line(indent, f"{self.name()} = lambda: {self.name()}")
        elif choice < 0.96:
            self.line(indent, f"call({self.name()})")
        else:
            self.line(indent, "pass")

    def closure(self, indent: int) -> None:
        self.functions += 1
        self.line(indent, f"def g{self.functions}():")
        name = self.name()
        if self.rng.random() < 0.4 and name not in PARAMETERS:
            self.line(indent + 1, f"nonlocal {name}")
            self.line(indent + 1, f"{name} = 1")
        else:
            self.line(indent + 1, f"return {name}")
        if self.rng.random() < 0.7:
            self.line(indent, f"call(g{self.functions})")

    def if_(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, f"if {self.condition()}:")
        self.block(indent + 1, loop, depth)
        if self.rng.random() < 0.3:
            self.line(indent, f"elif {self.condition()}:")
            self.block(indent + 1, loop, depth)
        if self.rng.random() < 0.4:
            self.line(indent, "else:")
            self.block(indent + 1, loop, depth)

    def else_of_loop(self, indent: int, loop: bool, depth: int) -> None:
        if self.rng.random() < 0.3:
            self.line(indent, "else:")
            self.block(indent + 1, loop, depth)

    def while_(self, indent: int, loop: bool, depth: int) -> None:
        if self.rng.random() < 0.3:
            # Ends when the program has run for long enough.
            self.line(indent, "while True:")
            self.line(indent + 1, "if not test():")
            self.line(indent + 2, "break")
        else:
            self.line(indent, f"while test() and {self.value(1)}:")
        self.block(indent + 1, True, depth)
        self.else_of_loop(indent, loop, depth)

    def for_(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, f"for {self.name()} in items():")
        self.block(indent + 1, True, depth)
        self.else_of_loop(indent, loop, depth)

    def try_(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, "try:")
        self.block(indent + 1, loop, depth)
        handlers = self.rng.randint(0, 2)
        for _ in range(handlers):
            caught = self.rng.choice(("FirstError", "SecondError", "Exception", "(FirstError, SecondError)"))
            bound = f" as {self.name()}" if self.rng.random() < 0.4 else ""
            self.line(indent, f"except {caught}{bound}:")
            self.block(indent + 1, loop, depth)
        if handlers and self.rng.random() < 0.3:
            self.line(indent, "else:")
            self.block(indent + 1, loop, depth)
        if not handlers or self.rng.random() < 0.5:
            self.line(indent, "finally:")
            self.block(indent + 1, loop, depth)

    def with_(self, indent: int, loop: bool, depth: int) -> None:
        items = []
        for _ in range(self.rng.randint(1, 2)):
            items.append("manager()" + (f" as {self.name()}" if self.rng.random() < 0.6 else ""))
        self.line(indent, f"with {', '.join(items)}:")
        self.block(indent + 1, loop, depth)

    def match(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, "match subject():")
        one, other = self.rng.sample(NAMES, 2)
        for pattern in (f"[{one}, *{other}]", "0 | 1", f"{{'k': {one}}}", f"int({one}) as {other}", self.name()):
            if self.rng.random() < 0.5:
                continue
            guard = f" if {self.condition()}" if self.rng.random() < 0.4 or pattern in NAMES else ""
            self.line(indent + 1, f"case {pattern}{guard}:")
            self.block(indent + 2, loop, depth)
        self.line(indent + 1, "case _:")
        self.block(indent + 2, loop, depth)


def write_program(seed: int) -> str:
    """A function `f` of two parameters; all its variables are in NAMES, those of closures aside."""
    writer = _Writer(random.Random(seed))
    writer.line(0, f"def f({', '.join(PARAMETERS)}):")
    # So that every name is a variable of the function.
    writer.line(1, "if test():")
    writer.line(2, " = ".join((*NAMES[2:], "0")))
    for _ in range(writer.rng.randint(2, 6)):
        writer.statement(1, False, 0)
    writer.line(1, f"return {writer.value()}")
    return "\n".join(writer.lines) + "\n"

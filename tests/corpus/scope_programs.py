"""Random programs full of scopes. In: a seed. Out: a program; CPython refuses some of them, which is as good.

Few names, so that the same name is local here, free there, global in a third place; every construct that makes a scope,
binds a name or declares one. Nothing in them makes sense beyond that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

_NAMES = ["a", "b", "c", "d", "__p", "__q", "_", "__class__", "super", "genexpr", "top"]
_WEIGHTS = [6, 6, 6, 4, 3, 1, 1, 1, 1, 0.3, 0.3]
_CLASSES = ["C", "D", "__E", "_F", "__"]
_MAX_DEPTH = 5


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.walrus_is_allowed = True

    @contextmanager
    def no_walrus(self) -> Iterator[None]:
        """Where CPython refuses `:=`; one in thirty programs tries all the same."""
        before = self.walrus_is_allowed
        self.walrus_is_allowed = self.chance(0.001)
        yield
        self.walrus_is_allowed = before

    def plain(self, level: int) -> str:
        """An expression without `:=`."""
        with self.no_walrus():
            return f"({self.expression(level)})"

    def name(self) -> str:
        return self.random.choices(_NAMES, _WEIGHTS)[0]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def target(self, level: int) -> str:
        kind = self.random.randrange(12)
        if kind == 0:
            return f"{self.name()}, {self.name()}"
        if kind == 1:
            return f"[{self.name()}, *{self.name()}]"
        if kind == 2:
            return f"{self.name()}.{self.name()}"
        if kind == 3:
            return f"{self.name()}[{self.plain(level + 1)}]"
        return self.name()

    def clauses(self, level: int) -> str:
        text = ""
        for _ in range(1 + self.chance(0.3)):
            text += f" for {self.target(level)} in {self.plain(level + 1)}"
            if self.chance(0.3):
                text += f" if ({self.expression(level + 1)})"
        return text

    def parameters(self, level: int, *, is_annotated: bool) -> str:
        names = self.random.sample(_NAMES[:6], self.random.randrange(4))
        texts = []
        has_default = False
        for name in names:
            text = name
            if is_annotated and self.chance(0.3):
                text += f": {self.plain(level + 1)}"
            if has_default or self.chance(0.3):
                has_default = True
                text += f"=({self.expression(level + 1)})"
            texts.append(text)
        if self.chance(0.2):
            annotation = f": {self.plain(level + 1)}" if is_annotated else ""
            texts += [f"*args{annotation}", f"k{annotation}=({self.expression(level + 1)})", f"**kwargs{annotation}"]
        return ", ".join(texts)

    def expression(self, level: int = 0) -> str:
        kind = self.random.randrange(16) if level < 4 else 0
        inner = level + 1
        if kind == 1:
            return f"lambda {self.parameters(inner, is_annotated=False)}: ({self.expression(inner)})"
        if kind in (2, 3):
            return f"[({self.expression(inner)}){self.clauses(inner)}]"
        if kind == 4:
            return f"{{({self.expression(inner)}){self.clauses(inner)}}}"
        if kind == 5:
            return f"{{({self.expression(inner)}): ({self.expression(inner)}){self.clauses(inner)}}}"
        if kind == 6:
            return f"(({self.expression(inner)}){self.clauses(inner)})"
        if kind == 7 and self.walrus_is_allowed:
            name = self.random.choice(["v", "w", "__w", "a"]) if self.chance(0.9) else self.name()
            return f"({name} := ({self.expression(inner)}))"
        if kind == 8:
            return f"({self.expression(inner)}) if ({self.expression(inner)}) else ({self.expression(inner)})"
        if kind == 9:
            key, value = self.expression(inner), self.expression(inner)
            return f"{{({key}): ({value}), **({self.expression(inner)}), ({self.expression(inner)}): 1}}"
        if kind == 10:
            keyword, positional = self.expression(inner), self.expression(inner)
            return f"{self.name()}({self.name()}=({keyword}), *({positional}))"
        if kind == 11:
            return f"f'{{({self.expression(inner)})!r:{{({self.expression(inner)})}}}}'"
        return self.name()

    def type_parameters(self) -> str:
        if self.chance(0.75):
            return ""
        texts = []
        for name in self.random.sample(["a", "b", "T", "__p", "__T"], 1 + self.random.randrange(3)):
            text = self.random.choice(["", "", "*", "**"]) + name
            if not text.startswith("*") and self.chance(0.5):
                text += f": {self.plain(2)}"
            if self.chance(0.3):
                text += f" = {self.plain(2)}"
            texts.append(text)
        return f"[{', '.join(texts)}]"

    def block(self, depth: int, declares: str = "") -> None:
        for name in ("a", "b", "c", "w", "__p") if declares else ():
            # One in fifty is a parameter, or bound by no function around.
            if self.chance(0.1) and (name not in declares or self.chance(0.02)):
                keyword = "nonlocal" if depth > 1 and self.chance(0.3) else "global"
                self.line(depth, f"{keyword} {name}")
        for _ in range(1 + self.random.randrange(4)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        kind = self.random.randrange(22) if depth < _MAX_DEPTH else self.random.randrange(10)
        if kind < 3:
            self.line(depth, self.expression())
        elif kind < 5:
            self.line(depth, f"{self.target(0)} = {self.expression()}")
        elif kind == 5:
            self.line(depth, f"{self.name()} += {self.expression()}")
        elif kind == 6:
            target = self.random.choice(["{}", "({})", "{}.x"]).format(self.name())
            value = f" = {self.expression()}" if self.chance(0.5) else ""
            self.line(depth, f"{target}: {self.plain(0)}{value}")
        elif kind == 7:
            form = self.random.choice(["import {}", "import {}.b", "import x as {}", "from y import {}"])
            self.line(depth, form.format(self.name()))
        elif kind == 8:
            self.line(depth, f"del {self.name()}")
        elif kind == 9:
            self.line(depth, f"type {self.name()}{self.type_parameters()} = {self.plain(0)}")
        elif kind < 15:
            if self.chance(0.3):
                self.line(depth, f"@({self.expression()})")
            returns = f" -> {self.plain(1)}" if self.chance(0.2) else ""
            parameters = self.parameters(0, is_annotated=True)
            self.line(depth, f"def {self.name()}{self.type_parameters()}({parameters}){returns}:")
            before, self.walrus_is_allowed = self.walrus_is_allowed, True
            self.block(depth + 1, declares=f"({parameters})")
            self.walrus_is_allowed = before
        elif kind < 18:
            name = self.random.choice(_CLASSES)
            arguments = f"(x={self.plain(1)}, *{self.plain(1)})" if self.chance(0.4) else ""
            self.line(depth, f"class {name}{self.type_parameters()}{arguments}:")
            with self.no_walrus():
                self.block(depth + 1, declares="class")
        else:
            self.compound(depth)

    def compound(self, depth: int) -> None:
        kind = self.random.randrange(4)
        if kind == 0:
            self.line(depth, f"for {self.target(0)} in {self.expression()}:")
            self.block(depth + 1)
        elif kind == 1:
            self.line(depth, f"with ({self.expression()}) as {self.name()}:")
            self.block(depth + 1)
        elif kind == 2:
            self.line(depth, "try:")
            self.block(depth + 1)
            self.line(depth, f"except ({self.expression()}) as {self.name()}:")
            self.block(depth + 1)
            self.line(depth, "else:")
            self.block(depth + 1)
        else:
            self.line(depth, f"match ({self.expression()}):")
            name, other = self.random.sample(["a", "b", "c", "_"], 2)
            pattern = self.random.choice(["{{'k': {}, **{}}}", "[{}, *{}]", "({} | 1) as {}", "K({}, x={})"])
            pattern = pattern.format(name, "d" if other == "_" and pattern.startswith("{") else other)
            self.line(depth + 1, f"case {pattern}:".replace("case (_ | 1)", "case (1 | 2)").replace("as _:", "as d:"))
            self.block(depth + 2)


def program(seed: int) -> str:
    """The program of that seed."""
    writer = _Writer(seed)
    if writer.chance(0.15):
        writer.line(0, "from __future__ import annotations")
    writer.block(0)
    return "\n".join(writer.lines) + "\n"

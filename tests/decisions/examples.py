"""What an example says, and all of them. An example is a small program that breaks in a way that the user decides on.

`example(number, source, at, *rows)`: `at` is in the line that breaks, `rows` are the change that is shown. With
`inputs` it is run: `f(*inputs)` breaks so. `list.txt` names all the types.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphmend._reporting.decisions import DECISIONS, Decision
from graphmend._reporting.edits import Change
from graphmend._reporting.spot import Spot
from graphmend._tree import parse

FOLDER = Path(__file__).parent
# The modules of this folder that hold examples.
GROUPS = ("tensors", "gradients", "calls", "objects", "programs", "lines")


@dataclass(frozen=True)
class Example:
    number: str
    source: str
    at: str
    rows: tuple[str, ...] = ()
    # What of the line broke; without it the columns are not known.
    part: str = ""
    # What Dynamo says, as far as the change needs it.
    message: str = ""
    # Where the program runs: an expression for the arguments.
    inputs: str | None = None
    # The changed program does not break so any more.
    goes: bool = False
    # Where the program does not break in a process of its own: arguments with which the changed one has no break.
    whole: str | None = None
    # Run plainly, the changed program gives what the first one gives.
    same: bool = False
    # The function that breaks is called by the one that is compiled.
    is_inlined: bool = False
    # What is written for `...`.
    fill: str = ""
    # Dynamo's settings under which it breaks.
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def decision(self) -> Decision:
        return next(decision for decision in DECISIONS if decision.number == self.number)

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters of `f`, or of the module's `forward`."""
        head = re.search(r"^ *def (?:f|forward)\((?:self, )?(.*?)\)", self.source, re.MULTILINE)
        return [text.partition("=")[0].strip() for text in head[1].split(",")] if head else []

    @property
    def line(self) -> int:
        (line,) = (index for index, text in enumerate(self.source.split("\n"), 1) if self.at in text)
        return line

    @property
    def line_text(self) -> str:
        return self.source.split("\n")[self.line - 1]

    @property
    def spot(self) -> Spot:
        at = self.line_text.index(self.part) if self.part else None
        end = at + len(self.part) if at is not None else None
        return Spot(parse(self.source, strict=True), self.line, self.message, at, end, self.is_inlined)

    @property
    def change(self) -> Change | None:
        return self.decision.change_at(self.spot)

    @property
    def sentences(self) -> tuple[str, str]:
        return self.decision.sentences(self.spot, self.line_text)


EXAMPLES: list[Example] = []


def example(number: str, source: str, at: str, *rows: str, **more: Any) -> None:
    EXAMPLES.append(Example(number, f"import torch\n{source}", at, rows, **more))


def all_types() -> dict[str, str]:
    """Dynamo's name of each type, by its number."""
    lines = (FOLDER / "list.txt").read_text(encoding="utf-8").splitlines()
    return {number: name for number, _, name in (line.partition(" ") for line in lines)}


def load() -> list[Example]:
    for group in GROUPS:
        importlib.import_module(f"{__package__}.{group}")
    return EXAMPLES


def shown(change: Change | None) -> tuple[str, ...]:
    """The rows without their numbers."""
    return tuple(f"{row.sign} {row.text}" for row in change.rows) if change else ()


def applied(source: str, change: Change) -> str:
    """The program with the change made; lines that may go anywhere go before what is compiled.

    Those of callers are left away.
    """
    lines: list[str | None] = list(source.split("\n"))
    before: dict[int, list[str]] = {}
    compiled = next(index for index, line in enumerate(lines, 1) if line and line.startswith(("def f(", "class Net")))
    is_elsewhere = change.where.endswith("is called")
    for row in change.rows:
        if row.line is None and is_elsewhere:
            continue
        if row.sign == "-":
            assert row.line is not None and lines[row.line - 1] == row.text
            lines[row.line - 1] = None
        else:
            before.setdefault(row.line or compiled, []).append(row.text)
    result = [
        text for index, line in enumerate(lines, 1) for text in (*before.get(index, ()), line) if text is not None
    ]
    return "\n".join(result)

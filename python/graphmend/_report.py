"""What happened to a compiled call: each place that broke, with its source line, and what became of it."""

import linecache
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Break:
    """A place where the graph broke before anything was mended."""

    gb_type: str
    file: str
    line: int
    function: str
    # "postpone", "check", or None when it was left.
    mend: str | None
    reason: str

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        done = f"mended: {self.mend}" if self.mend else f"left: {self.reason}"
        return f"{Path(self.file).name}:{self.line} in {self.function}: {self.gb_type}\n    {self.source}\n    {done}"


@dataclass
class Report:
    """Grows while the call is used; `print` it at any time."""

    mended: list[Break] = field(default_factory=list)
    left: list[Break] = field(default_factory=list)
    calls: int = 0
    # Calls in which a check failed or the graph raised, and the original ran instead.
    misses: int = 0
    graphs: int = 0
    ops: int = 0
    seconds: float = 0.0

    @property
    def breaks(self) -> list[Break]:
        return [*self.mended, *self.left]

    @property
    def whole(self) -> bool:
        """Whether nothing is left to break the graph."""
        return self.calls > 0 and not self.left

    def __str__(self) -> str:
        if not self.calls:
            return "graphmend: not called yet"
        places = len(self.breaks)
        head = f"graphmend: {places} place{'s' if places != 1 else ''} broke"
        head += f", {len(self.mended)} mended, {len(self.left)} left"
        head += f"; {self.graphs} graph{'s' if self.graphs != 1 else ''}, {self.ops} ops, {self.seconds:.2f} s to mend"
        if self.misses:
            head += f"; the original ran in {self.misses} of {self.calls} calls"
        return "\n".join([head, *(f"  {line}" for entry in self.breaks for line in str(entry).split("\n"))])

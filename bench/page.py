"""A page of results that grows row by row. In: a title, what was run, columns, rows. Out: Markdown, also on stdout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


class Page:
    """Written after each row: a run that is stopped loses nothing."""

    def __init__(self, title: str, about: str, columns: Sequence[str], output: Path | None) -> None:
        self.output = output
        self.lines = [f"# {title}", "", about, "", _row(columns), _row(["---"] * len(columns))]

    def add(self, cells: Iterable[object]) -> None:
        self._write(_row(cells))

    def end(self, text: str) -> None:
        """A paragraph behind the table."""
        self.lines.append("")
        self._write(text)

    def _write(self, line: str) -> None:
        self.lines.append(line)
        print(line, flush=True)
        if self.output:
            self.output.write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"

"""The reports of a whole program: those of this process, and those that other processes of the run have left.

A process that is not the run's first writes its reports, as JSON, into a folder that the run has named; the first one
reads and removes it. A damaged file costs its own reports and nothing else.
"""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphmend._reporting import report
from graphmend._reporting.report import Report


@dataclass
class Gathered:
    """All reports of a run, and what there is to say besides."""

    reports: list[Report] = field(default_factory=list)
    note: str = ""
    processes: int = 1

    def summary(self) -> str:
        return self._with_note(report.summary(self.reports))

    def explanation(self) -> str:
        return self._with_note(report.explanation(self.reports))

    def save(self, path: str, program: Sequence[str]) -> str:
        """Writes the report; what went wrong, or nothing."""
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            report.save(path, self.reports, " ".join(program))
        except OSError as error:
            return f"graphmend: error: the report cannot be written to {path}: {error.strerror}"
        return ""

    def _with_note(self, text: str) -> str:
        head, _, rest = text.partition("\n")
        if self.note and not self.reports:
            head = f"graphmend: {self.note}"
        elif self.note:
            head += f"; {self.note}"
        if self.processes > 1:
            head += f"; from {self.processes} processes"
        return head + ("\n" + rest if rest else "")


def leave(folder: str, trouble: str) -> None:
    """Leaves the reports of this process for the one that gathers them."""
    reports = _own_reports()
    if not reports and not trouble:
        return
    data = {"reports": [each.to_dict() for each in reports], "note": _note(trouble)}
    path = Path(folder)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        temporary = path / f".{os.getpid()}"
        temporary.write_text(json.dumps(data), encoding="utf-8")
        temporary.replace(path / f"{os.getpid()}.json")
    except OSError:
        # The program's end is no place for errors about a summary.
        return


def collect(folder: str, trouble: str = "") -> Gathered:
    """All reports of the run; the folder is gone afterwards."""
    gathered = Gathered(_own_reports(), _note(trouble), 0)
    gathered.processes = 1 if gathered.reports else 0
    for path in sorted(Path(folder).glob("*.json")):
        try:
            data: Any = json.loads(path.read_text(encoding="utf-8"))
            reports = [report.report_from_dict(entry) for entry in data["reports"]]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        gathered.reports += reports
        gathered.processes += 1 if reports else 0
        gathered.note = gathered.note or data.get("note", "")
    shutil.rmtree(folder, ignore_errors=True)
    return gathered


def _own_reports() -> list[Report]:
    # `_mending.compile` is only there if the program compiled something.
    return report.all_reports() if "graphmend._mending.compile" in sys.modules else []


def _note(trouble: str) -> str:
    return f"torch.compile was left as it is: {trouble}" if trouble else ""


def words_of_program() -> list[str]:
    """The program and its arguments, from the command line of this Python, whose own options are left out."""
    words = sys.orig_argv[1:]
    while words and words[0].startswith("-") and words[0] not in ("-", "-m", "-c"):
        words = words[2 if words[0] in ("-X", "-W") else 1 :]
    return words

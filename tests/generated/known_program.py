"""What an entry of the list of known differences may look at."""

from __future__ import annotations

from dataclasses import dataclass

from .compare import Rules
from .observe import Observation

TEXTS = ("events.text", "events.message", "events.template", "events.args", "events.kept", "error.args")


@dataclass(frozen=True)
class Program:
    """What an entry may look at besides the difference."""

    text: str
    eager: list[Observation]
    plain: list[Observation]
    # Mended and compiled.
    seen: list[Observation]
    rules: Rules
    # Whether breaks are left in what was mended.
    is_broken: bool = False
    # Whether anything is mended.
    is_mended: bool = True

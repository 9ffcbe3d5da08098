"""Code that was traced."""

from collections.abc import Iterator
from types import CodeType
from typing import Any


class Traced:
    """Code that was traced, with its globals. Code of two files may be equal, and is told apart by what it is."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[CodeType, dict[str, Any]]] = {}

    def add(self, code: CodeType, space: dict[str, Any]) -> None:
        self._found[id(code)] = code, space

    def clear(self) -> None:
        self._found.clear()

    def __iter__(self) -> Iterator[tuple[CodeType, dict[str, Any]]]:
        return iter(self._found.values())

"""Mended code for the functions of a running program.

Nothing of the program is changed. While Dynamo traces for graphmend, it is given mended code where it would have taken
a function's own (`replacement`); in eager, and for everybody else's compiles, functions keep what they have. A file is
compiled as it is on disk first, and a function is mended only if its running code is what that gives: a file that has
changed since it was imported, or that another tool has rewritten, is left alone.
"""

import inspect
import linecache
import logging
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from graphmend import _effects, _mended_file
from graphmend._mended_file import Mend, MendedText
from graphmend._torch_private import Place

_LOGGING_FUNCTIONS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")

_lock = threading.RLock()
# By file and module: the same file may be run as several modules.
_sources: dict[tuple[str, int], "MendedSource"] = {}
_declared: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()


def declare_effect(function: Callable[..., Any]) -> None:
    """Calls of this function, as statements, may run after the graph."""
    _declared.add(function)


def forget_all() -> int:
    """Nothing is mended any more; the number of places that were."""
    with _lock:
        count = sum(len(source.mended.mends) for source in _sources.values() if source.mended)
        _sources.clear()
        return count


def replacement(code: CodeType, space: dict[str, Any]) -> CodeType:
    """The code to trace in the stead of `code`, whose globals are `space`: mended if there are mends, else itself."""
    source = _sources.get((code.co_filename, id(space)))
    return source.codes.get(code, code) if source else code


def mend(place: Place, traced: dict[CodeType, dict[str, Any]]) -> Mend | str:
    """Mends the statement where a graph broke; or the reason why it is left.

    `traced` has the code that was traced, with its globals.
    """
    with _lock:
        for code, space in traced.items():
            if (code.co_filename, code.co_name) == (place.file, place.function) and place.line in _lines(code):
                break
        else:
            return "the code that broke is not known by its source"
        key = (place.file, id(space))
        source = _sources.get(key)
        if source is None:
            source = _sources[key] = MendedSource(place.file, space, code.co_flags, len(_sources))
        return source.mend(code, place.line)


def sites(place: Place) -> list[str]:
    """The sites of the mends at a place."""
    sources = [source for (file, _), source in _sources.items() if file == place.file]
    return [mend.site for source in sources if source.mended for mend in source.mended.mends if mend.line == place.line]


def _lines(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line is not None}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of functions and classes in a module's, in the order of the source. Mends add and remove none of these,
    and never stand inside of the others (lambdas, comprehensions)."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and not constant.co_name.startswith("<"):
            yield constant
            yield from _codes(constant)


class MendedSource:
    """A file, as one module's, and what was done to it."""

    def __init__(self, file_name: str, space: dict[str, Any], flags: int, number: int) -> None:
        self.file_name = file_name
        # Part of the names of sites: modules that share a file do not share its effects.
        self.name = f"{file_name}#{number}"
        self.globals = space
        self.flags = flags
        self.trouble: str | None = None
        self.lines: list[int] = []
        self.mended: MendedText | None = None
        # The file's own code objects in order, and for each the one to trace.
        self.originals: list[CodeType] = []
        self.codes: dict[CodeType, CodeType] = {}
        try:
            self.source = _mended_file.decoded(_read(file_name))
        except (OSError, ValueError):
            self.trouble = "its source cannot be read"
            return
        try:
            self.originals = list(_codes(_mended_file.compile_text(self.source, file_name, flags)))
        except (SyntaxError, ValueError):
            self.trouble = "its source does not compile"

    def mend(self, code: CodeType, line: int) -> Mend | str:
        if self.trouble:
            return self.trouble
        # What is traced may be mended already.
        if code not in self.originals and code not in self.codes.values():
            return "the running code is not what its file compiles to; the file was changed, or another tool rewrote it"
        if line in self.lines:
            return "it broke again after it was mended"
        mended = _mended_file.mend_text(self.source, self.name, [*self.lines, line], self.talkers())
        if line in mended.declined:
            return mended.declined[line]
        known = {mend.site for mend in self.mended.mends} if self.mended else set()
        added = [mend for mend in mended.mends if mend.site not in known]
        if not added:
            return "it broke again after it was mended"
        trouble = self._install(mended)
        if trouble:
            return trouble
        self.lines.append(line)
        self.mended = mended
        for mend in added:
            if mend.kind == "postpone":
                self._define(mend)
        return added[0]

    def talkers(self) -> list[str]:
        """Names in this file's globals of what only talks to the outside."""
        names = [] if "print" in self.globals else ["print"]
        for name, value in list(self.globals.items()):
            if isinstance(value, logging.Logger):
                names.append(f"{name}.*")
            elif value is logging:
                names += [f"{name}.{function}" for function in _LOGGING_FUNCTIONS]
            elif inspect.ismodule(value) and value.__name__ == "warnings":
                names.append(f"{name}.warn")
            elif value is sys:
                names += [f"{name}.stdout.write", f"{name}.stderr.write"]
            elif isinstance(value, FunctionType) and value in _declared:
                names.append(name)
            elif str(getattr(value, "__module__", "")).partition(".")[0] == "tqdm" and hasattr(value, "write"):
                names.append(f"{name}.write")
        return names

    def _install(self, mended: MendedText) -> str | None:
        module = _mended_file.compile_module(self.source, mended, self.file_name, self.flags)
        new_codes = list(_codes(module))
        if [code.co_name for code in new_codes] != [code.co_name for code in self.originals]:
            return "its functions could not be told apart"
        codes = {code: new for code, new in zip(self.originals, new_codes, strict=True) if code != new}
        if any(code.co_freevars != new.co_freevars for code, new in codes.items()):
            return "the mend would change what a closure holds"
        self.codes = codes
        return None

    def _define(self, mend: Mend) -> None:
        code = _mended_file.compile_outlined(self.source, mend, self.file_name, self.flags)
        space: dict[str, Any] = {}
        exec(code, self.globals, space)
        (made,) = space.values()
        if mend.class_name:
            (made,) = [value for value in vars(made).values() if isinstance(value, FunctionType)]
        _effects.define(mend.site, made)


def _read(file_name: str) -> bytes:
    # Notebook cells and the like have their text in linecache only.
    if file_name.startswith("<"):
        lines = linecache.getlines(file_name)
        if not lines:
            raise OSError(file_name)
        return "".join(lines).encode("utf-8")
    return Path(file_name).read_bytes()

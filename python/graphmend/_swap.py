"""Mended code in a running program: code objects of live functions are exchanged, and can be given back.

A function keeps its identity, defaults, closure and attributes; only `__code__` changes. Before a file's first mend its
source is compiled as it is and compared with the running code, so that a file that has changed on disk since it was
imported is left alone.
"""

import gc
import inspect
import linecache
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from graphmend import _effects, _mended_file
from graphmend._mended_file import MendedText

_LOGGING_FUNCTIONS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")

_lock = threading.RLock()
_files: dict[str, "MendedSource"] = {}
_declared: set[int] = set()
_declared_kept: list[Any] = []


def declare_effect(function: Any) -> None:
    """Calls of this function, as statements, may run after the graph."""
    if id(function) not in _declared:
        _declared.add(id(function))
        _declared_kept.append(function)


def mend_line(file_name: str, line: int) -> str | None:
    """Mends the statement on this line in all live functions. None when it is mended, else the reason why not."""
    with _lock:
        source = _files.get(file_name)
        if source is None:
            source = MendedSource(file_name)
            _files[file_name] = source
        return source.mend(line)


def restore_all() -> int:
    """Gives every function its own code back; the number of functions that had other code."""
    with _lock:
        count = sum(source.restore() for source in _files.values())
        _files.clear()
        return count


def mended_sites(file_name: str) -> list[_mended_file.Mend]:
    source = _files.get(file_name)
    return list(source.mended.mends) if source and source.mended else []


def _codes(code: CodeType) -> Iterator[CodeType]:
    """All code objects in a module's, in the order of its constants, which is that of the source."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _same_program(one: CodeType, other: CodeType) -> bool:
    return one.co_code == other.co_code and one.co_names == other.co_names and one.co_varnames == other.co_varnames


class MendedSource:
    """A file and what was done to it."""

    def __init__(self, file_name: str) -> None:
        self.file_name = file_name
        self.trouble: str | None = None
        self.lines: list[int] = []
        self.mended: MendedText | None = None
        self.originals: dict[FunctionType, CodeType] = {}
        try:
            self.source = _mended_file.decoded(_read(file_name))
        except (OSError, ValueError):
            self.trouble = "its source cannot be read"
            return
        self.functions = [function for function in _live_functions() if function.__code__.co_filename == file_name]
        if not self.functions:
            self.trouble = "no live function comes from this file"
            return
        self.globals = self.functions[0].__globals__
        self.flags = self.functions[0].__code__.co_flags
        try:
            text = self.source.decode("utf-8")
            compiled = compile(
                text, file_name, "exec", flags=self.flags & _mended_file._FUTURE_FLAGS, dont_inherit=True
            )
        except (SyntaxError, ValueError):
            self.trouble = "its source does not compile"
            return
        # The n-th code object of the file as it is corresponds to the n-th of the mended one, lambdas added by mends
        # left out; so do functions, by the code they run.
        self.codes = list(_codes(compiled))

    def mend(self, line: int) -> str | None:
        if self.trouble:
            return self.trouble
        if line in self.lines:
            return "it broke again after it was mended"
        mended = _mended_file.mend_text(self.source, self.file_name, [*self.lines, line], self.talkers())
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
        return None

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
            elif id(value) in _declared:
                names.append(name)
            elif getattr(value, "__module__", "").partition(".")[0] == "tqdm" and hasattr(value, "write"):
                names.append(f"{name}.write")
        return names

    def _install(self, mended: MendedText) -> str | None:
        module = _mended_file.compile_module(self.source, mended, self.file_name, self.flags)
        replacements = _match(self.codes, list(_codes(module)))
        if replacements is None:
            return "its functions could not be told apart"
        current = {id(code): new for code, new in replacements}
        for function in self.functions:
            original = self.originals.get(function, function.__code__)
            new = self._replacement(original, replacements, current)
            if new is None:
                continue
            if new.co_freevars != original.co_freevars:
                return "the mend would change what a closure holds"
            self.originals.setdefault(function, original)
            function.__code__ = new
        return None

    def _replacement(
        self, original: CodeType, replacements: list[tuple[CodeType, CodeType]], current: dict[int, CodeType]
    ) -> CodeType | None:
        for code, new in replacements:
            same_place = code.co_firstlineno == original.co_firstlineno and code.co_name == original.co_name
            if same_place and _same_program(code, original):
                return None if _same_program(new, original) else new
        return None

    def _define(self, mend: _mended_file.Mend) -> None:
        code = _mended_file.compile_outlined(self.source, mend, self.file_name, self.flags)
        space: dict[str, Any] = {}
        exec(code, self.globals, space)
        (made,) = space.values()
        if mend.class_name:
            (made,) = [value for value in vars(made).values() if isinstance(value, FunctionType)]
        _effects.define(mend.site, made)

    def restore(self) -> int:
        for function, code in self.originals.items():
            function.__code__ = code
        count = len(self.originals)
        self.originals.clear()
        return count


def _read(file_name: str) -> bytes:
    # Notebook cells and the like have their text in linecache only.
    if file_name.startswith("<"):
        lines = linecache.getlines(file_name)
        if not lines:
            raise OSError(file_name)
        return "".join(lines).encode("utf-8")
    return Path(file_name).read_bytes()


def _live_functions() -> list[FunctionType]:
    return [thing for thing in gc.get_objects() if type(thing) is FunctionType]


def _match(originals: list[CodeType], mended: list[CodeType]) -> list[tuple[CodeType, CodeType]] | None:
    """Pairs each code object of the file with its mended one."""
    pairs = []
    at = 0
    for code in originals:
        # Mends add lambdas and nothing else; they stand where a test stands, and are passed over.
        while at < len(mended) and not (
            mended[at].co_name == code.co_name
            and mended[at].co_firstlineno == code.co_firstlineno
            and mended[at].co_argcount == code.co_argcount
            and mended[at].co_varnames[: code.co_argcount] == code.co_varnames[: code.co_argcount]
        ):
            if mended[at].co_name != "<lambda>":
                return None
            at += 1
        if at == len(mended):
            return None
        pairs.append((code, mended[at]))
        at += 1
    return pairs

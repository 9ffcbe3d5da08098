"""Mended code for the functions of a running program.

Nothing of the program is changed. While Dynamo traces for graphmend, it is given mended code where it would have taken
a function's own (`replacement`); in eager, and for everybody else's compiles, functions keep what they have. A file is
compiled as it is on disk first, and a function is mended only if its running code is what that gives: a file that has
changed since it was imported, or that another tool has rewritten, is left alone.
"""

import contextlib
import dataclasses
import functools
import gc
import itertools
import linecache
import re
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import torch

from graphmend._mending import effects, mended_file, remembered, scope, substitutes, talkers
from graphmend._mending.mended_file import Mend, MendedText
from graphmend._mending.traced import Traced
from graphmend._reporting.report import Break
from graphmend._torch.breaks import Place

# What is said of a place in the stead of Dynamo's type of its break, if that is not known.
AHEAD = "Mended before it could break"
# How Dynamo names what comes after a break.
_RESUMED = "torch_dynamo_resume_in_"

_lock = threading.RLock()
_numbers = itertools.count()
# By file and module: the same file may be run as several modules.
_sources: dict[tuple[str, int, bool], "MendedSource"] = {}
# Those of which it was looked up what is remembered.
_started: set[tuple[str, int, bool]] = set()
# What broke before it was mended, by site: code that is mended already does not break when it is compiled once more.
broken: dict[str, Break] = {}


def forget_all() -> int:
    """Nothing is mended any more; the number of places that were."""
    with _lock:
        count = sum(len(source.mended.mends) for source in _sources.values() if source.mended)
        _sources.clear()
        _started.clear()
        return count


def replacement(code: CodeType, space: dict[str, Any], speculates: bool) -> CodeType:
    """The code to trace in the stead of `code`, whose globals are `space`: mended if there are mends, else itself."""
    key = (code.co_filename, id(space), speculates)
    if key not in _started:
        _start(code, space, speculates)
    source = _sources.get(key)
    try:
        return source.codes.get(code, code) if source else code
    except TypeError:
        # Code that Dynamo has made may hold constants that no source has, such as a dict.
        return code


def _start(code: CodeType, space: dict[str, Any], speculates: bool) -> None:
    """Mends what is known from an earlier process to break in this file."""
    file = code.co_filename
    with _lock:
        _started.add((file, id(space), speculates))
        if _is_foreign(file) or not remembered.is_known(file) or not scope.is_mended(file, space):
            return
        source = _source_of(code, space, speculates)
        if not source.trouble and source.has(code) and not source.lines:
            source.recall()


def remember(entries: list[Break]) -> None:
    """Keeps what was mended for later processes, as far as it is not known already."""
    with _lock:
        for source in _sources.values():
            sites_in = {mend.site for mend in source.mended.mends} if source.mended else set()
            found = [entry for entry in entries if any(site in sites_in for site, _ in entry.sites)]
            new = [entry for entry in found if entry.line not in source.kept]
            if new:
                source.kept.update(entry.line for entry in new)
                remembered.keep(source.file_name, source.source, source.speculates, new, source.substitutes)


def _either_replacement(code: CodeType, space: dict[str, Any]) -> CodeType:
    mended = replacement(code, space, True)
    return mended if mended is not code else replacement(code, space, False)


def mend(place: Place, traced: Traced, speculates: bool, only: frozenset[str] | None = None) -> Mend | str:
    """Mends the statement where a graph broke; or the reason why it is left.

    `traced` has the code that was traced, with its globals; `speculates`: values that Python needs may be predicted;
    `only`: the kinds of mends that are wanted, if not all.
    """
    if _is_foreign(place.file):
        return "it is in torch or in the standard library"
    with _lock:
        found = _code_at(place, traced)
        if found is None:
            return "the code that broke is not known by its source"
        code, space = found
        if not scope.is_mended(place.file, space):
            return scope.OUTSIDE
        outer = _function_around(code, traced) if code.co_name.startswith("<") else code
        if outer is None:
            return "it stands in a lambda or a comprehension"
        if is_resumed(outer):
            return "it stands behind a break that is left"
        return _source_of(outer, space, speculates).mend(outer, place, only)


def is_resumed(code: CodeType) -> bool:
    """Whether this is what Dynamo made of the rest of a function, after a break."""
    return code.co_name.startswith(_RESUMED)


def own_name(function: str) -> str:
    """The name of a function as its source has it, also of the rest of it after a break."""
    resumed = re.fullmatch(rf"{_RESUMED}(.+)_at_\d+", function)
    return resumed[1] if resumed else function


def _code_at(place: Place, traced: Traced) -> tuple[CodeType, dict[str, Any]] | None:
    for code, space in traced:
        if (code.co_filename, code.co_name) == (place.file, place.function) and place.line in _lines(code):
            return code, space
    return None


def _function_around(inner: CodeType, traced: Traced) -> CodeType | None:
    """The function that a lambda or a comprehension stands in, if that is traced too: mended, it makes a mended one."""
    place = (inner.co_filename, inner.co_name, inner.co_firstlineno)
    for code, space in traced:
        if code.co_filename != inner.co_filename or code.co_name.startswith("<"):
            continue
        for each in (code, *(replacement(code, space, speculates) for speculates in (True, False))):
            if any((one.co_filename, one.co_name, one.co_firstlineno) == place for one in _nameless(each)):
                return code
    return None


def _nameless(code: CodeType) -> Iterator[CodeType]:
    """The lambdas and comprehensions in a function, also in one another."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and constant.co_name.startswith("<"):
            yield constant
            yield from _nameless(constant)


def mend_around(code: CodeType, space: dict[str, Any], speculates: bool) -> None:
    """Mends whatever a function has that may break, as one of its breaks stays: what comes behind that one is compiled
    in pieces, which are made of the code that is traced now."""
    if _is_foreign(code.co_filename) or not scope.is_mended(code.co_filename, space):
        return
    with _lock:
        source = _source_of(code, space, speculates)
        if not source.trouble and code in source.originals:
            source.mend_function(code)


def _source_of(code: CodeType, space: dict[str, Any], speculates: bool) -> "MendedSource":
    key = (code.co_filename, id(space), speculates)
    source = _sources.get(key)
    # A module that was reloaded has another text, and the same globals.
    if source is None or not source.has(code):
        again = MendedSource(code.co_filename, space, code.co_flags, next(_numbers), speculates)
        if source is None or again.has(code):
            source = _sources[key] = again
    return source


def _all_objects() -> list[Any]:
    """Whatever is alive, what `gc.freeze` has put aside included."""
    if not gc.get_freeze_count():
        return gc.get_objects()
    gc.unfreeze()
    try:
        return gc.get_objects()
    finally:
        gc.collect()
        gc.freeze()


@contextlib.contextmanager
def in_live_functions() -> Iterator[None]:
    """Inside, functions run their mended code; other threads may take it too, for which it is what they had."""
    with _lock:
        files = {source.file_name for source in _sources.values()}
        changed = []
        for function in _all_objects():
            if type(function) is FunctionType and function.__code__.co_filename in files:
                code = function.__code__
                mended = _either_replacement(code, function.__globals__)
                if mended is not code:
                    changed.append((function, code))
                    function.__code__ = mended
        try:
            yield
        finally:
            for function, code in changed:
                function.__code__ = code


def sites(place: Place | Break) -> dict[str, str]:
    """The sites of the mends at a place, and what kind of mend each is."""
    sources = [source for (file, _, _), source in _sources.items() if file == place.file and source.mended]
    mends = [mend for source in sources if source.mended for mend in source.mended.mends]
    return {mend.site: mend.kind for mend in mends if mend.line == place.line}


def sites_around(file_name: str, line: int) -> dict[str, str]:
    """The sites of the mends whose statements go over a line, and what kind of mend each is."""
    found = {}
    for (file, _, _), source in _sources.items():
        if file == file_name and source.mended:
            for mend in source.mended.mends:
                if source.positions.position(mend.start)[0] <= line <= source.positions.position(mend.end)[0]:
                    found[mend.site] = mend.kind
    return found


def note_broken(entry: Break) -> None:
    """Keeps what to say of a place that is mended, and of those that were mended with it, should a graph have them."""
    broken.update(dict.fromkeys(sites(entry), entry))
    sources = [source for (file, _, _), source in _sources.items() if file == entry.file and source.mended]
    mends = [mend for source in sources if source.mended for mend in source.mended.mends if mend.like == entry.line]
    for line in {mend.line for mend in mends}:
        like = dataclasses.replace(entry, line=line, column=None, end_column=None)
        found = sites(like)
        # Tests break for one reason, what talks for many.
        gb_type = AHEAD if "postpone" in found.values() else entry.gb_type
        message = f"It was mended with line {entry.line}, before it could break."
        like = dataclasses.replace(like, gb_type=gb_type, message=message, sites=tuple(found.items()))
        for site in found:
            broken.setdefault(site, like)


def note_silent(site: str, name: str) -> None:
    """The method of that name, at that site, is of something that does more than talk."""
    for source in _sources.values():
        if source.mended and any(mend.site == site for mend in source.mended.mends):
            source.silent.add(name)


def selected_around(place: Place) -> list[str]:
    """The sites of branches that are selected, and that the place stands in."""
    sources = [source for (file, _, _), source in _sources.items() if file == place.file and source.mended]
    found = []
    for source in sources:
        start = _offset(source.source, place.line)
        mends = source.mended.mends if source.mended else []
        found += [each.site for each in mends if each.kind == "select" and each.start < start < each.end]
    return found


def selected_inside(site: str) -> list[str]:
    """The sites of branches that are selected, inside of one that is."""
    mends = [mend for source in _sources.values() if source.mended for mend in source.mended.mends]
    around = [mend for mend in mends if mend.site == site]
    inside = [mend for mend in mends if any(each.start < mend.start and mend.end <= each.end for each in around)]
    return [mend.site for mend in inside if mend.kind == "select"]


def _offset(source: bytes, line: int) -> int:
    """Where the text of a line begins."""
    before = source.splitlines(keepends=True)[: line - 1]
    return sum(map(len, before)) + 1


@functools.cache
def _is_foreign(file: str) -> bool:
    """Whether a file belongs to torch or to Python: the breaks there are theirs, and theirs to mend."""
    return Path(file).is_relative_to(Path(torch.__file__).parent) or is_standard(file)


@functools.cache
def is_standard(file: str) -> bool:
    """Whether a file belongs to Python itself."""
    path = Path(file)
    if any(part in ("site-packages", "dist-packages") for part in path.parts):
        return False
    return any(path.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def _lines(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line is not None}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of functions and classes in a module's, in the order of the source. Mends add and remove none of these;
    lambdas and comprehensions come with the function that they stand in."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and not constant.co_name.startswith("<"):
            yield constant
            yield from _codes(constant)


class MendedSource:
    """A file, as one module's, and what was done to it."""

    def __init__(self, file_name: str, space: dict[str, Any], flags: int, number: int, speculates: bool) -> None:
        self.file_name = file_name
        self.speculates = speculates
        # Part of the names of sites: modules that share a file do not share its effects.
        self.name = f"{file_name}#{number}"
        self.globals = space
        self.flags = flags
        self.trouble: str | None = None
        self.lines: list[int] = []
        # Those that later processes know of.
        self.kept: set[int] = set()
        # Lines of functions that are mended wherever they may break.
        self.functions: list[int] = []
        # Names of calls that are traced as others.
        self.substitutes: set[str] = set()
        # Methods that have turned out to be of something that does more than talk, and those that the text is made of.
        self.silent: set[str] = set()
        self.known_silent: set[str] = set()
        self.mended: MendedText | None = None
        # The file's own code objects in order, and for each the one to trace.
        self.originals: list[CodeType] = []
        self.codes: dict[CodeType, CodeType] = {}
        try:
            self.source = mended_file.decoded(_read(file_name))
        except (OSError, ValueError):
            self.trouble = "its source cannot be read"
            return
        try:
            self.originals = list(_codes(mended_file.compile_text(self.source, file_name, flags)))
        except (SyntaxError, ValueError):
            self.trouble = "its source does not compile"

    @functools.cached_property
    def positions(self) -> mended_file.Positions:
        return mended_file.Positions(self.source)

    def has(self, code: CodeType) -> bool:
        """Whether this is code of the file; what is traced may be mended already."""
        return code in self.originals or code in self.codes.values()

    def mend(self, code: CodeType, place: Place, only: frozenset[str] | None) -> Mend | str:
        if self.trouble:
            return self.trouble
        if not self.has(code):
            return "the running code is not what its file compiles to; the file was changed, or another tool rewrote it"
        line = place.line
        names = self.substitutes | set(substitutes.names_for(place.gb_type))
        if line in self.lines and names == self.substitutes and self.silent == self.known_silent:
            return f"mended, it still breaks: {place.gb_type}"
        lines = self.lines if line in self.lines else [*self.lines, line]
        mended = self._mend_text(lines, self.functions, names)
        if line in mended.declined:
            return mended.declined[line]
        known = {mend.site for mend in self.mended.mends} if self.mended else set()
        added = [mend for mend in mended.mends if mend.site not in known and mend.line == line]
        if not added:
            return f"mended, it still breaks: {place.gb_type}"
        if only is not None and added[0].kind not in only:
            return "another mend is wanted"
        trouble = self._install(mended)
        if trouble:
            return trouble
        self.lines = lines
        self.substitutes = names
        self.known_silent = set(self.silent)
        return added[0]

    def recall(self) -> None:
        """Mends what is remembered, as far as it can be."""
        record = remembered.recall(self.file_name, self.source, self.speculates)
        if record is None:
            return
        known = {entry.line: entry for entry in record.breaks}
        mended = self._mend_text(list(known), [], set(record.substitutes))
        if not mended.mends or self._install(mended) is not None:
            return
        self.lines = [line for line in known if line not in mended.declined]
        self.substitutes = set(record.substitutes)
        self.kept = set(self.lines)
        for line in self.lines:
            note_broken(dataclasses.replace(known[line], sites=tuple(sites(known[line]).items())))

    def mend_function(self, code: CodeType) -> None:
        line = min(_lines(code))
        if line in self.functions:
            return
        mended = self._mend_text(self.lines, [*self.functions, line], self.substitutes)
        if self._install(mended) is None:
            self.functions.append(line)

    def _mend_text(self, lines: list[int], functions: list[int], names: set[str]) -> MendedText:
        talking = [*talkers.names_in(self.globals), *(f"!{name}" for name in sorted(self.silent))]
        names_given = sorted(names)
        return mended_file.mend_text(
            self.source, self.name, lines, functions, talking, self.speculates, names_given, ahead=True
        )

    def _install(self, mended: MendedText) -> str | None:
        try:
            module = mended_file.compile_module(self.source, mended, self.file_name, self.flags)
        except (SyntaxError, ValueError, RecursionError) as error:
            return f"its mended text does not compile ({error})"
        new_codes = list(_codes(module))
        if [code.co_name for code in new_codes] != [code.co_name for code in self.originals]:
            return "its functions could not be told apart"
        codes = {code: new for code, new in zip(self.originals, new_codes, strict=True) if code != new}
        if any(code.co_freevars != new.co_freevars for code, new in codes.items()):
            return "the mend would change what a closure holds"
        known = {mend.site for mend in self.mended.mends} if self.mended else set()
        for mend in mended.mends:
            if mend.kind == "postpone" and mend.site not in known:
                self._define(mend)
        self.codes = codes
        self.mended = mended
        return None

    def _define(self, mend: Mend) -> None:
        code = mended_file.compile_outlined(self.source, mend, self.file_name, self.flags)
        space: dict[str, Any] = {}
        exec(code, self.globals, space)
        (made,) = space.values()
        if mend.class_name:
            (made,) = [value for value in vars(made).values() if isinstance(value, FunctionType)]
        effects.define(mend.site, mend.outlined, made)


def _read(file_name: str) -> bytes:
    # Notebook cells and the like have their text in linecache only.
    if not Path(file_name).is_file():
        lines = linecache.getlines(file_name)
        if not lines:
            raise OSError(file_name)
        return "".join(lines).encode("utf-8")
    return Path(file_name).read_bytes()

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
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import torch

from graphmend._mending import remembered, scope
from graphmend._mending.mended_file import Mend
from graphmend._mending.mended_source import MendedSource, lines_of
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
_sources: dict[tuple[str, int, bool], MendedSource] = {}
# Those of which it was looked up what is remembered.
_started: set[tuple[str, int, bool]] = set()
# What broke before it was mended, by site: code that is mended already does not break when it is compiled once more.
broken: dict[str, Break] = {}


def forget_all() -> int:
    """Nothing is mended any more; the number of places that were."""
    with _lock:
        count = sum(len(source.mends) for source in _sources.values())
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


def has_marks(code: CodeType) -> bool:
    """Whether code is mended: a function's, or what Dynamo has made of the rest of one."""
    return "__graphmend__" in code.co_names


def _start(code: CodeType, space: dict[str, Any], speculates: bool) -> None:
    """Mends what is known from an earlier process to break in this file."""
    file = code.co_filename
    with _lock:
        _started.add((file, id(space), speculates))
        if is_foreign(file) or not remembered.is_known(file) or not scope.is_mended(file, space):
            return
        source = _source_of(code, space, speculates)
        if not source.trouble and source.has(code) and not source.lines:
            for entry in source.recall():
                note_broken(dataclasses.replace(entry, sites=tuple(sites(entry).items())))


def remember(entries: list[Break]) -> None:
    """Keeps what was mended for later processes, as far as it is not known already."""
    with _lock:
        for source in _sources.values():
            sites_in = {mend.site for mend in source.mends}
            found = [entry for entry in entries if any(site in sites_in for site, _ in entry.sites)]
            new = [entry for entry in found if entry.line not in source.kept]
            if new:
                source.kept.update(entry.line for entry in new)
                remembered.keep(source.file_name, source.source, source.speculates, new, source.substitutes)


def mend(place: Place, traced: Traced, speculates: bool, only: frozenset[str] | None = None) -> Mend | str:
    """Mends the statement where a graph broke; or the reason why it is left.

    `traced` has the code that was traced, with its globals; `speculates`: values that Python needs may be predicted;
    `only`: the kinds of mends that are wanted, if not all.
    """
    if is_foreign(place.file):
        return "it is in torch or in the standard library"
    with _lock:
        found = _code_at(place, traced)
        if found is None:
            return "the code that broke is not known by its source"
        code, space = found
        if not scope.is_mended(place.file, space):
            return scope.OUTSIDE
        outer = _function_around(code, traced) if code.co_name.startswith("<") else code
        if outer is None and code.co_name == "<lambda>" and _source_of(code, space, speculates).has(code):
            outer = code
        if is_resumed(code if outer is None else outer) or (outer is None and _stands_in_rest(code, traced)):
            return "it stands behind a break that is left"
        if outer is None:
            return "it stands in a lambda or a comprehension that is made elsewhere"
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
        if (code.co_filename, code.co_name) == (place.file, place.function) and place.line in lines_of(code):
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


def _stands_in_rest(inner: CodeType, traced: Traced) -> bool:
    """Whether a lambda or a comprehension stands on a line of the rest of a function, behind a break."""
    rests = [code for code, _ in traced if is_resumed(code) and code.co_filename == inner.co_filename]
    return any(inner.co_firstlineno == line for code in rests for *_, line in code.co_lines())


def _nameless(code: CodeType) -> Iterator[CodeType]:
    """The lambdas and comprehensions in a function, also in one another."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and constant.co_name.startswith("<"):
            yield constant
            yield from _nameless(constant)


def mend_around(code: CodeType, space: dict[str, Any], speculates: bool) -> None:
    """Mends whatever a function has that may break, as one of its breaks stays: what comes behind that one is compiled
    in pieces, which are made of the code that is traced now."""
    if is_foreign(code.co_filename) or not scope.is_mended(code.co_filename, space):
        return
    with _lock:
        source = _source_of(code, space, speculates)
        if not source.trouble and code in source.originals:
            source.mend_function(code)


def _source_of(code: CodeType, space: dict[str, Any], speculates: bool) -> MendedSource:
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
def in_live_functions(speculates: bool) -> Iterator[None]:
    """Inside, functions run their mended code; other threads may take it too, for which it is what they had."""
    with _lock:
        files = {source.file_name for source in _sources.values()}
        changed = []
        for function in _all_objects():
            if type(function) is FunctionType and function.__code__.co_filename in files:
                code = function.__code__
                mended = replacement(code, function.__globals__, speculates)
                if mended is not code:
                    changed.append((function, code))
                    function.__code__ = mended
        try:
            yield
        finally:
            for function, code in changed:
                function.__code__ = code


def _mends_of(file_name: str) -> Iterator[tuple[MendedSource, Mend]]:
    """What was mended in a file, in each module that it is."""
    for source in _sources.values():
        if source.file_name == file_name:
            for mend in source.mends:
                yield source, mend


def sites(place: Place | Break) -> dict[str, str]:
    """The sites of the mends at a place, and what kind of mend each is."""
    return {mend.site: mend.kind for _, mend in _mends_of(place.file) if mend.line == place.line}


def sites_around(file_name: str, line: int) -> dict[str, str]:
    """The sites of the mends whose statements go over a line, and what kind of mend each is."""
    found = {}
    for source, mend in _mends_of(file_name):
        if source.line_at(mend.start) <= line <= source.line_at(mend.end):
            found[mend.site] = mend.kind
    return found


def begun_at(place: Place) -> dict[str, str]:
    """The sites of the mends that may have begun where the place stands, and are not done yet, and their kinds."""
    on_its_line = sites(place)
    around = sites_around(place.file, place.line)
    return {site: kind for site, kind in around.items() if kind in ("postpone", "select") or site in on_its_line}


def note_broken(entry: Break) -> None:
    """Keeps what to say of a place that is mended, and of those that were mended with it, should a graph have them."""
    broken.update(dict.fromkeys(sites(entry), entry))
    for line in {mend.line for _, mend in _mends_of(entry.file) if mend.like == entry.line}:
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
        if any(mend.site == site for mend in source.mends):
            source.silent.add(name)


def selected_around(place: Place) -> list[str]:
    """The sites of branches that are selected, and that the place stands in."""
    return [site for site, kind in sites_around(place.file, place.line).items() if kind == "select"]


def selected_inside(site: str) -> list[str]:
    """The sites of branches that are selected, inside of one that is."""
    for source in _sources.values():
        for outer in source.mends:
            if outer.site == site:
                inside = [mend for mend in source.mends if outer.start < mend.start and mend.end <= outer.end]
                return [mend.site for mend in inside if mend.kind == "select"]
    return []


@functools.cache
def is_foreign(file: str) -> bool:
    """Whether a file belongs to torch or to Python: the breaks there are theirs, and theirs to mend."""
    return Path(file).is_relative_to(Path(torch.__file__).parent) or scope.is_standard(file)

"""A file, as one module's: its text, what was done to it, and the code to trace for each of its functions."""

import functools
import linecache
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from graphmend._mending import effects, mended_file, remembered, substitutes, talkers
from graphmend._mending.mended_file import Mend, MendedText
from graphmend._reporting.report import Break
from graphmend._torch.breaks import Place


def lines_of(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line is not None}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of functions and classes in a module's, in the order of the source. Mends add and remove none of these;
    lambdas and comprehensions come with the function that they stand in."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and not constant.co_name.startswith("<"):
            yield constant
            yield from _codes(constant)


def _lambdas(code: CodeType) -> dict[tuple[Any, ...], CodeType]:
    """The lambdas in a module's code, by where they stand: what is made before the trace, at module level or by a
    function that is not traced, is asked for by itself. Those that cannot be told apart are left out."""
    found: dict[tuple[Any, ...], list[CodeType]] = {}
    codes = [code]
    for each in codes:
        codes += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        if each.co_name == "<lambda>":
            # Before Python 3.11, only lines are known.
            starts = [at[0::2] for at in getattr(each, "co_positions", list)() if at[0] is not None and at[3]]
            key = (each.co_firstlineno, each.co_varnames[: each.co_argcount], min(starts, default=None))
            found.setdefault(key, []).append(each)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


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
        self.lambdas: dict[tuple[Any, ...], CodeType] = {}
        self.codes: dict[CodeType, CodeType] = {}
        try:
            self.source = mended_file.decoded(_read(file_name))
        except (OSError, ValueError):
            self.trouble = "its source cannot be read"
            return
        try:
            module = mended_file.compile_text(self.source, file_name, flags)
            self.originals = list(_codes(module))
            self.lambdas = _lambdas(module)
        except (SyntaxError, ValueError):
            self.trouble = "its source does not compile"

    @functools.cached_property
    def _positions(self) -> mended_file.Positions:
        return mended_file.Positions(self.source)

    def line_at(self, offset: int) -> int:
        return self._positions.position(offset)[0]

    def start_of(self, line: int) -> int:
        """Where the text of a line has begun."""
        return self._positions.offset(line, 1)

    @property
    def mends(self) -> list[Mend]:
        return self.mended.mends if self.mended else []

    def has(self, code: CodeType) -> bool:
        """Whether this is code of the file; what is traced may be mended already."""
        return code in self.originals or code in self.lambdas.values() or code in self.codes.values()

    def mend(self, code: CodeType, place: Place, only: frozenset[str] | None) -> Mend | str:
        if self.trouble:
            return self.trouble
        if not self.has(code):
            return "the running code is not what its file compiles to; the file was changed, or another tool rewrote it"
        line = place.line
        names = self.substitutes | set(substitutes.names_for(place.gb_type))
        times = self.lines.count(line)
        # A line that is mended twice: what is predicted in a guard that is checked.
        is_checked = any(mend.kind == "check" and mend.line == line for mend in self.mends)
        more = times == 0 or (times == 1 and is_checked and (only is None or only == {"speculate"}))
        if not more and names == self.substitutes and self.silent == self.known_silent:
            return f"mended, it still breaks: {place.gb_type}"
        lines = [*self.lines, line] if more else self.lines
        mended = self._mend_text(lines, self.functions, names)
        if line in mended.declined:
            return mended.declined[line]
        known = {mend.site for mend in self.mends}
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

    def recall(self) -> list[Break]:
        """Mends what is remembered, as far as it can be; what that was."""
        record = remembered.recall(self.file_name, self.source, self.speculates)
        if record is None:
            return []
        known = {entry.line: entry for entry in record.breaks}
        mended = self._mend_text(list(known), [], set(record.substitutes))
        if not mended.mends or self._install(mended) is not None:
            return []
        self.lines = [line for line in known if line not in mended.declined]
        self.substitutes = set(record.substitutes)
        self.kept = set(self.lines)
        return [known[line] for line in self.lines]

    def mend_function(self, code: CodeType) -> None:
        line = min(lines_of(code))
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
        new_lambdas = _lambdas(module)
        for key, code in self.lambdas.items():
            if key in new_lambdas and code.co_freevars == new_lambdas[key].co_freevars and code != new_lambdas[key]:
                codes[code] = new_lambdas[key]
        known = {mend.site for mend in self.mends}
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
            # `__new__` is a static method and `__class_getitem__` one of the class, without being told so.
            found = [getattr(value, "__func__", value) for value in vars(made).values()]
            (made,) = [value for value in found if isinstance(value, FunctionType)]
        effects.define(mend.site, mend.outlined, made)


def _read(file_name: str) -> bytes:
    # Notebook cells and the like have their text in linecache only.
    if not Path(file_name).is_file():
        lines = linecache.getlines(file_name)
        if not lines:
            raise OSError(file_name)
        return "".join(lines).encode("utf-8")
    return Path(file_name).read_bytes()

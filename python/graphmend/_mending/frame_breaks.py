"""What becomes of a place where a frame breaks: a mend, a setting of Dynamo's, a symbol, or a line in the report.

In: the places, one in each round of tracing. Out: whether the next round may get further; the report's entries.
"""

import dataclasses
import weakref
from collections.abc import Container
from types import CodeType

from graphmend._mending import mended_code, speculate
from graphmend._mending.backend import MendedBackend
from graphmend._mending.learnt import Captures
from graphmend._mending.mended_file import Mend
from graphmend._mending.substitutes import is_inside, names_for
from graphmend._reporting.report import Break, Report
from graphmend._torch.breaks import (
    NUMBERS,
    Place,
    break_place,
    capture_for,
    hangs_on_symbol,
    is_guard,
    is_read,
    read_places,
)
from graphmend._torch.settings import has_setting
from graphmend._torch.symbols import needs_truth

_TALKING = frozenset(["postpone"])
# What needs no prediction.
_EXACT = frozenset(["postpone", "check", "select", "substitute"])
_PREDICTED = frozenset(["speculate"])
# What decides a test, and what does so without a prediction of its own.
_DECIDES = frozenset(["check", "select", "speculate"])
_JOINED = frozenset(["check", "select"])
# Nothing is changed in the source: Dynamo itself traces the number as a symbol.
_CAPTURE = Mend("capture", line=0, start=0, end=0, site="", outlined="", pieces=(), class_name="")
# How the reason begins why a break stays where graphmend has a bug.
OWN_FAULT = "graphmend failed to mend it, which is a fault of its own"


class FrameBreaks:
    """The breaks of the frames of one `graphmend.compile`."""

    def __init__(self, backend: MendedBackend, report: Report) -> None:
        self.backend = backend
        self.report = report
        weakref.finalize(backend, _forget, report, backend.number)

    def mend_or_leave(self, place: Place, code: CodeType) -> bool:
        """Whether the break is mended. A fault of ours must not become the program's: then the break stays."""
        try:
            return self._set(place) or self._mend(place, code)
        except Exception as error:
            return self.note(place, f"{OWN_FAULT} ({type(error).__name__}: {error})")

    def stop_capturing(self, code: CodeType, error: BaseException | None = None) -> bool:
        """Does without the symbol that was wanted last, if Python needs to know it, or without all of its kind."""
        if not self.backend.frame.captures:
            return False
        captures = self.backend.learnt(code).captures
        if error is None or not hangs_on_symbol(error):
            self.report.take_back(captures.refuse_setting())
        elif not self._predict(error, captures):
            self.report.take_back(captures.refuse_place())
        return True

    def _predict(self, error: BaseException, captures: Captures) -> bool:
        """Predicts what Python needs to know of a symbol, if it is not done yet."""
        # All tests of a truth come to what was read, once.
        by = _JOINED if needs_truth(error) else _DECIDES
        return self._decide_test(break_place(error), captures, by) or self._predict_read(error, captures)

    def unset(self) -> bool:
        """Does without the settings for this frame, if there are any: Dynamo may fail where it would have broken."""
        changed = bool(self.backend.frame.set_for)
        self.backend.frame.refused |= self.backend.frame.set_for
        self.backend.frame.set_for.clear()
        return changed

    def note(self, place: Place, mend: Mend | str) -> bool:
        """Adds a break to the report; whether it is mended."""
        is_mended = isinstance(mend, Mend)
        entry = Break(
            gb_type=place.gb_type,
            file=place.file,
            line=place.line,
            function=mended_code.own_name(place.function),
            mend=mend.kind if isinstance(mend, Mend) else None,
            reason="" if isinstance(mend, Mend) else mend,
            message=place.message,
            column=place.column,
            end_column=place.end_column,
            sites=tuple(mended_code.sites(place).items()),
            around=place.around,
            model=self.backend.number,
        )
        if is_mended:
            mended_code.note_broken(entry)
        else:
            # It may have been mended, and declined while it was traced.
            self.report.mended[:] = [each for each in self.report.mended if place_of(each) != place_of(entry)]
        entries = self.report.mended if is_mended else self.report.left
        if place_of(entry) not in map(place_of, entries):
            entries.append(entry)
        return is_mended

    def note_mended(self) -> None:
        """Adds what was mended for an earlier compile, and is part of this one; says which mend it became."""
        marked = self.backend.frame.marked
        known = {place_of(entry) for entry in self.report.breaks}
        again = [mended_code.broken[site] for site in self.backend.frame.marked & mended_code.broken.keys()]
        for entry in sorted(again, key=lambda entry: (entry.file, entry.line)):
            if place_of(entry) not in known:
                known.add(place_of(entry))
                self.report.mended.append(entry)
        if again:
            files = list(dict.fromkeys(entry.file for entry in self.report.mended))
            self.report.mended.sort(key=lambda entry: (files.index(entry.file), entry.line, entry.column or 0))
        for i, entry in enumerate(self.report.mended):
            kinds = [kind for site, kind in entry.sites if site in marked]
            if kinds:
                mend = entry.mend if entry.mend in kinds else kinds[0]
                self.report.mended[i] = dataclasses.replace(entry, mend=mend, model=self.backend.number)

    def remember(self) -> None:
        """Keeps what the frame is mended by for later processes, as far as that hangs on nothing but the source."""
        marked = self.backend.frame.marked
        traced = [entry for entry in self.report.mended if any(site in marked for site, _ in entry.sites)]
        mended_code.remember([entry for entry in traced if all(kind in _EXACT for _, kind in entry.sites)])

    def _mend(self, place: Place, code: CodeType) -> bool:
        place, mend = self._find_mend(place, code)
        if isinstance(mend, str):
            if self.stop_capturing(code) or self._unselect(place):
                return True
            declined = {**self.backend.notes, **self.backend.declined}
            meant = {"postpone", "check", "select", "speculate"}
            if names_for(place.gb_type):
                meant.add("substitute")
            around = [place, *place.callers()]
            sites = [site for each in around for site, kind in mended_code.sites(each).items() if kind in meant]
            reasons = [declined[site] for site in sites if site in declined]
            # What was to help, where the break is one inside of what is called there.
            self.report.mended[:] = [each for each in self.report.mended if not _is_declined(each, declined)]
            could_be_set = self.backend.frame.set_for | self.backend.frame.refused
            refusal = self.backend.frame.refusal if place.gb_type in could_be_set else ""
            mend = reasons[0] if reasons else self.backend.frame.trouble or refusal or mend
            if self._leave(place, mend):
                return True
        return self.note(place, mend)

    def _find_mend(self, place: Place, code: CodeType) -> tuple[Place, Mend | str]:
        """The place that is mended, which may be one around it, and the mend; or the reason why there is none."""
        if self._is_cached(place):
            return place, "it is called through a cache, which a graph would pass by"
        traced, speculates = self.backend.frame.traced, bool(self.backend.speculates)
        mend = mended_code.mend(place, traced, speculates, only=_EXACT)
        if isinstance(mend, Mend):
            return place, mend
        # A statement that only talks may break anywhere inside of what it calls.
        for outer in place.callers():
            wanted = _TALKING | {"substitute"} if is_inside(place.gb_type) else _TALKING
            talking = mended_code.mend(outer, traced, speculates, only=wanted)
            if isinstance(talking, Mend):
                return outer, talking
        if self._capture(place, code):
            return place, _CAPTURE
        return place, mended_code.mend(place, traced, speculates)

    def _set(self, place: Place) -> bool:
        """Whether another setting of Dynamo's mends the break."""
        if place.gb_type in self.backend.frame.set_for | self.backend.frame.refused or not has_setting(place.gb_type):
            return False
        if self._is_cached(place):
            return False
        self.backend.frame.set_for.add(place.gb_type)
        self.note(place, Mend("setting", place.line, 0, 0, "", "", (), ""))
        return True

    def _is_cached(self, place: Place) -> bool:
        """Whether a break, or what calls the function that breaks, stands in a function that is called through a
        cache."""
        codes = [code for code, _ in self.backend.frame.cached]
        lines = {(code.co_filename, line) for code in codes for _, _, line in code.co_lines()}
        return any((each.file, each.line) in lines for each in (place, *place.callers()))

    def _capture(self, place: Place, code: CodeType) -> bool:
        """Traces what is read from a tensor as a symbol, which is exact, unless that has failed already."""
        captures = self.backend.learnt(code).captures
        setting = capture_for(place)
        generalises = setting is None and self._has_changed(place)
        setting = NUMBERS if generalises else setting
        if setting is None or setting in captures.refused or place_of(place) in captures.refused:
            return False
        # It breaks though it is on.
        if place_of(place) in captures.places.get(setting, ()):
            return False
        captures.places.setdefault(setting, []).append(place_of(place))
        if generalises:
            captures.general = True
            self.report.take_back([place_of(place)])
        return True

    def _has_changed(self, place: Place) -> bool:
        """Whether a whole number is read there that was predicted, and wrongly too often."""
        return is_read(place) and speculate.has_given_up(mended_code.sites(place), self.backend.number)

    def _decide_test(self, place: Place | None, captures: Captures, by: frozenset[str]) -> bool:
        """Mends a test of a symbol by one of these, which changes less than the number does, if it is not done yet."""
        if place is None or not self.backend.speculates or captures.has(place_of(place)) or not is_guard(place):
            return False
        mend = mended_code.mend(place, self.backend.frame.traced, True, only=by)
        if isinstance(mend, str):
            # It was no test.
            self.report.take_back([place_of(place)])
        return isinstance(mend, Mend) and self.note(place, mend)

    def _predict_read(self, error: BaseException, captures: Captures) -> bool:
        """Predicts what is read on the line that the symbol comes from which Python needs to know; others stay."""
        if not self.backend.speculates:
            return False
        for place in read_places(error):
            mend = mended_code.mend(place, self.backend.frame.traced, True, only=_PREDICTED)
            if isinstance(mend, Mend):
                # Where it broke by itself, Dynamo has said why.
                for entry in self.report.mended:
                    if place_of(entry) == place_of(place):
                        place = dataclasses.replace(place, gb_type=entry.gb_type, message=entry.message)
                captures.drop(place_of(place))
                self.report.take_back([place_of(place)])
                return self.note(place, mend)
        return False

    def _unselect(self, place: Place) -> bool:
        """Branches around a break that stays are not selected: their sides would be joined outside of the graph."""
        sites = [site for each in (place, *place.callers()) for site in mended_code.selected_around(each)]
        sites = [site for site in sites if site in self.backend.frame.selected and site not in self.backend.declined]
        for site in sites:
            self.backend.declined[site] = "a break inside of it stays"
        return bool(sites)

    def _leave(self, place: Place, reason: str) -> bool:
        """What is mended around a break that stays is left as it is written, if it is not yet: what comes behind the
        break is a frame of its own, and would go on with what was begun here."""
        begun = {site: kind for each in (place, *place.callers()) for site, kind in mended_code.begun_at(each).items()}
        left = {**self.backend.notes, **self.backend.declined}
        begun = {site: kind for site, kind in begun.items() if site not in left}
        self.backend.declined.update(dict.fromkeys(begun, reason))
        # Without those that have predicted nothing, the next round would end at the same place.
        predicted = {speculate.site_of(key) for key in self.backend.frame.predicted}
        return any(kind != "speculate" or site in predicted for site, kind in begun.items())


def _forget(report: Report, model: int) -> None:
    """A compiled model is gone; its report may not be."""
    report.count_for_good()
    speculate.forget(model)


def place_of(entry: Break | Place) -> tuple[str, int]:
    return entry.file, entry.line


def function_place(code: CodeType, error: BaseException) -> Place:
    """A function as the place of what Dynamo says of all of it."""
    return Place(code.co_filename, code.co_firstlineno, code.co_name, str(getattr(error, "gb_type", "")), str(error))


def in_words(error: BaseException) -> str:
    """The first line of what an exception says, with its type; of a backend's failure, of what it has failed by."""
    cause = getattr(error, "inner_exception", None) or error
    first = str(cause).strip().partition("\n")[0]
    return f"{type(cause).__name__}: {first}" if first else type(cause).__name__


def _is_declined(entry: Break, declined: Container[str]) -> bool:
    return entry.mend in ("substitute", "postpone") and all(site in declined for site, _ in entry.sites)

"""What graphmend does around Dynamo: it mends while a frame is compiled.

`MendingCallback` stands between Python's frame evaluation and Dynamo's converter. A frame is compiled with breaks as
errors, which runs nothing; the place that broke is mended, and the frame compiled again, until it is captured whole or
nothing moves. Then the break stays as it is in plain `torch.compile`, and the frames behind it get their own turn.

A frame whose graph is a transaction (`transaction`) is run by a `Recovery`.
"""

import contextlib
import dataclasses
import time
from collections.abc import Container, Iterator
from types import CodeType
from typing import Any

from graphmend._mending import mended_code, speculate
from graphmend._mending.backend import MendedBackend
from graphmend._mending.learnt import Captures
from graphmend._mending.mended_file import Mend
from graphmend._mending.recovery import Recovery
from graphmend._mending.scope import is_standard
from graphmend._mending.substitutes import is_inside, names_for
from graphmend._reporting.report import Break, Report
from graphmend._torch.assembled import code_assembled
from graphmend._torch.asserts import asserts_left
from graphmend._torch.attributes import attributes_guarded
from graphmend._torch.breaks import (
    Place,
    TorchRuntimeError,
    Unsupported,
    UserError,
    break_place,
    capture_for,
    captured,
    compile_lock,
    fails_tracing,
    forget_errors,
    hangs_on_symbol,
    hits_limit,
    is_guard,
    is_raise,
    read_places,
    trial,
)
from graphmend._torch.classes import changes_of_classes_seen
from graphmend._torch.compiling import changing_attributes, recompile_limit
from graphmend._torch.dropouts import dropouts_passed_on
from graphmend._torch.exact import numbers_compared
from graphmend._torch.extremes import extremes_compared
from graphmend._torch.formats import formats_kept
from graphmend._torch.frames import FrameView, can_wrap_frame, frame_that_calls, know_code, run_once_as_it_is
from graphmend._torch.generators import generators_noted
from graphmend._torch.identity import identities_known
from graphmend._torch.one_tensor import changes_shared
from graphmend._torch.raised import exceptions_in_vain
from graphmend._torch.settings import HAVE_SETTINGS, has_setting, patch_for, whole_guards
from graphmend._torch.tracing import traced_code

_RAISES = "it may raise, and is evaluated though the program may not come to it"
# A frame with more places than this is given up, so that nothing goes on for ever.
_MAX_ROUNDS = 500
# A frame that raises this often while it is traced is compiled up to the raise.
_MAX_RAISED = 8

_TALKING = frozenset(["postpone"])
# What needs no prediction.
_EXACT = frozenset(["postpone", "check", "select", "substitute"])
_PREDICTED = frozenset(["speculate"])
# What decides a test.
_DECIDES = frozenset(["check", "select", "speculate"])
# Nothing is changed in the source: Dynamo itself traces the number as a symbol.
_CAPTURE = Mend("capture", line=0, start=0, end=0, site="", outlined="", pieces=(), class_name="")
# How the reason begins why a break stays where graphmend has a bug.
OWN_FAULT = "graphmend failed to mend it, which is a fault of its own"


class MendingCallback:
    """Dynamo's callback for the frames of one `graphmend.compile`."""

    def __init__(self, inner: Any, backend: MendedBackend, report: Report, fullgraph: bool) -> None:
        # Dynamo finds the backend, and with it the compiled code that belongs to it, through this name.
        self._torchdynamo_orig_backend = inner
        self.backend = backend
        self.report = report
        self.fullgraph = fullgraph

    def __call__(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        # While a frame is tried, Dynamo's settings are others, for all threads.
        with compile_lock:
            return self._convert(frame, cache_entry, frame_state)

    def _convert(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        convert = self._torchdynamo_orig_backend
        code: CodeType = frame.f_code
        know_code(code)
        self.backend.codes[code] = None
        if self.backend.disabled or not can_wrap_frame(code):
            return self._convert_plainly(frame, cache_entry, frame_state)
        if self.backend.learnt(code).as_it_is:
            return run_once_as_it_is()
        self.backend.frame.set_for.clear()
        self.backend.frame.refused.clear()
        self.backend.frame.refusal = self.backend.learnt(code).without_settings
        if self.backend.frame.refusal:
            self.backend.frame.refused |= HAVE_SETTINGS
        for _ in range(_MAX_ROUNDS):
            started = time.perf_counter()
            traced = mended_code.replacement(code, frame.f_globals, bool(self.backend.speculates))
            view = frame if traced is code else FrameView(frame, traced)
            self.backend.begin_frame(code, frame.f_globals)
            try:
                with trial(), self._settings(code), captured(convert, self.backend.frame.captures, self.fullgraph):
                    result = convert(view, cache_entry, frame_state)
                break
            except (Unsupported, UserError) as error:
                if is_raise(error) and self._raises_for_sure(code):
                    result = run_once_as_it_is()
                    break
                if hits_limit(error):
                    self._note(_function_place(code, error), "it was compiled too often, and runs in eager from now on")
                    result = None
                    break
                # What a break has led into: how a record is made, say. In pieces it would gain nothing.
                if is_standard(code.co_filename) and not self.fullgraph:
                    self.backend.learnt(code).as_it_is = True
                    result = run_once_as_it_is()
                    break
                place = break_place(error)
                if hangs_on_symbol(error) and self._stop_capturing(code, error):
                    continue
                if place is None or not self._mend_or_leave(place, code):
                    if self.fullgraph:
                        raise
                    result = None
                    break
                self.report.seconds += time.perf_counter() - started
            except TorchRuntimeError as error:
                if self._stop_capturing(code, error) or self._unset():
                    continue
                # A side that was not meant may be what does not fit.
                if not self.backend.frame.selected:
                    return self._convert_as_written(frame, cache_entry, frame_state, error)
                for site in self.backend.frame.selected:
                    self.backend.declined[site] = "computing all sides failed"
            except Exception as error:
                if self._stop_capturing(code, error) or self._unset() or self._fix_attributes(code):
                    continue
                return self._convert_as_written(frame, cache_entry, frame_state, error)
        else:
            result = None
        if result is None:
            try:
                result = self._convert_with_breaks(frame, cache_entry, frame_state)
            except Exception as error:
                return self._convert_as_written(frame, cache_entry, frame_state, error)
        self.backend.end_frame()
        if result.guarded_code is not None:
            self.backend.learnt(code).in_vain = 0
            self.report.calls += not self.backend.frame.has_transaction
            self.report.graphs += self.backend.frame.graphs
            self.report.ops += self.backend.frame.ops
            self._note_mended()
            self._remember()
            self._bound_versions(code)
            # Dynamo puts a frame's variables where its own code has them; what was made of other code may have them
            # elsewhere, and is called as a function.
            is_other = mended_code.replacement(code, frame.f_globals, bool(self.backend.speculates)) is not code
            if self.backend.frame.has_transaction or is_other:
                recovery = Recovery(self.backend, code, result.guarded_code, frame.f_globals, self.report)
                result.guarded_code.code = frame_that_calls(code, recovery)
        return result

    def _convert_plainly(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        """As plain `torch.compile` does it."""
        convert = self._torchdynamo_orig_backend
        forget_errors(convert)
        self.backend.end_frame()
        try:
            with self.backend.without_mends():
                return convert(frame, cache_entry, frame_state)
        except Exception:
            # The frame may be there only because of the places that were mended.
            if mended_code.is_resumed(frame.f_code) and not self.fullgraph:
                return run_once_as_it_is()
            raise

    def _convert_as_written(self, frame: Any, cache_entry: Any, frame_state: Any, error: Exception) -> Any:
        """Whatever it is that failed with mends, it is Dynamo's to say, of the program as it was written."""
        lines = {(code.co_filename, line) for code, _ in self.backend.frame.traced for *_, line in code.co_lines()}
        try:
            result = self._convert_plainly(frame, cache_entry, frame_state)
        except Exception as raised:
            if self.fullgraph or not fails_tracing(raised):
                raise
            return self._leave_to_python(frame.f_code, raised)
        cause = getattr(error, "inner_exception", None)
        failed = "torch.compile" if cause is None else "the backend"
        reason = f"{failed} fails on the mended frame ({type(cause or error).__name__})"
        # What broke when the code was compiled before was mended from the start this time.
        known = {_place(each) for each in self.report.breaks}
        before = [each for each in dict.fromkeys(mended_code.broken.values()) if _place(each) not in known]
        places = [each for each in [*self.report.mended, *before] if _place(each) in lines]
        self.report.mended[:] = [each for each in self.report.mended if each not in places]
        for entry in places:
            if _place(entry) not in map(_place, self.report.left):
                self.report.left.append(dataclasses.replace(entry, mend=None, reason=reason))
        if not places and not mended_code.is_foreign(frame.f_code.co_filename):
            # Nothing was mended yet: what failed is in graphmend, and plain `torch.compile` did what it does.
            self._note(_function_place(frame.f_code, error), f"graphmend could not trace it ({_in_words(error)})")
            self.report.calls += result.guarded_code is not None
        return result

    def _leave_to_python(self, code: CodeType, error: Exception) -> Any:
        """An operation raises while it is traced, or Dynamo fails on it: what it raises in eager is for the program's
        own handlers."""
        learnt = self.backend.learnt(code)
        learnt.in_vain += 1
        learnt.as_it_is = learnt.in_vain > _MAX_RAISED
        place = break_place(error) or _function_place(code, error)
        failed = "an operation raises while it is traced"
        if not isinstance(error, TorchRuntimeError):
            failed = f"torch.compile fails while it traces it ({_in_words(error)})"
        self._note(place, f"{failed}, and the call runs in eager")
        return run_once_as_it_is()

    def _convert_with_breaks(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        """As plain `torch.compile` does it, but with all mends around the break that stays."""
        convert = self._torchdynamo_orig_backend
        code: CodeType = frame.f_code
        mended_code.mend_around(code, frame.f_globals, bool(self.backend.speculates))
        traced = mended_code.replacement(code, frame.f_globals, bool(self.backend.speculates))
        self.backend.begin_frame(code, frame.f_globals)
        self.backend.frame.goes_on = True
        forget_errors(convert)
        view = frame if traced is code else FrameView(frame, traced)
        # Counters stay the numbers that they are: Dynamo cannot hand on a text of one that may change.
        with self._patched():
            return convert(view, cache_entry, frame_state)

    @contextlib.contextmanager
    def _settings(self, code: CodeType) -> Iterator[None]:
        # An effect that shows a counter would else be compiled anew for each of its values.
        may_change = self.report.mended and not self.backend.learnt(code).fixes_attributes
        attributes = changing_attributes() if may_change else contextlib.nullcontext()
        with attributes, self._patched():
            yield

    @contextlib.contextmanager
    def _patched(self) -> Iterator[None]:
        # What an effect shows, and what decides a check, is all in the graph: guards must miss no change of it.
        guards = whole_guards(lambda: self.backend.frame.has_transaction)
        identities = identities_known(self.backend.trace_without)
        raised = exceptions_in_vain(self._note_raised)
        settings = patch_for(self.backend.frame.set_for, self._refuse)
        asserts = asserts_left(self._leaves_asserts)
        # What Dynamo does otherwise than Python.
        exact = (
            formats_kept(),
            numbers_compared(),
            extremes_compared(),
            changes_of_classes_seen(),
            generators_noted(),
            dropouts_passed_on(),
            attributes_guarded(),
            changes_shared(),
            code_assembled(),
        )
        with contextlib.ExitStack() as stack:
            for each in (guards, identities, raised, asserts, *exact, settings):
                stack.enter_context(each)
            yield

    def _leaves_asserts(self) -> bool:
        """Whether an assert could not become a check: the graph can carry none."""
        return not self.fullgraph and self.backend.learnt(traced_code()).cannot_carry is not None

    def _refuse(self, reason: str) -> None:
        self.backend.frame.refusal = reason

    def _note_raised(self, file: str, line: int, is_operand: bool) -> None:
        """Begins the trace anew if what raised is evaluated though Python may not come to it: a handler of the
        program's would take the exception for its own."""
        meant = {"check", "select", "speculate"} if is_operand else {"select", "postpone"}
        selected = self.backend.frame.selected
        for site, kind in mended_code.sites_around(file, line).items():
            runs = kind != "select" or is_operand or site in selected
            if kind in meant and runs and site not in self.backend.declined:
                self.backend.trace_without(site, _RAISES)

    def _fix_attributes(self, code: CodeType) -> bool:
        """Traces counters as the numbers that they are, if that is not so already: Dynamo cannot make a text that the
        program keeps of one that may change."""
        is_new = bool(self.report.mended) and not self.backend.learnt(code).fixes_attributes
        self.backend.learnt(code).fixes_attributes = True
        return is_new

    def _set(self, place: Place) -> bool:
        """Whether another setting of Dynamo's mends the break."""
        if place.gb_type in self.backend.frame.set_for | self.backend.frame.refused or not has_setting(place.gb_type):
            return False
        if self._is_cached(place):
            return False
        self.backend.frame.set_for.add(place.gb_type)
        self._note(place, Mend("setting", place.line, 0, 0, "", "", (), ""))
        return True

    def _unset(self) -> bool:
        """Does without the settings for this frame, if there are any: Dynamo may fail where it would have broken."""
        changed = bool(self.backend.frame.set_for)
        self.backend.frame.refused |= self.backend.frame.set_for
        self.backend.frame.set_for.clear()
        return changed

    def _raises_for_sure(self, code: CodeType) -> bool:
        """Whether this call raises: what was predicted are its own values. It then runs as it is, unless it often does;
        plain `torch.compile` breaks the graph at the raise, and so do we."""
        if not self.backend.frame.predicted:
            return False
        learnt = self.backend.learnt(code)
        learnt.raised += 1
        return learnt.raised <= _MAX_RAISED

    def _capture(self, place: Place, code: CodeType) -> bool:
        """Traces what is read from a tensor as a symbol, which is exact, unless that has failed already."""
        setting = capture_for(place)
        captures = self.backend.learnt(code).captures
        if setting is None or setting in captures.refused or _place(place) in captures.refused:
            return False
        # It breaks though it is on.
        if _place(place) in captures.places.get(setting, ()):
            return False
        captures.places.setdefault(setting, []).append(_place(place))
        return True

    def _stop_capturing(self, code: CodeType, error: BaseException | None = None) -> bool:
        """Does without the symbol that was wanted last, if Python needs to know it, or without all of its kind."""
        if not self.backend.frame.captures:
            return False
        captures = self.backend.learnt(code).captures
        if error is None or not hangs_on_symbol(error):
            self.report.take_back(captures.refuse_setting())
        elif not self._predict_test(break_place(error), captures) and not self._predict_read(error, captures):
            self.report.take_back(captures.refuse_place())
        return True

    def _predict_test(self, place: Place | None, captures: Captures) -> bool:
        """Predicts what a test of a symbol comes to, which changes less than the number does, if it is not done yet."""
        if place is None or not self.backend.speculates or captures.has(_place(place)) or not is_guard(place):
            return False
        mend = mended_code.mend(place, self.backend.frame.traced, True, only=_DECIDES)
        if isinstance(mend, str):
            # It was no test.
            self.report.take_back([_place(place)])
        return isinstance(mend, Mend) and self._note(place, mend)

    def _predict_read(self, error: BaseException, captures: Captures) -> bool:
        """Predicts what is read on the line that the symbol comes from which Python needs to know; others stay."""
        if not self.backend.speculates:
            return False
        for place in read_places(error):
            mend = mended_code.mend(place, self.backend.frame.traced, True, only=_PREDICTED)
            if isinstance(mend, Mend):
                # Where it broke by itself, Dynamo has said why.
                for entry in self.report.mended:
                    if _place(entry) == _place(place):
                        place = dataclasses.replace(place, gb_type=entry.gb_type, message=entry.message)
                captures.drop(_place(place))
                self.report.take_back([_place(place)])
                return self._note(place, mend)
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
        sites = [site for each in (place, *place.callers()) for site in mended_code.begun_at(each)]
        left = {**self.backend.notes, **self.backend.declined}
        sites = [site for site in sites if site not in left]
        self.backend.declined.update(dict.fromkeys(sites, reason))
        return bool(sites)

    def _bound_versions(self, code: CodeType) -> None:
        """Predictions that go on changing must not use up the limit of recompilations, behind which all is eager."""
        keys = self.backend.frame.keys
        if keys:
            learnt = self.backend.learnt(code)
            learnt.versions += 1
            if learnt.versions >= recompile_limit() - 2:
                speculate.give_up_changing(keys)

    def _note_mended(self) -> None:
        """Adds what was mended for an earlier compile, and is part of this one; says which mend it became."""
        marked = self.backend.frame.marked
        known = {_place(entry) for entry in self.report.breaks}
        again = [mended_code.broken[site] for site in self.backend.frame.marked & mended_code.broken.keys()]
        for entry in sorted(again, key=lambda entry: (entry.file, entry.line)):
            if _place(entry) not in known:
                known.add(_place(entry))
                self.report.mended.append(entry)
        if again:
            files = list(dict.fromkeys(entry.file for entry in self.report.mended))
            self.report.mended.sort(key=lambda entry: (files.index(entry.file), entry.line, entry.column or 0))
        for i, entry in enumerate(self.report.mended):
            kinds = [kind for site, kind in entry.sites if site in marked]
            if kinds and entry.mend not in kinds:
                self.report.mended[i] = dataclasses.replace(entry, mend=kinds[0])

    def _remember(self) -> None:
        """Keeps what the frame is mended by for later processes, as far as that hangs on nothing but the source."""
        marked = self.backend.frame.marked
        traced = [entry for entry in self.report.mended if any(site in marked for site, _ in entry.sites)]
        mended_code.remember([entry for entry in traced if all(kind in _EXACT for _, kind in entry.sites)])

    def _mend_or_leave(self, place: Place, code: CodeType) -> bool:
        """Whether the break is mended. A fault of ours must not become the program's: then the break stays."""
        try:
            return self._set(place) or self._mend(place, code)
        except Exception as error:
            return self._note(place, f"{OWN_FAULT} ({type(error).__name__}: {error})")

    def _mend(self, place: Place, code: CodeType) -> bool:
        place, mend = self._find_mend(place, code)
        if isinstance(mend, str):
            if self._stop_capturing(code) or self._unselect(place):
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
        return self._note(place, mend)

    def _note(self, place: Place, mend: Mend | str) -> bool:
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
        )
        if is_mended:
            mended_code.note_broken(entry)
        else:
            # It may have been mended, and declined while it was traced.
            self.report.mended[:] = [each for each in self.report.mended if _place(each) != _place(entry)]
        entries = self.report.mended if is_mended else self.report.left
        if _place(entry) not in map(_place, entries):
            entries.append(entry)
        return is_mended

    def _is_cached(self, place: Place) -> bool:
        """Whether a break, or what calls the function that breaks, stands in a function that is called through a
        cache."""
        codes = [code for code, _ in self.backend.frame.cached]
        lines = {(code.co_filename, line) for code in codes for _, _, line in code.co_lines()}
        return any((each.file, each.line) in lines for each in (place, *place.callers()))

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


def _function_place(code: CodeType, error: BaseException) -> Place:
    """A function as the place of what Dynamo says of all of it."""
    return Place(code.co_filename, code.co_firstlineno, code.co_name, str(getattr(error, "gb_type", "")), str(error))


def _in_words(error: BaseException) -> str:
    """The first line of what an exception says, with its type."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _place(entry: Break | Place) -> tuple[str, int]:
    return entry.file, entry.line


def _is_declined(entry: Break, declined: Container[str]) -> bool:
    return entry.mend in ("substitute", "postpone") and all(site in declined for site, _ in entry.sites)

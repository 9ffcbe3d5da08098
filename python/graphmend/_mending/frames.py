"""What graphmend does around Dynamo: it mends while a frame is compiled.

`MendingCallback` stands between Python's frame evaluation and Dynamo's converter. A frame is compiled with breaks as
errors, which runs nothing; the place that broke is mended, and the frame compiled again, until it is captured whole or
nothing moves. Then the break stays as it is in plain `torch.compile`, and the frames behind it get their own turn.

A frame whose graph is a transaction (`transaction`) is run by a `Recovery`.
"""

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from types import CodeType
from typing import Any

from graphmend._mending import mended_code, speculate
from graphmend._mending.backend import MendedBackend
from graphmend._mending.frame_breaks import OWN_FAULT, FrameBreaks, function_place, in_words, place_of
from graphmend._mending.recovery import Recovery
from graphmend._mending.scope import is_standard
from graphmend._reporting.report import Report
from graphmend._torch.as_python import as_python_does
from graphmend._torch.asserts import asserts_left
from graphmend._torch.breaks import (
    Place,
    TorchRuntimeError,
    Unsupported,
    UserError,
    break_place,
    captured,
    comes_from_us,
    compile_lock,
    fails_tracing,
    forget_errors,
    hangs_on_symbol,
    hits_limit,
    is_raise,
    told_of_the_program,
    trial,
)
from graphmend._torch.compiling import changing_attributes, recompile_limit
from graphmend._torch.frames import (
    FrameView,
    can_wrap_frame,
    frame_that_calls,
    know_code,
    run_once_as_it_is,
    skip_from_now_on,
)
from graphmend._torch.identity import identities_known
from graphmend._torch.own_breaks import is_own
from graphmend._torch.raised import exceptions_in_vain
from graphmend._torch.settings import HAVE_SETTINGS, patch_for, whole_guards
from graphmend._torch.texts import own_texts_noticed
from graphmend._torch.tracing import TraceAgain, traced_code

_RAISES = "it may raise, and is evaluated though the program may not come to it"
_TEXTS = "a handler gets an exception that torch.compile raises with another text than Python"
# A frame with more places than this is given up, so that nothing goes on for ever.
_MAX_ROUNDS = 500
# With so many operations in what was compiled for predictions of one frame, another value gets no graph any more: a
# trace takes milliseconds for each, and Inductor tens of them.
_MAX_OPS = 8000
# A frame that raises this often while it is traced is compiled up to the raise.
_MAX_RAISED = 8


class MendingCallback:
    """Dynamo's callback for the frames of one `graphmend.compile`."""

    def __init__(self, inner: Any, backend: MendedBackend, report: Report, fullgraph: bool) -> None:
        # Dynamo finds the backend, and with it the compiled code that belongs to it, through this name.
        self._torchdynamo_orig_backend = inner
        self.backend = backend
        self.report = report
        self.fullgraph = fullgraph
        self.breaks = FrameBreaks(backend, report)

    def __reduce__(self) -> tuple[Any, ...]:
        # What a copy of a compiled model does is told in a report of its own.
        return _with_new_report, (self._torchdynamo_orig_backend, self.backend, self.report.name, self.fullgraph)

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
            return self._run_as_it_is()
        self._begin(code)
        for rounds in range(_MAX_ROUNDS):
            started = time.perf_counter()
            traced = mended_code.replacement(code, frame.f_globals, bool(self.backend.speculates))
            view = frame if traced is code else FrameView(frame, traced)
            self.backend.learnt(code).is_mended |= rounds > 0 or mended_code.has_marks(traced)
            self.backend.begin_frame(code, frame.f_globals)
            try:
                with (
                    trial(),
                    self._settings(code, may_change=True),
                    captured(convert, self.backend.frame.captures, self.fullgraph),
                ):
                    result = convert(view, cache_entry, frame_state)
                break
            except (Unsupported, UserError) as error:
                if (self.backend.frame.fails or is_raise(error)) and self._raises_for_sure(code):
                    result = self._run_as_it_is()
                    break
                if self.fullgraph and self.backend.frame.given_up:
                    # It has been whole until now, and what cannot go on so runs as it is written.
                    self.backend.learnt(code).as_it_is = True
                    result = self._run_as_it_is()
                    break
                if hits_limit(error):
                    self.breaks.note(
                        function_place(code, error), "it was compiled too often, and runs in eager from now on"
                    )
                    result = None
                    break
                # What a break has led into: how a record is made, say. In pieces it would gain nothing.
                if is_standard(code.co_filename) and not self.fullgraph:
                    self.backend.learnt(code).as_it_is = True
                    result = self._run_as_it_is()
                    break
                # Traced as a mended one from the start, it may need no mend in this call.
                if rounds == 0 and is_own(error) and not mended_code.is_resumed(code):
                    whole = self._captured_as_written(frame, cache_entry, frame_state)
                    if whole is not None:
                        return whole
                    continue
                place = break_place(error)
                if hangs_on_symbol(error) and self.breaks.stop_capturing(code, error):
                    continue
                if place is None or not self.breaks.mend_or_leave(place, code):
                    if self.fullgraph:
                        raise
                    result = None
                    break
                self.report.seconds += time.perf_counter() - started
            except TorchRuntimeError as error:
                if self.breaks.stop_capturing(code, error) or self.breaks.unset():
                    continue
                # A side that was not meant may be what does not fit.
                if not self.backend.frame.selected:
                    return self._convert_as_written(frame, cache_entry, frame_state, error)
                for site in self.backend.frame.selected:
                    self.backend.declined[site] = "computing all sides failed"
            except Exception as error:
                if self.breaks.stop_capturing(code, error) or self.breaks.unset() or self._fix_attributes(code):
                    continue
                return self._convert_as_written(frame, cache_entry, frame_state, error)
        else:
            tired = Place(code.co_filename, code.co_firstlineno, code.co_name, "More breaks than are tried", "")
            self.breaks.note(tired, f"it was traced {_MAX_ROUNDS} times, and still broke")
            result = None
        if result is None:
            try:
                result = self._convert_with_breaks(frame, cache_entry, frame_state)
            except Exception as error:
                return self._convert_as_written(frame, cache_entry, frame_state, error)
        self.backend.end_frame()
        if self._stays_empty(code):
            return skip_from_now_on()
        if result.guarded_code is not None:
            self._finish(frame, result.guarded_code)
        return result

    def _stays_empty(self, code: CodeType) -> bool:
        """Whether nothing was traced of the rest of a function, to its end: plain `torch.compile` leaves it to Python;
        where breaks are errors Dynamo compiles that too, and anew for each number that has changed."""
        traced = self.backend.frame
        is_rest = not self.fullgraph and mended_code.is_resumed(code)
        return is_rest and not (traced.ops or traced.has_transaction or traced.marked or traced.goes_on)

    def _begin(self, code: CodeType) -> None:
        learnt = self.backend.learnt(code)
        self.backend.frame.set_for.clear()
        self.backend.frame.refused.clear()
        self.backend.frame.refusal = learnt.without_settings
        if learnt.without_settings:
            self.backend.frame.refused |= HAVE_SETTINGS
        # Plain `torch.compile` may have no break before the rest of a function, or one behind which Python goes on.
        learnt.is_mended |= mended_code.is_resumed(code)

    def _finish(self, frame: Any, guarded_code: Any) -> None:
        """Tells what was compiled for a frame, and has it run by a `Recovery` if it must be."""
        code: CodeType = frame.f_code
        self.backend.learnt(code).in_vain = 0
        self._count()
        self.breaks.note_mended()
        self.breaks.remember()
        self._bound_versions(code)
        # Dynamo puts a frame's variables where its own code has them; what was made of other code may have them
        # elsewhere, and is called as a function.
        is_other = mended_code.replacement(code, frame.f_globals, bool(self.backend.speculates)) is not code
        if self.backend.frame.has_transaction or is_other:
            recovery = Recovery(self.backend, code, guarded_code, frame.f_globals, self.report)
            guarded_code.code = frame_that_calls(code, recovery)

    def _count(self) -> None:
        """Adds what was compiled for a frame to the report."""
        self.report.calls += not self.backend.frame.has_transaction
        self.report.graphs += self.backend.frame.graphs
        self.report.ops += self.backend.frame.ops

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
                return self._run_as_it_is()
            raise

    def _captured_as_written(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        """What plain `torch.compile` makes of a frame, if that captures it whole; else None."""
        convert = self._torchdynamo_orig_backend
        self.backend.begin_frame(frame.f_code, frame.f_globals)
        try:
            with trial(), captured(convert, (), self.fullgraph), self.backend.without_mends():
                result = convert(frame, cache_entry, frame_state)
        except Exception:
            return None
        # What it has made of an `assert` raises something else than Python; breaks would not.
        if self.backend.frame.asserts and not self.fullgraph:
            return None
        self.backend.end_frame()
        if result.guarded_code is not None:
            self._count()
        return result

    def _convert_as_written(self, frame: Any, cache_entry: Any, frame_state: Any, error: Exception) -> Any:
        """Whatever it is that failed with mends, it is Dynamo's to say, of the program as it was written."""
        lines = self._traced_lines()
        try:
            # As an operator, an `assert` would raise what the program does not.
            with asserts_left(lambda: not self.fullgraph):
                result = self._convert_plainly(frame, cache_entry, frame_state)
        except Exception as raised:
            if self.fullgraph or not fails_tracing(raised):
                raise
            return self._leave_to_python(frame.f_code, raised)
        cause = getattr(error, "inner_exception", None)
        failed = "torch.compile" if cause is None else "the backend"
        reason = f"{failed} fails on the mended frame ({type(cause or error).__name__})"
        if comes_from_us(error):
            reason = f"{OWN_FAULT} ({in_words(error)})"
        # What broke when the code was compiled before was mended from the start this time.
        known = {place_of(each) for each in self.report.breaks}
        before = [each for each in dict.fromkeys(mended_code.broken.values()) if place_of(each) not in known]
        places = [each for each in [*self.report.mended, *before] if place_of(each) in lines]
        self.report.mended[:] = [each for each in self.report.mended if each not in places]
        for entry in places:
            if place_of(entry) not in map(place_of, self.report.left):
                self.report.left.append(dataclasses.replace(entry, mend=None, reason=reason))
        if not places and not mended_code.is_foreign(frame.f_code.co_filename):
            # Nothing was mended yet: what failed is in graphmend, and plain `torch.compile` did what it does.
            self.breaks.note(function_place(frame.f_code, error), f"graphmend could not trace it ({in_words(error)})")
            self.report.calls += result.guarded_code is not None
        return result

    def _run_as_it_is(self) -> Any:
        """Has the frame run in eager, this time."""
        if self.fullgraph:
            self.report.calls += 1
            self.report.misses += 1
        return run_once_as_it_is(self.fullgraph)

    def _leave_to_python(self, code: CodeType, error: Exception) -> Any:
        """An operation raises while it is traced, or Dynamo fails on it: what it raises in eager is for the program's
        own handlers."""
        learnt = self.backend.learnt(code)
        learnt.in_vain += 1
        learnt.as_it_is = learnt.in_vain > _MAX_RAISED
        place = break_place(error) or function_place(code, error)
        failed = "an operation raises while it is traced"
        if not isinstance(error, TorchRuntimeError):
            failed = f"torch.compile fails while it traces it ({in_words(error)})"
        self.breaks.note(place, f"{failed}, and the call runs in eager")
        return self._run_as_it_is()

    def _convert_with_breaks(self, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        """As plain `torch.compile` does it, but with all mends around the break that stays."""
        convert = self._torchdynamo_orig_backend
        code: CodeType = frame.f_code
        mended_code.mend_around(code, frame.f_globals, bool(self.backend.speculates))
        traced = mended_code.replacement(code, frame.f_globals, bool(self.backend.speculates))
        self.backend.learnt(code).is_mended |= mended_code.has_marks(traced)
        self.backend.begin_frame(code, frame.f_globals)
        # Nothing is a symbol here.
        self.backend.frame.captures = ()
        self.backend.frame.goes_on = True
        forget_errors(convert)
        view = frame if traced is code else FrameView(frame, traced)
        # Counters stay the numbers that they are: Dynamo cannot hand on a text of one that may change.
        with told_of_the_program(), self._settings(code, may_change=False):
            return convert(view, cache_entry, frame_state)

    @contextlib.contextmanager
    def _settings(self, code: CodeType, may_change: bool) -> Iterator[None]:
        """Dynamo does what it does for everybody, and what Python does as soon as something is mended in the frame;
        `may_change`: counters may then be numbers that change."""
        with contextlib.ExitStack() as stack:

            def put_right() -> None:
                # An effect that shows a counter would else be compiled anew for each of its values.
                if may_change and self.report.mended and not self.backend.learnt(code).fixes_attributes:
                    stack.enter_context(changing_attributes())
                for each in self._parts_put_right():
                    stack.enter_context(each)

            stack.callback(setattr, self.backend.frame, "put_right", self.backend.frame.put_right)
            self.backend.frame.put_right = put_right
            if self.backend.learnt(code).is_mended:
                put_right()
            yield

    def _parts_put_right(self) -> Iterator[contextlib.AbstractContextManager[Any]]:
        # What an effect shows, and what decides a check, is all in the graph: guards must miss no change of it.
        yield whole_guards(lambda: self.backend.frame.has_transaction)
        yield identities_known(self.backend.trace_without, self.backend.leave_as_written)
        yield exceptions_in_vain(self._note_raised)
        yield asserts_left(self._leaves_asserts)
        yield own_texts_noticed(self._leave_texts)
        yield as_python_does()
        yield patch_for(self.backend.frame.set_for, self._refuse)

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

    def _leave_texts(self) -> None:
        """Begins the trace anew without mends: what Python raises has another text than what Dynamo raises for it, and
        without a break the program's handler would see that."""
        around = {site for file, line in self._traced_lines() for site in mended_code.sites_around(file, line)}
        if around - self.backend.declined.keys():
            self.backend.declined.update(dict.fromkeys(around, _TEXTS))
            raise TraceAgain(restart_reason=_TEXTS)

    def _traced_lines(self) -> set[tuple[str, int]]:
        codes = [code for code, _ in self.backend.frame.traced]
        return {(code.co_filename, line) for code in codes for *_, line in code.co_lines() if line}

    def _fix_attributes(self, code: CodeType) -> bool:
        """Traces counters as the numbers that they are, if that is not so already: Dynamo cannot make a text that the
        program keeps of one that may change."""
        is_new = bool(self.report.mended) and not self.backend.learnt(code).fixes_attributes
        self.backend.learnt(code).fixes_attributes = True
        return is_new

    def _raises_for_sure(self, code: CodeType) -> bool:
        """Whether this call raises: what was predicted are its own values, or a check of it fails. It then runs as it
        is, unless it often does; plain `torch.compile` breaks the graph at the raise, and so do we."""
        if not self.backend.frame.predicted and not self.backend.frame.fails:
            return False
        learnt = self.backend.learnt(code)
        learnt.raised += 1
        return learnt.raised <= _MAX_RAISED

    def _bound_versions(self, code: CodeType) -> None:
        """Predictions that go on changing must not use up the limit of recompilations, behind which all is eager, nor
        compile large graphs again and again."""
        keys = self.backend.frame.keys
        if keys:
            learnt = self.backend.learnt(code)
            learnt.versions += 1
            learnt.ops += self.backend.frame.ops
            if learnt.versions >= recompile_limit() - 2 or learnt.ops > _MAX_OPS:
                speculate.give_up_changing(keys)


def _with_new_report(inner: Any, backend: MendedBackend, name: str, fullgraph: bool) -> MendingCallback:
    return MendingCallback(inner, backend, Report(name=name), fullgraph)

"""Where plain torch.compile 2.13 itself differs from eager. A mended program may do there what either of them does.

Each entry has a name, the reason, and a test that is as narrow as the reason allows. judge.py sees
to it that plain torch.compile really gives the same value in the same place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .compare import Difference, Rules, compare_values
from .observe import Observation
from .values import TensorValue

_TEXTS = ("events.text", "events.message", "events.template", "events.args", "events.kept", "error.args")
_RESUME = "torch_dynamo_resume_in_"
# What a tensor says of its history: a compiled graph has one for all its operations.
_HISTORY = re.compile(r"grad_fn=<(\w+)>")
# An f-string's field with `.item()` and a format.
_FORMATTED = re.compile(r"\{[^{}]*\.item\(\)[^{}]*:")
# What has an infinite derivative somewhere.
_STEEP = re.compile(r"/ \w+\.floor\(|sqrt\(|log\(|reciprocal\(")
_NUMBERS = re.compile(r"'float', |0x[\da-fp.+-]+|\d+\.?\d*(e[+-]?\d+)?|[-\s'()]")


@dataclass(frozen=True)
class Program:
    """What an entry may look at besides the difference."""

    text: str
    eager: list[Observation]
    plain: list[Observation]
    rules: Rules


@dataclass(frozen=True)
class Known:
    """One way in which Dynamo differs from eager."""

    name: str
    reason: str
    matches: Callable[[Difference, Program], bool]
    # It is how a graph break shows, so that it depends on where the breaks that are left are.
    shows_breaks: bool = False
    # It needs not be in the same place where plain torch.compile has it.
    anywhere: bool = False


def _warned_again(difference: Difference, program: Program) -> bool:
    if difference.place != "events" or "'filter': 'default'" not in program.text:
        return False
    call = difference.path[0]
    assert isinstance(call, int)
    given = [_said(event) for seen in program.eager[:call] for event in seen.events if event["kind"] == "warning"]
    # Eager's events in their order, and between them nothing but warnings that it gave before.
    expected = [event for event in difference.expected if event["kind"] == "warning"]
    rest = []
    for event in difference.seen:
        if event["kind"] == "warning":
            if expected and not compare_values(_said(expected[0]), _said(event), program.rules):
                given.append(_said(expected.pop(0)))
            elif any(not compare_values(one, _said(event), program.rules) for one in given):
                continue
            else:
                return False
        rest.append(event)
    differences = compare_values(_levelled(difference.expected), _levelled(rest), program.rules)
    placed = [replace(each, path=(call, "events", *each.path)) for each in differences]
    resumed = any(str(event.get("function")).startswith(_RESUME) for event in rest)
    return all(
        _history(each, program) or _copied_output(each, program) or (resumed and _is_place(each, program))
        for each in placed
    )


def _said(event: dict[str, Any]) -> tuple[Any, ...]:
    """A warning without its place, which a break can move."""
    return event.get("category"), event["text"]


def _levelled(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without what a break shows in them; what is printed with nothing in between is one text."""
    found: list[dict[str, Any]] = []
    for event in events:
        event = {
            key: value for key, value in event.items() if event["kind"] != "warning" or key not in ("file", "line")
        }
        if str(event.get("function", "")).startswith(_RESUME):
            event["function"] = event["function"].removeprefix(_RESUME).rpartition("_at_")[0]
        if found and event["kind"] == found[-1]["kind"] == "stdout":
            event = {**event, "text": found.pop()["text"] + event["text"]}
        found.append(event)
    return found


def _resumed_frames(difference: Difference, program: Program) -> bool:
    if difference.place != "error.frames":
        return False
    resumed, meant = _without_resumes(str(difference.seen)).split(" > "), str(difference.expected).split(" > ")
    return len(resumed) == len(meant) and all(map(_same_frame, resumed, meant))


def _same_frame(seen: str, expected: str) -> bool:
    """Whether the frames are the same; columns are told only by one that has any."""
    return seen == expected or (":None" in seen and seen.partition(":")[0] == expected.partition(":")[0])


def _without_resumes(frames: str) -> str:
    """The frames that eager would have: a function and those that resume it are one, at the last one's place."""
    kept: list[str] = []
    for frame in frames.split(" > "):
        name, _, position = frame.rpartition(" ")
        is_resume = name.startswith(_RESUME)
        if is_resume:
            name = name.removeprefix(_RESUME).rpartition("_at_")[0]
        # An effect's statement has the function's own name.
        if kept and kept[-1].startswith(f"{name} ") and (is_resume or ":None" in kept[-1]):
            kept.pop()
        kept.append(f"{name} {position}")
    return " > ".join(kept)


def _resumed_function(difference: Difference, program: Program) -> bool:
    return difference.place == "events.function" and str(difference.seen).startswith(
        f"{_RESUME}{difference.expected}_at_"
    )


def _resumed_stacklevel(difference: Difference, program: Program) -> bool:
    if not _is_place(difference, program):
        return False
    call, _, event = difference.path[:3]
    assert isinstance(call, int) and isinstance(event, int)
    return program.eager[call].events[event]["kind"] in ("log", "warning")


def _is_place(difference: Difference, program: Program) -> bool:
    """The place that is told by how many frames it is away."""
    places = ("events.file", "events.line", "events.function")
    return difference.place in places and "stacklevel=" in program.text


def _warm_line(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    # The eighth run of a helper comes early where it is called more than once.
    if difference.place != "events.line" or call < 2:
        return False
    return _is_first(program, difference.seen) or _is_same_statement(program, difference.expected, difference.seen)


def _is_first(program: Program, line: int) -> bool:
    """Whether a line is a function's first."""
    lines = program.text.splitlines()
    return 0 < line <= len(lines) and lines[line - 1].lstrip().startswith("def ")


def _is_same_statement(program: Program, line: int, other: int) -> bool:
    """Whether two lines are of one statement, in the middle of which a function may be resumed: its first line."""
    statements = (node for node in ast.walk(ast.parse(program.text)) if isinstance(node, ast.Expr))
    return any({line, other} <= set(range(node.lineno, (node.end_lineno or 0) + 1)) for node in statements)


def _resumed_in_loop(difference: Difference, program: Program) -> bool:
    if difference.place != "events.line":
        return False
    lines = program.text.splitlines()
    before = sorted((difference.expected, difference.seen))
    depth = min(len(lines[at - 1]) - len(lines[at - 1].lstrip()) for at in before)
    # The loop that both lines stand in.
    for line in reversed(lines[: before[0] - 1]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < depth:
            if line.lstrip().startswith(("for ", "while ")):
                return True
            depth = indent
    return False


def _raised_in_graph(difference: Difference, program: Program) -> bool:
    """An operation raises: the frames end with the first line of the function whose graph it is in."""
    if difference.place != "error.frames":
        return False
    name, _, position = str(difference.seen).rpartition(" > ")[2].rpartition(" ")
    line, _, columns = position.partition("-")[0].partition(":")
    lines = program.text.splitlines()
    if columns != "None" or not 0 < int(line) <= len(lines):
        return False
    # What is resumed begins where it is resumed.
    return name.endswith(f"_at_{line}") or lines[int(line) - 1].lstrip().startswith("def ")


def _from_call(cause: Callable[[Observation, Observation], bool]) -> Callable[[Difference, Program], bool]:
    """Where Dynamo fails a call that eager passes, or the other way round, that call and those after it differ."""

    def matches(difference: Difference, program: Program) -> bool:
        last = difference.path[0]
        assert isinstance(last, int)
        return any(map(cause, program.eager[: last + 1], program.plain[: last + 1]))

    return matches


def _raises(seen: Observation, kind: str, text: str = "") -> bool:
    return seen.error is not None and seen.error["type"] == kind and text in repr(seen.error["args"])


def _lost_number(eager: Observation, plain: Observation) -> bool:
    return eager.error is None and _raises(
        plain, "builtins.AttributeError", "'NoneType' object has no attribute 'item'"
    )


def _captured_assert(eager: Observation, plain: Observation) -> bool:
    return _raises(eager, "builtins.AssertionError") and _raises(plain, "builtins.RuntimeError")


def _formatted_float(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "exc.InternalTorchDynamoError", "Unknown format code") and eager.error != plain.error


def _joined_float(eager: Observation, plain: Observation) -> bool:
    texts = [f"expected str instance, {kind} found" for kind in ("float", "int")]
    return any(_raises(plain, "builtins.TypeError", text) for text in texts) and eager.error != plain.error


def _exception_table(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "builtins.AssertionError", "exception table entry") and eager.error != plain.error


def _fails_on_float(eager: Observation, plain: Observation) -> bool:
    return _formatted_float(eager, plain) or _joined_float(eager, plain)


def _unformatted_float(difference: Difference, program: Program) -> bool:
    if difference.place not in _TEXTS or _FORMATTED.search(program.text) is None:
        return False
    # All that differs are numbers, as text or as they are.
    expected, seen = (
        _NUMBERS.sub("", _HISTORY.sub("", str(value))) for value in (difference.expected, difference.seen)
    )
    return expected == seen and _has_own_histories(difference)


def _history(difference: Difference, program: Program) -> bool:
    # A longer name can move what follows to the next line.
    expected, seen = (
        " ".join(_HISTORY.sub(" ", str(value)).split()) for value in (difference.expected, difference.seen)
    )
    same = not compare_values(expected, seen, program.rules)
    return difference.place in _TEXTS and same and _has_own_histories(difference)


def _has_own_histories(difference: Difference) -> bool:
    """Whether what is said of histories is what eager says, or what graphs say."""
    expected, seen = (_HISTORY.findall(str(value)) for value in (difference.expected, difference.seen))
    return len(expected) == len(seen) and all(
        after in (before, "CompiledFunctionBackward", "CopyBackwards")
        for before, after in zip(expected, seen, strict=True)
    )


def _missing_attribute(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    error = program.eager[call].error
    # What it leaves behind shows in the calls after it as well.
    missing = any(seen.error and seen.error["type"] == "builtins.AttributeError" for seen in program.eager[: call + 1])
    if difference.place.startswith("error"):
        return difference.place == "error.frames" and error is not None and error["type"] == "builtins.AttributeError"
    return missing and difference.place.split(".")[0] in ("globals", "owner")


def _unguarded_default(difference: Difference, program: Program) -> bool:
    unguarded = torch.__version__ < "2.13" and ".setdefault(" in program.text
    return unguarded and difference.place == "owner.table" and "list" in str(difference.expected)


def _compiled_caller(difference: Difference, program: Program) -> bool:
    return _is_place(difference, program) and difference.seen in ("outside", 0, "") and "COMPILE(" in program.text


def _iterated_views(eager: Observation, plain: Observation) -> bool:
    return eager.error is not None and re.search(r"of Unbind\w* is a view", repr(eager.error["args"])) is not None


def _assert_message(eager: Observation, plain: Observation) -> bool:
    error = plain.error
    return error is not None and error["type"] == "builtins.TypeError" and "_assert_async()" in repr(error["args"])


def _traced_error(eager: Observation, plain: Observation) -> bool:
    return eager.error is not None and _raises(plain, "exc.TorchRuntimeError")


def _traced_text(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "exc.TorchRuntimeError", "can only concatenate str") and eager.error != plain.error


def _traced_backward(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "exc.BackendCompilerFailed", "modified by an inplace operation")


def _functional_backward(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if difference.place == "backward":
        return (difference.expected, difference.seen) == ("raised RuntimeError", "done")
    if not any(seen.backward == "raised RuntimeError" for seen in program.eager[: call + 1]):
        return False
    # Gradients, and the numbers of tensors, of which there are more.
    return "grad" in difference.path or difference.path[-1] == "storage" or _is_number(difference, program)


def _is_number(difference: Difference, program: Program) -> bool:
    """Whether a difference is which tensor is met again."""
    found: Any = program.eager
    for part in difference.path[:-1]:
        found = getattr(found, part) if isinstance(part, str) and is_dataclass(found) else found[part]
    return isinstance(found, tuple) and found[:1] == ("again",)


def _copied_input(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if "self.drop(" not in program.text and "dropout(" not in program.text:
        return False
    if difference.place == "arguments.bits":
        # What is changed later is the copy.
        return True
    found = compare_values(program.eager[call], program.plain[call], Rules())
    # Where there is one tensor more, the numbers of all others' memory move.
    return any(_is_copy(each) for each in found) and (_is_copy(difference) or difference.path[-1] == "storage")


def _copied_output(difference: Difference, program: Program) -> bool:
    """Where plain `torch.compile` breaks in front of the dropout, it may run in eager, and there it copies nothing."""
    has_dropout = "self.drop(" in program.text or "dropout(" in program.text
    is_inference = "'inference_mode'" in program.text
    shows = (
        _is_copy(difference)
        or difference.path[-1] == "storage"
        or _is_of_copy(difference)
        or (is_inference and _is_shown(difference))
    )
    return has_dropout and shows and program.rules != Rules()


def _is_copy(difference: Difference) -> bool:
    """A new tensor where eager has one that was met before."""
    expected, seen = difference.expected, difference.seen
    return isinstance(expected, tuple) and expected[:1] == ("again",) and isinstance(seen, TensorValue)


def _is_of_copy(difference: Difference) -> bool:
    """What a copy says of itself after the call: of a leaf it has a history and no gradient."""
    of_later = difference.path[1] == "later"
    found = (difference.path[-1], difference.expected, difference.seen)
    lost_gradient = difference.path[-1] == "grad" and isinstance(difference.expected, TensorValue)
    return of_later and (
        found in (("leaf", True, False), ("inference", False, True)) or (lost_gradient and difference.seen is None)
    )


def _is_shown(difference: Difference) -> bool:
    """The text of a copy, in inference mode: it is no leaf that wants a gradient."""
    plainly = re.sub(r",\s+requires_grad=True", "", str(difference.expected))
    return difference.place in _TEXTS and plainly == difference.seen


def _zero_gradient(difference: Difference, program: Program) -> bool:
    if difference.path[-1] == "storage":
        # Where there is one tensor more, the numbers of all others' memory move.
        call = difference.path[0]
        assert isinstance(call, int)
        found = compare_values(program.eager[call], program.plain[call], program.rules)
        return any(_is_zero_gradient(each) for each in found)
    return _is_zero_gradient(difference)


def _is_zero_gradient(difference: Difference) -> bool:
    seen = difference.seen
    is_gradient = difference.path[-1] == "grad" and difference.expected is None and isinstance(seen, TensorValue)
    return is_gradient and not any(seen.bits)


def _infinite_derivative(difference: Difference, program: Program) -> bool:
    expected, seen = difference.expected, difference.seen
    is_gradient = difference.path[-2:] == ("grad", "bits") and isinstance(seen, TensorValue)
    if not is_gradient or program.rules == Rules():
        return False
    if seen.shape != expected.shape or _STEEP.search(program.text) is None:
        return False
    numbers, spoilt = seen.numbers(), np.isnan(seen.numbers())
    rest = np.allclose(numbers[~spoilt], expected.numbers()[~spoilt], rtol=1e-5, atol=1e-5)
    return bool(spoilt.any()) and not bool(spoilt.all()) and bool(rest)


def _shared_inputs(difference: Difference, program: Program) -> bool:
    shares = "('alias'," in program.text or "('view'," in program.text
    if not shares or program.rules == Rules():
        return False
    # Where a break is, another graph is taken; plain `torch.compile` has been wrong by then as well.
    call = difference.path[0]
    assert isinstance(call, int)
    return any(
        compare_values(eager, plain, program.rules)
        for eager, plain in zip(program.eager[: call + 1], program.plain[: call + 1], strict=True)
    )


def _layout(difference: Difference, program: Program) -> bool:
    leaves_graph = difference.path[1] in ("result", "later") or difference.place.startswith("events.args.")
    return leaves_graph and difference.path[-1] == "stride" and program.rules != Rules()


def _uncached_cast(difference: Difference, program: Program) -> bool:
    seen, expected = difference.seen, difference.expected
    is_gradient = difference.path[-2:] == ("grad", "bits") and isinstance(seen, TensorValue)
    if not is_gradient or "'autocast'" not in program.text or program.rules == Rules():
        return False
    units = Rules(gradient_units=4 * round(torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float32).eps))
    return seen.dtype == "torch.float32" and not compare_values({"grad": expected}, {"grad": seen}, units)


def _drawn_otherwise(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    if not program.rules.tolerance or "torch.bernoulli(" not in program.text:
        return False
    return program.eager[call].rng["torch"] != program.plain[call].rng["torch"]


def _raised_class(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "builtins.AssertionError", "self._current_exception is not None")


KNOWN = [
    Known(
        "compiled-caller",
        "between a compiled function and its caller stand functions of torch, at which a stacklevel can point",
        _compiled_caller,
        anywhere=True,
    ),
    Known(
        "history",
        "a tensor that is shown says grad_fn=<CompiledFunctionBackward> when it comes out of a graph that AOTAutograd"
        " compiled; or <CopyBackwards> when it is an input that was changed in place and the changes were committed",
        _history,
        anywhere=True,
    ),
    Known(
        "warned-again",
        "compiling changes the filters of warnings for a while, and Python then forgets which places have warned: with"
        " the filter `default`, a call after a compilation warns again",
        _warned_again,
        anywhere=True,
    ),
    Known(
        "resume-frames",
        "after a graph break the rest of the function runs in functions named torch_dynamo_resume_in_…, and the frames"
        " that lead there have no columns",
        _resumed_frames,
        shows_breaks=True,
    ),
    Known(
        "resume-function-name",
        "a log record made after a graph break has the resume function's name in funcName",
        _resumed_function,
        shows_breaks=True,
    ),
    Known(
        "resume-stacklevel",
        "a resume function is called by the function it continues, so that stacklevel=2 points into the program again",
        _resumed_stacklevel,
        shows_breaks=True,
    ),
    Known(
        "warm-line",
        "on Python 3.11, code that Dynamo made for a break gives from its eighth run on the first line of its function"
        " as the place of what it calls",
        _warm_line,
        shows_breaks=True,
    ),
    Known(
        "resume-line",
        "a log record made in a loop that goes on behind a graph break has the line at which the loop was resumed",
        _resumed_in_loop,
        shows_breaks=True,
    ),
    Known(
        "graph-frames",
        "what an operation of a graph raises comes from the first line of the function whose graph it is",
        _raised_in_graph,
    ),
    Known(
        "captured-assert",
        "`assert` on a tensor is captured as an operation: it raises RuntimeError, from where the graph was called",
        _from_call(_captured_assert),
    ),
    Known(
        "formatted-float",
        "a float from `.item()` that changes between calls becomes symbolic, and formatting it in an f-string fails"
        " inside Dynamo; how, depends on where the breaks are",
        _from_call(_fails_on_float),
        shows_breaks=True,
    ),
    Known(
        "lost-number",
        "a number that may change is handed over at a break as a tensor that is not there",
        _from_call(_lost_number),
    ),
    Known(
        "exception-table",
        "Dynamo fails to make what comes after a break in front of some forms of nested `try`",
        _from_call(_exception_table),
    ),
    Known(
        "unformatted-float",
        "an f-string that is one field with such a float and a nested format is rebuilt as the float itself, wherever a"
        " break comes between the float and its use",
        _unformatted_float,
        anywhere=True,
    ),
    Known(
        "unguarded-default",
        "before torch 2.13, `dict.setdefault` of a key that was not there when it was traced is replayed when it is",
        _unguarded_default,
        anywhere=True,
    ),
    Known(
        "missing-attribute",
        "a method that an object does not have is looked up after a graph, and before the program's own changes of"
        " objects are written back",
        _missing_attribute,
        anywhere=True,
    ),
    Known(
        "iterated-views",
        "a tensor is iterated over by `unbind`, whose views forbid that it is changed in place meanwhile; Dynamo takes"
        " the rows one by one, and lets it happen",
        _from_call(_iterated_views),
        anywhere=True,
    ),
    Known(
        "assert-message",
        "an assert on a tensor whose message is a constant but no string becomes an operator that takes only strings",
        _from_call(_assert_message),
    ),
    Known(
        "traced-error",
        "an operation that raises is found while tracing with fake tensors, and arrives as TorchRuntimeError",
        _from_call(_traced_error),
        shows_breaks=True,
    ),
    Known(
        "traced-text",
        "before torch 2.13, a text that is put together from another and a number that may change fails while tracing",
        _from_call(_traced_text),
    ),
    Known(
        "traced-backward",
        "AOTAutograd traces a graph's backward when it compiles it, and fails where eager raises only when `backward`"
        " is called; what came before it depends on where the breaks are",
        _from_call(_traced_backward),
        shows_breaks=True,
    ),
    Known(
        "functional-backward",
        "in a graph that AOTAutograd compiled, what backward needs is kept as it was before it was changed in place;"
        " eager's backward raises then, and this one goes through",
        _functional_backward,
        anywhere=True,
    ),
    Known(
        "copied-output",
        "a dropout that is off gives its input back; in a graph that AOTAutograd compiled it gives a copy",
        _copied_output,
        anywhere=True,
    ),
    Known(
        "copied-input",
        "the same, where the copy is changed later and not the input",
        _copied_input,
    ),
    Known(
        "zero-gradient",
        "a graph that AOTAutograd compiled has one backward for all its outputs: an input on which only those depend"
        " that take no part in it gets a gradient of zeros, where eager leaves None",
        _zero_gradient,
    ),
    Known(
        "infinite-derivative",
        "the same, where a derivative on the way is infinite: zero times that is NaN. Which outputs share a backward"
        " hangs on where the breaks are",
        _infinite_derivative,
        anywhere=True,
    ),
    Known(
        "shared-inputs",
        "AOTAutograd compiles for inputs that share their memory, one of which the graph changes; nothing guards that,"
        " and the graph is taken for inputs that do not",
        _shared_inputs,
        anywhere=True,
    ),
    Known(
        "layout",
        "in a graph that AOTAutograd compiled, results are laid out as its decompositions have it, which hangs on all"
        " that is in the graph: the strides of a result, and of what is shown, may be others",
        _layout,
        anywhere=True,
    ),
    Known(
        "uncached-cast",
        "autocast casts a parameter once for all its uses, and their gradients are added in bfloat16; AOTAutograd"
        " traces without that cache, and they are added in float32",
        _uncached_cast,
    ),
    Known(
        "drawn-otherwise",
        "Inductor compares numbers of float32 for `torch.bernoulli`, also where eager draws numbers of float64",
        _drawn_otherwise,
    ),
    Known(
        "raised-class",
        "`raise SomeError` with a class and not an instance can fail inside Dynamo",
        _from_call(_raised_class),
    ),
]


class Explained:
    """The entries, applied to the differences of one program."""

    def __init__(self, text: str, eager: list[Observation], plain: list[Observation], rules: Rules) -> None:
        self._program = Program(text, eager, plain, rules)

    def entries(self, difference: Difference) -> list[Known]:
        """The entries that may explain a difference."""
        return [known for known in KNOWN if known.matches(difference, self._program)]

"""Differences by which a break shows, and what Dynamo writes back around it: places, frames, histories, texts."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import torch

from .compare import Difference, compare_values
from .known_by_backends import copied_output
from .known_program import TEXTS, Program
from .values import TensorValue

_RESUME = "torch_dynamo_resume_in_"
# What a tensor says of its history: a compiled graph has one for all its operations.
_HISTORY = re.compile(r"grad_fn=<(\w+)>")
# An f-string's field with `.item()` and a format.
_FORMATTED = re.compile(r"\{[^{}]*\.item\(\)[^{}]*:")
_NUMBERS = re.compile(r"'float', |0x[\da-fp.+-]+|\d+\.?\d*(e[+-]?\d+)?|[-\s'()]")


def warned_again(difference: Difference, program: Program) -> bool:
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
    return all(
        history(each, program) or copied_output(each, program) or (program.is_broken and _is_place(each, program))
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
        if found and event["kind"] == found[-1]["kind"] and event["kind"] in ("stdout", "stderr"):
            event = {**event, "text": found.pop()["text"] + event["text"]}
        found.append(event)
    return found


def scalar_array(difference: Difference, program: Program) -> bool:
    expected, seen = difference.expected, difference.seen
    if not ("numpy" in program.text and isinstance(expected, tuple) and isinstance(seen, tuple)):
        return False
    if expected[:1] != ("numpy",) or seen[:1] != ("ndarray",) or expected[1] != seen[1] or seen[2] != ():
        return False
    return bool(expected[2] == repr(np.frombuffer(seen[3], seen[1])[0]))


def resumed_frames(difference: Difference, program: Program) -> bool:
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


def resumed_function(difference: Difference, program: Program) -> bool:
    return difference.place == "events.function" and str(difference.seen).startswith(
        f"{_RESUME}{difference.expected}_at_"
    )


def resumed_stacklevel(difference: Difference, program: Program) -> bool:
    if not _is_place(difference, program):
        return False
    call, _, event = difference.path[:3]
    assert isinstance(call, int) and isinstance(event, int)
    return program.eager[call].events[event]["kind"] in ("log", "warning")


def _is_place(difference: Difference, program: Program) -> bool:
    """The place that is told by how many frames it is away."""
    places = ("events.file", "events.line", "events.function")
    return difference.place in places and "stacklevel=" in program.text


def warm_line(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    # The eighth run of a helper comes early where it is called more than once.
    if not _is_line(difference) or call < 2:
        return False
    if _is_first(program, difference.seen) or _is_same_statement(program, difference.expected, difference.seen):
        return True
    # A function that goes on behind a break begins there, and runs once a call.
    return call >= 7 and program.is_broken and _is_behind(program, difference.expected, difference.seen)


def _is_line(difference: Difference) -> bool:
    """Whether two events are told of two lines; one of another kind has none."""
    is_known = isinstance(difference.expected, int) and isinstance(difference.seen, int)
    return difference.place == "events.line" and is_known


def _is_first(program: Program, line: int) -> bool:
    """Whether a line is a function's first."""
    lines = program.text.splitlines()
    return 0 < line <= len(lines) and lines[line - 1].lstrip().startswith("def ")


def _is_behind(program: Program, line: int, other: int) -> bool:
    """Whether a line is of the same function as another one, and behind it."""
    functions = [node for node in ast.walk(ast.parse(program.text)) if isinstance(node, ast.FunctionDef)]
    return any(node.lineno <= other < line <= (node.end_lineno or 0) for node in functions)


def _is_same_statement(program: Program, line: int, other: int) -> bool:
    """Whether two lines are of one statement, in the middle of which a function may be resumed: its first line."""
    statements = (node for node in ast.walk(ast.parse(program.text)) if isinstance(node, ast.Expr))
    return any({line, other} <= set(range(node.lineno, (node.end_lineno or 0) + 1)) for node in statements)


def resumed_in_loop(difference: Difference, program: Program) -> bool:
    if not _is_line(difference):
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


def raised_in_graph(difference: Difference, program: Program) -> bool:
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


def unformatted_float(difference: Difference, program: Program) -> bool:
    if difference.place not in TEXTS or _FORMATTED.search(program.text) is None:
        return False
    # All that differs are numbers, as text or as they are.
    expected, seen = (
        _NUMBERS.sub("", _HISTORY.sub("", str(value))) for value in (difference.expected, difference.seen)
    )
    return expected == seen and _has_own_histories(difference, program)


def history(difference: Difference, program: Program) -> bool:
    # A longer name can move what follows to the next line.
    expected, seen = (
        " ".join(_HISTORY.sub(" ", str(value)).split()) for value in (difference.expected, difference.seen)
    )
    same = not compare_values(expected, seen, program.rules)
    return difference.place in TEXTS and same and _has_own_histories(difference, program)


def _has_own_histories(difference: Difference, program: Program) -> bool:
    """Whether what is said of histories is what eager says, or what graphs say."""
    names = ["CompiledFunctionBackward", "CopyBackwards"]
    if torch.__version__ < "2.12" and ".register_hook(" in program.text:
        names.append("ApplyTemplateBackward")
    if difference.path[0] != 0 and "self.last = " in program.text:
        names.append("WhereBackward0")
    expected, seen = (_HISTORY.findall(str(value)) for value in (difference.expected, difference.seen))
    return len(expected) == len(seen) and all(
        after in (before, *names) or (_is_of_function(before, program) and after == "ApplyTemplateBackward")
        for before, after in zip(expected, seen, strict=True)
    )


def _is_of_function(name: str, program: Program) -> bool:
    return f"class {name.removesuffix('Backward')}(torch.autograd.Function)" in program.text


def shown_views(difference: Difference, program: Program) -> bool:
    shows_view = ".detach()" in program.text or ".view(" in program.text or "[0]" in program.text
    if shows_view and difference.place == "events.kept":
        call, _, event, _ = difference.path
        assert isinstance(call, int) and isinstance(event, int)
        # As they are at the end, or as they were at that moment.
        shown = (difference.expected, program.eager[call].events[event]["args"], difference.seen)
        *expected, seen = (re.sub(r" storage \d+", "", repr(value)) for value in shown)
        return seen in expected
    return shows_view and difference.place == "events.args.storage"


def shown_join(difference: Difference, program: Program) -> bool:
    if "'inference_mode'" not in program.text:
        return False
    if difference.place == "events.kept":
        return repr(difference.expected) == repr(difference.seen).replace(" inference", "")
    return difference.place == "events.args.inference" and difference.expected is False


def missing_attribute(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    error = program.eager[call].error
    # What it leaves behind shows in the calls after it as well.
    missing = any(seen.error and seen.error["type"] == "builtins.AttributeError" for seen in program.eager[: call + 1])
    if difference.place.startswith("error"):
        return difference.place == "error.frames" and error is not None and error["type"] == "builtins.AttributeError"
    return missing and difference.place.split(".")[0] in ("globals", "owner")


def unguarded_default(difference: Difference, program: Program) -> bool:
    unguarded = torch.__version__ < "2.13" and ".setdefault(" in program.text
    shows_table = difference.place in TEXTS and "{'n': [" in str(difference.expected)
    return unguarded and (shows_table or (difference.place == "owner.table" and "list" in str(difference.expected)))


def drawn_number(difference: Difference, program: Program) -> bool:
    if "random.uniform(" not in program.text and "random.random(" not in program.text:
        return False
    types = ("torch.float32", "torch.float64")
    expected, seen = difference.expected, difference.seen
    if difference.path[-1] == "dtype":
        return (expected, seen) == types
    is_value = isinstance(expected, TensorValue) and isinstance(seen, TensorValue)
    return is_value and (expected.dtype, seen.dtype) == types and not expected.shape


def compiled_caller(difference: Difference, program: Program) -> bool:
    if not _is_place(difference, program) or "COMPILE(" not in program.text:
        return False
    outside = ("outside", 0, "")
    # One of torch's; or the call of what is compiled, where eager is outside of that already.
    calls = [i for i, line in enumerate(program.text.splitlines(), 1) if " inner(" in line]
    return difference.seen in outside or (difference.expected in outside and difference.seen in ("target", *calls))

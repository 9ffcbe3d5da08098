"""`graphmend verify`: a program as it was written against the same program mended, by what the world sees of them.

Two fresh processes: in the first, whatever `torch.compile` returns runs in eager; in the second, it is mended. Compared
are standard output, standard error and the exit status. What no two runs share is levelled first: addresses,
durations, times of day, names of temporary files, torch's own log lines about compiling, and the frames of torch and
graphmend in tracebacks.
"""

import math
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from graphmend import _config
from graphmend._frame_file import FRAME_FILE
from graphmend._reporting import report
from graphmend._running import gather, run, running

_LEVELLED: tuple[tuple[str, str], ...] = (
    (r"\b0x[0-9a-fA-F]+\b", "0x…"),
    (r"\b\d\d:\d\d:\d\d([.,]\d+)?", "…:…:…"),
    (r"\b\d+:\d\d<(\d+:\d\d|\?)", "…<…"),
    (r"\b\d+(\.\d+)?(e[+-]?\d+)? ?(ns|us|µs|ms|s|sec|secs|seconds?|minutes?|min|it/s|s/it|iters?/s|batch/s)\b", "… s"),
    (r"/tmp[a-z0-9_]{8}\b", "/tmp…"),
    # Compiled code has its own, and a printed tensor shows it.
    (r",\s+grad_fn=<\w+>", ""),
)
# torch's log lines (`W0131 12:00:00.000000 123 torch/_dynamo/…`) and warnings of its compiler, with the line of source
# that follows: eager has nothing to compile.
_OF_THE_COMPILER = re.compile(
    r"^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S*torch/_\w+/.*$"
    r"|^\S*/torch/_(dynamo|inductor|functorch|logging)/\S*:\d+: \w*Warning: .*(\n[ \t]+.*)?$",
    re.MULTILINE,
)
# A frame of a traceback, with its line of source and the carets below.
_FRAME_OF_OURS = re.compile(
    rf'^(?P<indent> *)File "(?:[^"\n]*/(?:torch|graphmend)/[^"\n]*|{re.escape(FRAME_FILE)})", line \d+, in .*\n'
    r"(?:(?P=indent)  (?! *File \").*\n)*",
    re.MULTILINE,
)
_FRACTION = re.compile(r"(?<![\w.])[+-]?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")


@dataclass(frozen=True)
class Outcome:
    """What the world sees of a run."""

    output: str
    errors: str
    status: int
    seconds: float


@dataclass
class Rounding:
    """Numbers that differ by no more than rounding."""

    tolerance: float
    count: int = 0
    largest: float = 0.0

    def same(self, one: str, other: str) -> bool:
        """Whether two lines are equal but for the last digits of numbers with a fraction."""
        if one == other:
            return True
        if not self.tolerance or _FRACTION.split(one) != _FRACTION.split(other):
            return False
        pairs = list(zip(_FRACTION.findall(one), _FRACTION.findall(other), strict=True))
        differences = [_difference(float(a), float(b)) for a, b in pairs if a != b]
        if not all(difference <= self.tolerance for difference in differences):
            return False
        self.count += len(differences)
        self.largest = max(self.largest, *differences)
        return True


def _difference(one: float, other: float) -> float:
    """Relative to the larger one; numbers below one hundredth are taken as if they were that large."""
    return abs(one - other) / max(abs(one), abs(other), 0.01) if math.isfinite(one - other) else math.inf


def verify(program: Sequence[str], settings: _config.Settings, tolerance: float) -> int:
    """Runs both, says what was found, and returns the exit status."""
    folder = run.reports_folder()
    given = _standard_input()
    original = _run_once(program, run.environment(settings, running.EAGER, 0, folder), given)
    mended = _run_once(program, run.environment(settings, running.MENDED, 0, folder), given)
    gathered = gather.collect(folder)
    rounding = Rounding(tolerance)
    difference = first_difference(original, mended, rounding)
    if difference:
        print(f"graphmend: the mended program differs from the original\n{difference}")
        print("  a program that differs from itself, by random numbers without a seed for example, cannot be compared")
    else:
        print(f"graphmend: equal{_rounding_note(rounding)}{_failure_note(mended)}")
        lines = sum(bool(line) for line in levelled(mended.output) + levelled(mended.errors))
        print(f"  {report.counted(lines, 'line')} of output, exit status {mended.status}")
        print(f"  original in eager {original.seconds:.1f} s, mended {mended.seconds:.1f} s, compiling included")
    if not settings.quiet:
        print("  " + gathered.summary().removeprefix("graphmend: "))
    if settings.report:
        problem = gathered.save(settings.report, program)
        if problem:
            print(problem, file=sys.stderr)
    return 1 if difference else 0


def _rounding_note(rounding: Rounding) -> str:
    if not rounding.count:
        return ", numbers to the last digit"
    return f"; {rounding.count} numbers differ by rounding, {rounding.largest:.1e} of their size at most"


def _failure_note(outcome: Outcome) -> str:
    """That the program has failed in both runs, and by what: nothing behind that was compared."""
    if not outcome.status:
        return ""
    said = [line for line in outcome.errors.splitlines() if line.strip()]
    return "; the program fails" + (f": {said[-1].strip()}" if said else "")


def first_difference(original: Outcome, mended: Outcome, rounding: Rounding) -> str:
    """The first thing that differs, for people; nothing when all is equal."""
    for name, one, other in (
        ("standard output", original.output, mended.output),
        ("standard error", original.errors, mended.errors),
    ):
        ours, theirs = levelled(one), levelled(other)
        for number in range(max(len(ours), len(theirs))):
            first = ours[number] if number < len(ours) else None
            second = theirs[number] if number < len(theirs) else None
            if first is None or second is None or not rounding.same(first, second):
                return (
                    f"  {name}, line {number + 1}\n"
                    f"    original: {'(ends here)' if first is None else first}\n"
                    f"    mended:   {'(ends here)' if second is None else second}"
                )
    if original.status != mended.status:
        return f"  exit status\n    original: {original.status}\n    mended:   {mended.status}"
    return ""


def levelled(text: str) -> list[str]:
    """The lines without what differs from run to run."""
    text = _FRAME_OF_OURS.sub("", _OF_THE_COMPILER.sub("\0", text))
    for pattern, replacement in _LEVELLED:
        text = re.sub(pattern, replacement, text)
    # What a progress bar draws over itself counts as lines.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line for line in lines if line != "\0"]


def _standard_input() -> bytes:
    """A file is given to both runs; a terminal or a pipe, which can be read once, to neither."""
    try:
        if stat.S_ISREG(os.fstat(0).st_mode):
            return sys.stdin.buffer.read()
    except (OSError, ValueError, AttributeError):
        pass
    return b""


def _run_once(program: Sequence[str], variables: dict[str, str], given: bytes) -> Outcome:
    # Sets of strings are walked in the same order in both.
    variables.setdefault("PYTHONHASHSEED", "0")
    started = time.perf_counter()
    done = subprocess.run(run.python_command(program), env=variables, input=given, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    output, errors = (stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr))
    return Outcome(output, errors, done.returncode, seconds)

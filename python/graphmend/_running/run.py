"""The commands `run`, `explain` and `verify`, which run a Python program.

`run` and `explain` become that program: Python itself is started with the program's own words, and a hook on its path
(see `hook` and `running`) exchanges `torch.compile` when torch is imported. So `sys.argv`, `__main__`, `sys.path`, exit
status, tracebacks, signals and child processes are Python's own, and none of them had to be imitated.
"""

import argparse
import contextlib
import os
import secrets
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from graphmend import _config
from graphmend._running import running

COMMANDS = ("run", "explain", "verify")
EXIT_TROUBLE = 2

HOOK = Path(__file__).resolve().parent / "hook"

_ABOUT = {
    "run": """\
Runs a Python program, as it is, with its own calls of torch.compile mended: what breaks the graph is taken care of,
what the program computes, prints and raises stays the same. A short summary follows on standard error.""",
    "explain": """\
Runs a Python program as `graphmend run` does, and then prints every place that broke the graph: file, line, source,
Dynamo's reason, and what was done about it or what you can do.""",
    "verify": """\
Runs a Python program twice, first as it was written with nothing compiled, then mended, and compares what it prints
and how it ends. Addresses and durations are not compared; numbers with a fraction may differ in their last digits, as
compiled code rounds differently (see --tolerance). What the first run leaves on disk is there for the second.""",
}

_EXAMPLES = {
    "run": """\
examples:
  graphmend run train.py --epochs 3            # instead of: python train.py --epochs 3
  graphmend run -m torch.distributed.run --nproc-per-node 2 train.py
  graphmend run --report out.html train.py     # a page with the source and every place marked
  graphmend run --packages mymodels train.py   # mend your own files and this package, nothing else
  GRAPHMEND_DISABLE=1 graphmend run train.py   # as if graphmend were not there

exit status: that of the program; 2 for a bad command line or setting.
Settings can stand in [tool.graphmend] of pyproject.toml and in GRAPHMEND_* variables; see docs/settings.md.""",
    "explain": """\
examples:
  graphmend explain train.py --epochs 1
  graphmend explain --report breaks.json -m mypackage.train

exit status: that of the program; 2 for a bad command line or setting.""",
    "verify": """\
examples:
  graphmend verify train.py --epochs 1
  graphmend verify --tolerance 0 train.py      # every digit must be the same

exit status: 0 both runs are equal, 1 they differ (the first difference is shown), 2 a bad command line or setting.""",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(f"{message}; see `{self.prog} --help`")


def fail(message: str) -> NoReturn:
    print(f"graphmend: error: {message}", file=sys.stderr)
    sys.exit(EXIT_TROUBLE)


def main(words: Sequence[str]) -> int:
    """Runs the command that the words of the command line ask for; `words[0]` is its name."""
    command = words[0]
    options = vars(_parser(command).parse_args(words[1:]))
    tolerance = options.pop("tolerance", None)
    program = _program(command, options)
    # What is left are settings.
    flags = {name: value for name, value in options.items() if value is not None}
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            settings = _config.load(flags)
    except _config.SettingsError as error:
        fail(str(error))
    for warning in told:
        print(f"graphmend: warning: {warning.message}", file=sys.stderr)
    if command == "verify":
        from graphmend._checking.verify import verify

        return verify(program, settings, tolerance)
    mode = running.EXPLAINED if command == "explain" else running.MENDED
    return _become(program, environment(settings, mode, os.getpid(), reports_folder()))


def _parser(command: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"graphmend {command}",
        usage=f"graphmend {command} [OPTIONS] SCRIPT | -m MODULE | -c CODE  [ARGUMENTS ...]",
        description=_ABOUT[command],
        epilog=_EXAMPLES[command],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    rest = argparse.REMAINDER
    parser.add_argument("script", nargs=rest, metavar="SCRIPT ...", help="a file, a folder or `-`, and its arguments")
    parser.add_argument("-m", dest="module", nargs=rest, metavar="MODULE ...", help="a module, as with `python -m`")
    parser.add_argument("-c", dest="code", nargs=rest, metavar="CODE ...", help="a program, as with `python -c`")
    parser.add_argument("--packages", metavar="A,B", help="mend the program's own files and these packages only")
    parser.add_argument("--effects", metavar="A.F,B.G", help="functions that only talk to the outside")
    parser.add_argument("--report", metavar="FILE", help="write a report: out.html, out.json or out.txt")
    switch = argparse.BooleanOptionalAction
    parser.add_argument("-q", "--quiet", action=switch, help="no summary at the end")
    parser.add_argument(
        "--speculate", action=switch, help="predict values that Python needs of tensors (on by default)"
    )
    parser.add_argument("--remember", action=switch, help="keep what was mended for the next process (on by default)")
    parser.add_argument("--disable", action=switch, help="mend nothing")
    if command == "verify":
        parser.add_argument(
            "--tolerance",
            type=_tolerance,
            default=1e-4,
            metavar="X",
            help="how much numbers with a fraction may differ, relative to their size (default 1e-4; 0: not at all)",
        )
    return parser


def _tolerance(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) < 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found `{text}`")


def _program(command: str, options: dict[str, Any]) -> list[str]:
    """What to run, as Python's own command line has it."""
    script, module, code = (options.pop(name) for name in ("script", "module", "code"))
    if module:
        return ["-m", *module]
    if code:
        return ["-c", *code]
    if script and script[0] == "--":
        script = script[1:]
    if not script:
        fail(f"nothing to run: name a script, or `-m MODULE`; see `graphmend {command} --help`")
    if script[0] != "-" and not Path(script[0]).exists():
        fail(f"{script[0]}: no such file")
    # A name that begins with a dash is no option of Python's.
    return [str(Path.cwd() / script[0]) if script[0].startswith("-") and script[0] != "-" else script[0], *script[1:]]


def environment(settings: _config.Settings, mode: str, root: int, folder: str) -> dict[str, str]:
    """The environment in which Python loads the hook, with all settings decided."""
    if sys.flags.isolated or sys.flags.ignore_environment or sys.flags.no_site:
        fail("the program cannot be mended under `python -I`, `-E` or `-S`, which children do not get past")
    variables = {_config.variable(name) for name in _config.NAMES}
    result = {name: value for name, value in os.environ.items() if name not in variables}
    if settings.report:
        # The program may change its folder.
        settings = _absolute_report(settings)
    result.update(_config.to_environment(settings))
    result[_config.RUN_VARIABLE] = f"{mode}:{root}:{folder}"
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(HOOK)]
    result["PYTHONPATH"] = os.pathsep.join([str(HOOK), *paths])
    return result


def _absolute_report(settings: _config.Settings) -> _config.Settings:
    from dataclasses import replace

    return replace(settings, report=str(Path.cwd() / settings.report))


def reports_folder() -> str:
    """A name nobody else has, for processes that are not the first; made only when one of them has something to say."""
    return str(Path(tempfile.gettempdir()) / f"graphmend-{secrets.token_hex(8)}")


def python_command(program: Sequence[str]) -> list[str]:
    """This Python, with the options it was started with, and the program."""
    if not sys.executable:
        fail("Python does not know its own path")
    # The function that multiprocessing uses for the same purpose.
    options: list[str] = getattr(subprocess, "_args_from_interpreter_flags", list)()
    return [sys.executable, *options, *program]


def _become(program: Sequence[str], variables: Mapping[str, str]) -> int:
    command = python_command(program)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        try:
            os.execve(command[0], command, variables)
        except OSError as error:
            fail(f"cannot run {command[0]}: {error.strerror}")
    return subprocess.run(command, env=variables, check=False).returncode

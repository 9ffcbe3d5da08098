"""For tools/third_party_suite.sh: a pytest plugin that compiles a package's functions, and the comparison of two runs.

As a plugin (`-p third_party_suite`), each test starts from the same seed, and what THIRD_PARTY_COMPILE names is called
through torch.compile: the public functions of those modules and the `forward` and `inverse` of their classes.
As a program: `third_party_suite.py TITLE PLAIN.xml MENDED.xml REPORT.json` prints a row of a table, and every test
that ended differently; exit status 1 if there is one.
"""

import functools
import inspect
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

METHODS = ("forward", "inverse")
_is_inside = False


def pytest_collection_finish() -> None:
    """Once the tests are imported, with all that they use."""
    import torch

    for name in filter(None, os.environ.get("THIRD_PARTY_COMPILE", "").split(",")):
        module = sys.modules[name]
        for member in list(vars(module).values()):
            if getattr(member, "__module__", None) != name:
                continue
            if inspect.isfunction(member) and not member.__name__.startswith("_"):
                _replace_everywhere(member, _compiled(member))
            elif inspect.isclass(member) and issubclass(member, torch.nn.Module):
                for method in METHODS:
                    if inspect.isfunction(vars(member).get(method)):
                        setattr(member, method, _compiled(vars(member)[method]))


def pytest_runtest_call() -> None:
    import torch

    torch.manual_seed(0)
    torch.compiler.reset()


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled where it is called from outside; a part of the caller's graph where compiled code calls it."""
    import torch

    compiled: Callable[..., Any] = torch.compile(function, backend="eager")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        global _is_inside
        if _is_inside:
            return function(*args, **kwargs)
        _is_inside = True
        try:
            return compiled(*args, **kwargs)
        finally:
            _is_inside = False

    return call


def _replace_everywhere(old: object, new: object) -> None:
    for module in list(sys.modules.values()):
        names = [name for name, value in list(getattr(module, "__dict__", {}).items()) if value is old]
        for name in names:
            setattr(module, name, new)


def outcomes(path: Path) -> dict[str, str]:
    """How each test of a JUnit file ended: `passed`, or another word and the message, without addresses."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if name in found:
            sys.exit(f"{path}: two tests are called {name}")
        ends = [
            f"{end.tag}: {end.get('message', '')}" for end in case if end.tag in ("failure", "error", "skipped")
        ] or ["passed"]
        found[name] = re.sub(r"0x[0-9a-f]+", "0x…", "; ".join(ends))
    return found


def _counted(ends: dict[str, str]) -> str:
    return ", ".join(
        f"{number} {word}" for word, number in sorted(Counter(e.split(":")[0] for e in ends.values()).items())
    )


def compare(title: str, plain_file: Path, mended_file: Path, report_file: Path) -> int:
    """Prints a row; returns the number of tests that ended differently."""
    plain, mended = outcomes(plain_file), outcomes(mended_file)
    different = [name for name in sorted({*plain, *mended}) if plain.get(name) != mended.get(name)]
    reports = json.loads(report_file.read_text(encoding="utf-8"))["reports"]
    places = {
        kind: len({(e["file"], e["line"], e["gb_type"]) for report in reports for e in report[kind]})
        for kind in ("mended", "left")
    }
    called = [report for report in reports if report["calls"]]
    changed = sum(bool(report["mended"]) for report in called)
    cells = [_counted(plain), _counted(mended), len(different), len(called), changed, places["mended"], places["left"]]
    print(f"| {title} | {' | '.join(map(str, cells))} | {sum(report['misses'] for report in called)} |")
    for name in different:
        print(f"  {name}\n    plain:  {plain.get(name)}\n    mended: {mended.get(name)}")
    if not plain or not called:
        sys.exit(f"{title}: nothing was tested")
    return len(different)


if __name__ == "__main__":
    sys.exit(compare(sys.argv[1], *map(Path, sys.argv[2:5])) > 0)

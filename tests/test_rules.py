"""The pages of rules/: each example is mended, or left, as its page says, and does what the original does.

    python tests/test_rules.py --write    writes what the mender makes today into the pages; look at the diff

The text is compared without torch; the rest needs it. CONTRIBUTING.md describes the format of a page.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from rule_pages import (
    PREDICTIONS_ON,
    RULES,
    Example,
    Mark,
    PageError,
    all_examples,
    breaks_named,
    mended_form,
    pages,
    read_page,
    reasons,
    rewrite,
)

ROOT = Path(__file__).resolve().parent.parent
NEW_RULE = ROOT / "tools" / "new_rule.py"

EXAMPLES = all_examples()
MENDED = [example for example in EXAMPLES if example.mended]
LEFT = [example for example in EXAMPLES if not example.mended]

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

# What comes behind a break that is left is not looked at: its own place is on no page.
BEHIND = "it stands behind a break that is left"


def named(example: Example) -> str:
    return example.name


def test_each_mend_has_a_page() -> None:
    from graphmend._mending.mended_file import _KINDS

    assert {page.stem for page in pages()} == set(_KINDS)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_page_shows_both_sides(page: Path) -> None:
    examples = read_page(page)
    assert any(example.mended for example in examples)
    assert any(not example.mended for example in examples)
    assert breaks_named(page)


@pytest.mark.parametrize("example", MENDED, ids=named)
def test_mended_text_is_the_page_s(example: Example) -> None:
    assert example.mended is not None
    assert mended_form(example) == example.mended.text, "if that is meant: make rules-update"


@pytest.mark.parametrize("example", LEFT, ids=named)
def test_mender_leaves_it_for_the_page_s_reason(example: Example) -> None:
    assert reasons(example) == {mark.line: mark.reason for mark in example.marks if not mark.traced}


# With torch.


class Compiled:
    """Compiles what an example calls, and keeps the reports."""

    def __init__(self, example: Example, **settings: Any) -> None:
        self.settings = {"speculate": example.speculates, **settings}
        self.reports: list[Any] = []

    def __call__(self, model: Any) -> Any:
        from graphmend._mending.compile import compile as mended_compile

        compiled = mended_compile(model, backend="eager", **self.settings)
        self.reports.append(compiled.report)
        return compiled

    def left(self) -> set[tuple[int, str]]:
        return {(e.line, e.reason) for report in self.reports for e in report.left if e.reason != BEHIND}


def saved(example: Example, folder: Path) -> Path:
    """A file that holds the example; the same one for each of its runs, as its name shows in what is observed."""
    path = folder / "example.py"
    path.write_text(example.text, encoding="utf-8")
    return path


def plainly(model: Any) -> Any:
    import torch

    return torch.compile(model, backend="eager")


@needs_torch
@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_it_breaks_without_graphmend(example: Example, tmp_path: Path) -> None:
    import torch
    from rule_runs import run

    with torch._dynamo.error_on_graph_break(True), pytest.raises(torch._dynamo.exc.Unsupported):
        run(example, saved(example, tmp_path), plainly)


@needs_torch
@pytest.mark.parametrize("example", MENDED, ids=named)
def test_mended_is_whole_and_the_same(example: Example, tmp_path: Path) -> None:
    import torch
    from rule_runs import run

    path = saved(example, tmp_path)
    from graphmend._mending.mended_code import AHEAD

    eager = run(example, path)
    compiled = Compiled(example)
    assert run(example, path, compiled) == eager
    assert compiled.left() == set()
    mended = [entry for report in compiled.reports for entry in report.mended]
    assert sorted(entry.line for entry in mended) == example.lines
    assert example.rule in {entry.mend for entry in mended}
    for entry in mended:
        # Older ones have other names for some.
        if torch.__version__.startswith("2.13."):
            # A symbol is what a prediction is when Python need not know the value.
            page = "speculate" if entry.mend == "capture" else entry.mend
            assert entry.gb_type in {*breaks_named(RULES / f"{page}.md"), AHEAD}
    # And where torch is told that nothing may break.
    assert run(example, path, Compiled(example, fullgraph=True)) == eager


@needs_torch
@pytest.mark.parametrize("example", LEFT, ids=named)
def test_left_is_the_same_and_says_why(example: Example, tmp_path: Path) -> None:
    from rule_runs import run

    path = saved(example, tmp_path)
    compiled = Compiled(example)
    seen = run(example, path, compiled)
    assert compiled.left() == {(mark.line, mark.reason) for mark in example.marks}
    # Behind a break the frames are those of plain `torch.compile`.
    for mended, eager, plain in zip(seen, run(example, path), run(example, path, plainly), strict=True):
        assert mended in (eager, plain)


# The pages' own tools.


def page_of(tmp_path: Path, body: str) -> Path:
    page = tmp_path / "trial.md"
    headings = "".join(f"## {section}\n" for section in ("Example", "More examples", "Left alone", "Guaranteed"))
    page.write_text(f"# trial\n\n## Cause\n\n{body}\n{headings}", encoding="utf-8")
    return page


FIRST = "```python mend\ndef f(x):\n    # breaks\n    print(x)\n```\n\n"
RUN = "```python run\nf(1)\n```\n"
GOOD = FIRST + "```python mended\nold\n```\n\n" + RUN


def test_page_is_read(tmp_path: Path) -> None:
    (example,) = read_page(page_of(tmp_path, GOOD))
    assert example.marks == (Mark(3),)
    assert example.run == "f(1)\n"
    assert example.mended is not None and example.mended.text == "old\n"
    left = FIRST.replace("python mend", "python leave").replace("# breaks", "# left when traced: so it is")
    (example,) = read_page(page_of(tmp_path, left + RUN))
    assert example.marks == (Mark(3, "so it is", True),)
    assert example.mended is None


def test_page_says_whether_values_are_predicted(tmp_path: Path) -> None:
    left = FIRST.replace("python mend", "python leave speculate=False").replace("# breaks", "# left: so it is")
    page = page_of(tmp_path, GOOD + left + RUN)
    with pytest.raises(PageError, match="where `mend` or `leave` was expected"):
        read_page(page)
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("# trial\n", f"# trial\n\n{PREDICTIONS_ON}\n"), encoding="utf-8")
    assert [each.speculates for each in read_page(page)] == [True, False]
    (example,) = read_page(page_of(tmp_path, GOOD))
    assert not example.speculates


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("python mended", "python text", "a `mended` block follows"),
        ("python run", "python walk", "a `run` block ends"),
        ("python mend\n", "python amend\n", "where `mend` or `leave` was expected"),
        ("    # breaks\n", "", "`# breaks` belongs"),
        ("    # breaks\n", "    # left: so it is\n", "`# breaks` belongs"),
        ("print(x)", "print(x)  # breaks", "a line of its own"),
        ("f(1)\n```", "f(1)", "not closed"),
        ("## Cause", "## Reason", "its headings"),
    ],
)
def test_page_with_a_fault_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    page = page_of(tmp_path, GOOD)
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(PageError, match=message):
        read_page(page)


def test_rewrite_writes_what_the_mender_makes(tmp_path: Path) -> None:
    page = page_of(tmp_path, GOOD)
    assert rewrite(page)
    (example,) = read_page(page)
    assert example.mended is not None
    assert example.mended.text == mended_form(example)
    assert "__graphmend__.post('SITE', x)) or print(x)\n\n# after the graph\n" in example.mended.text
    assert not rewrite(page)


@needs_torch
def test_runs_tell_programs_apart(tmp_path: Path) -> None:
    from rule_runs import run

    def observed(text: str) -> Any:
        path = tmp_path / "example.py"
        path.write_text(text, encoding="utf-8")
        return run(Example("trial", 1, text, "f(torch.ones(2))\n", (), None), path)

    head = "import logging, warnings\ndef f(x):\n"
    bodies = ["return x", "return x + 0.5", "return x.double()", "print(x); return x", "print('x'); return x"]
    bodies += ["logging.warning('a'); return x", "logging.error('a'); return x", "warnings.warn('a'); return x"]
    bodies += ["raise ValueError(x)", "raise ValueError(1)", "raise KeyError(1)", "raise KeyError(1) from OSError()"]
    bodies += ["\n raise KeyError(1)", "return x.requires_grad_()", "return [x]", "return (x,)"]
    seen = [observed(f"{head} {body}\n") for body in bodies]
    assert all(one != other for i, one in enumerate(seen) for other in seen[:i])
    assert seen == [observed(f"{head} {body}\n") for body in bodies]


def new_rule(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, NEW_RULE, *words], capture_output=True, text=True, timeout=60, check=False)


def test_new_rule_makes_a_page(tmp_path: Path) -> None:
    done = new_rule("hoist", "--rules", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for what in ("rules/hoist.md", "src/mend/hoist.cpp", "MendKind", "_KINDS"):
        assert what in done.stdout
    page = tmp_path / "hoist.md"
    examples = read_page(page)
    assert [bool(example.mended) for example in examples] == [True, False]
    assert page.read_text(encoding="utf-8").startswith("# hoist\n")


def test_new_rule_overwrites_nothing(tmp_path: Path) -> None:
    page = tmp_path / "hoist.md"
    page.write_text("mine", encoding="utf-8")
    done = new_rule("hoist", "--rules", str(tmp_path))
    assert done.returncode == 1
    assert "hoist.md is there already" in done.stderr
    assert page.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["Hoist", "a b", "../hoist", "", "9a"])
def test_new_rule_takes_plain_names_only(tmp_path: Path, name: str) -> None:
    done = new_rule(name, "--rules", str(tmp_path))
    assert done.returncode == 2
    assert "small letters" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_new_rule_explains_itself() -> None:
    done = new_rule("--help")
    assert done.returncode == 0
    for word in ("mend", "leave", "run", "# breaks", "# left: "):
        assert word in done.stdout


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/test_rules.py --write")
    for each in pages():
        print(f"{each.relative_to(RULES.parent)}: {'rewritten' if rewrite(each) else 'as it was'}")

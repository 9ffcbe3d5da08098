"""The page docs/break_types.md, made of the cases. In: cases. Out: text."""

from __future__ import annotations

from pathlib import Path

from .cases import MISSING, Case, Fails, Left, Mended, all_types, load

PAGE = Path(__file__).resolve().parents[2] / "docs" / "break_types.md"

HEAD = """\
# Dynamo's types of breaks, and what becomes of them

All types of breaks of torch 2.13 that can be mended in principle, or by a setting: {total} of them. Of these {mended} \
are mended, {left} are left, {fails} are errors in eager too, and {missing} have no program of one process that shows \
them. Each row is a small program in `tests/break_types`, which breaks in plain `torch.compile` and is compared with \
eager; a mend of a type is no promise for every program that breaks so: the [pages of the rules](../rules) say which \
forms are mended.

This page is made from the tests: `python -m tests.break_types --write`.

| number | Dynamo's type | state | how, or why not |
|---|---|---|---|
"""


def rows() -> list[tuple[str, str, str, str]]:
    cases: dict[str, Case] = {}
    for each in load():
        cases.setdefault(each.gb_type, each)
    found = []
    for gb_type, number in sorted(all_types().items(), key=lambda entry: entry[1]):
        state = cases[gb_type].state if gb_type in cases else None
        match state:
            case Mended(rule, speculates):
                link = _link(rule)
                found.append((number, gb_type, "mended", link + (", with `speculate=True`" if speculates else "")))
            case Left(reason):
                found.append((number, gb_type, "left", reason))
            case Fails(reason):
                found.append((number, gb_type, "an error", reason))
            case None:
                found.append((number, gb_type, "not shown", MISSING[gb_type]))
    return found


def _link(rule: str) -> str:
    if rule == "setting":
        return "a setting of Dynamo's"
    # A symbol is no mend of the source, and is told of where it does not do.
    return f"[{rule}](../rules/{'speculate' if rule == 'capture' else rule}.md)"


def page() -> str:
    all_rows = rows()
    states = [row[2] for row in all_rows]
    names = {"mended": "mended", "left": "left", "fails": "an error", "missing": "not shown"}
    counts = {name: states.count(state) for name, state in names.items()}
    body = "".join(f"| {number} | {_cell(name)} | {state} | {how} |\n" for number, name, state, how in all_rows)
    return HEAD.format(total=len(all_rows), **counts) + body


def _cell(gb_type: str) -> str:
    return gb_type.replace("`", "").replace("|", "\\|")

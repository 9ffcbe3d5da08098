"""Dynamo's types of breaks: each case of tests/break_types breaks as it says, and becomes what it says."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tqdm")
pytest.importorskip("numpy")

from break_types.cases import CASES, MISSING, Case, Fails, Left, Mended, all_types, load  # noqa: E402
from break_types.observe import all_breaks, first_break, mended, run  # noqa: E402
from break_types.table import PAGE, page  # noqa: E402

load()

# The names of types, and which of them there are, are those of one version.
pytestmark = pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the types are torch 2.13's")


def named(case: Case) -> str:
    return case.name


def test_each_type_is_accounted_for() -> None:
    shown = {case.gb_type for case in CASES}
    assert shown | MISSING.keys() == all_types().keys()
    assert not shown & MISSING.keys()


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.break_types --write"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_it_breaks_with_its_type(case: Case) -> None:
    assert case.gb_type in (all_breaks(case) if case.follows else {first_break(case)})


@pytest.mark.parametrize("case", [case for case in CASES if not isinstance(case.state, Fails)], ids=named)
@pytest.mark.parametrize("speculates", [False, True], ids=["", "speculate"])
def test_it_becomes_what_it_says(case: Case, speculates: bool) -> None:
    expected = run(case, case.function)
    assert all(seen.error is None for seen in expected)
    report, seen = mended(case, speculates)
    assert seen == expected
    if isinstance(case.state, Mended) and (speculates or not case.state.speculates):
        assert report.left == []
        assert case.state.rule in {entry.mend for entry in report.mended}
    else:
        assert report.left
        assert all(entry.reason for entry in report.left)
    if isinstance(case.state, Left):
        assert case.state.reason


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.state, Fails)], ids=named)
def test_it_fails_in_eager(case: Case) -> None:
    assert all(seen.error is not None for seen in run(case, case.function))

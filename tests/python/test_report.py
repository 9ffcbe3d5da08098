"""Reports: what they say, how they are written, and that a page is one safe file whatever the program's text is."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from graphmend._reporting import advice
from graphmend._reporting import report as reporting
from graphmend._reporting.html import page
from graphmend._reporting.report import Break, Report
from graphmend._running import gather

SOURCE = """\
import torch


class Net:
    def forward(self, x):
        if x.sum() > 0:
            print(f"<script>alert({x!r})</script>", '&amp;')  # <b>
        return x.item()
"""
PRINTED = "Failed to trace builtin operator"
ITEM = "Unsupported Tensor.item() call with capture_scalar_outputs=False"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    path = tmp_path / "net.py"
    path.write_text(SOURCE, encoding="utf-8")
    return Report(
        name="Net<int>",
        mended=[Break(PRINTED, str(path), 7, "forward", "postpone", "")],
        left=[Break(ITEM, str(path), 8, "forward", None, "no mend for `x < y`", column=15, end_column=23)],
        calls=5,
        misses=2,
        graphs=2,
        ops=12345,
        seconds=0.5,
    )


def test_text(report: Report) -> None:
    head, *rest = str(report).split("\n")
    assert head == (
        "graphmend: Net<int>: 2 places broke, 1 mended, 1 left; 2 graphs, 12345 ops; 0.50 s to mend; "
        "the original ran in 2 of 5 calls"
    )
    assert rest[0] == f"  net.py:7 in forward: {PRINTED}"
    assert rest[-1] == "      left: no mend for `x < y`"
    assert str(Report()) == "graphmend: not called yet"
    assert str(Report(name="f", calls=1, graphs=1, ops=1)) == "graphmend: f: nothing broke; 1 graph, 1 op"


def test_explanation_has_carets_reason_and_advice(report: Report) -> None:
    assert report.left[0].explain().split("\n")[1:] == [
        "  6 |         if x.sum() > 0:",
        """  7 |             print(f"<script>alert({x!r})</script>", '&amp;')  # <b>""",
        "> 8 |         return x.item()",
        "    |                ^^^^^^^^",
        f"  why:    {ITEM}",
        "  left:   no mend for `x < y`",
        f"  to do:  {advice.advice_for(ITEM)}",
    ]
    assert "  mended: postpone: it runs after the graph, with the values of its moment" in report.mended[0].explain()
    # Without columns the whole statement is marked; a tab stays a tab.
    assert report.mended[0].carets("\t  call()") == "\t  ^^^^^^"
    assert Break(ITEM, "/no/such/file.py", 3, "f", None, "").explain().startswith("/no/such/file.py:3 in f\n")


@pytest.mark.parametrize(
    ("gb_type", "word"),
    [
        (ITEM, "0-d tensor"),
        ("Data-dependent branching", "torch.where"),
        ("Dynamic shape operator", "masked_fill"),
        ("Skip calling `torch.compiler.disable()`d function", "torch.compiler.disable"),
        ("Attempted to call function marked as skipped", "graphmend.effect"),
        ("logging.Logger method not supported for non-export cases", "graphmend.effect"),
        ("Operator does not support running with fake tensors", "register_fake"),
        ("a type of the future", "before or after the compiled part"),
    ],
)
def test_advice(gb_type: str, word: str) -> None:
    assert word in Break(gb_type, "f.py", 1, "f", None, "").advice
    assert Break(gb_type, "f.py", 1, "f", "check", "").advice == ""


def test_patterns_of_advice_are_valid_and_each_is_reached() -> None:
    for index, (pattern, _) in enumerate(advice._ADVICE):
        earlier = [re.compile(other) for other, _ in advice._ADVICE[:index]]
        words = [re.sub(r"\\(.)", r"\1", part) for part in re.compile(pattern).pattern.split("|")]
        assert any(not any(other.search(word) for other in earlier) for word in words), pattern


def test_json_can_be_read_back(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path / "out.json")
    (data,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["reports"]
    assert data["left"][0]["source"] == "return x.item()"
    again = reporting.report_from_dict(data)
    assert (str(again), again.breaks, again.to_dict()) == (str(report), report.breaks, report.to_dict())


def test_saving_is_all_or_nothing(report: Report, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    report.save(target)
    assert target.read_text(encoding="utf-8").startswith("graphmend: Net<int>")
    with pytest.raises(ValueError, match=r"ends in \.html, \.json or \.txt, not `out.pdf`"):
        report.save(tmp_path / "out.pdf")
    folder = tmp_path / "folder.json"
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        report.save(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.json", "net.py", "out.txt"]


def test_the_registry_does_not_keep_reports_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_kept", None)
    gc.collect()
    before = reporting.all_reports()
    mine = Report(name="kept")
    Report(name="dropped")
    gc.collect()
    assert [one for one in reporting.all_reports() if one not in before] == [mine]
    copies = [copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))]
    assert [one for one in reporting.all_reports() if one not in before] == [mine, *copies]
    reporting.keep_all()
    Report(name="not dropped")
    gc.collect()
    assert [one.name for one in reporting.all_reports() if one not in before] == ["kept", "kept", "kept", "not dropped"]


def test_the_same_place_in_two_reports_counts_once(report: Report) -> None:
    other = copy.deepcopy(report)
    assert reporting.summary([report, other]).split("\n")[0] == (
        "graphmend: 2 places broke, 1 mended, 1 left; 4 graphs, 24690 ops in 2 compiled callables; 1.00 s to mend; "
        "the original ran in 4 of 10 calls"
    )
    assert reporting.summary([]) == "graphmend: torch.compile was not called"
    assert reporting.summary([Report()]) == "graphmend: nothing that was compiled was called"


def test_reports_of_other_processes(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "left"
    monkeypatch.setattr(gather, "_own_reports", lambda: [report])
    gather.leave(str(folder), "")
    assert folder.stat().st_mode & 0o077 == 0
    (folder / "1.json").write_text("{damaged")
    (folder / "2.json").write_text('{"reports": [{"name": "older"}]}')
    gathered = gather.collect(str(folder))
    assert [one.to_dict() for one in gathered.reports] == [report.to_dict()] * 2
    assert gathered.summary().split("\n")[0].endswith("; from 2 processes")
    assert not folder.exists()


class Reader(HTMLParser):
    """What a browser would see: elements, attributes, text; and whether everything that was opened was closed."""

    EMPTY = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_is_one_safe_file(report: Report) -> None:
    text = page([report], "run.py '<i>'")
    seen = Reader(text)
    assert seen.open == []
    assert not {tag for tag, _ in seen.elements} & {"script", "link", "img", "iframe", "object"}
    assert not any(
        name in ("src", "srcset", "onclick", "style") for _, attributes in seen.elements for name in attributes
    )
    assert "http" not in text and "url(" not in text and "@import" not in text
    # The program's text is there as it is, and only as text.
    assert """print(f"<script>alert({x!r})</script>", '&amp;')  # <b>""" in seen.text
    for words in ("Net<int>", "run.py '<i>'", "no mend for `x < y`", ITEM, PRINTED, "0-d tensor"):
        assert words in seen.text
    targets = [attributes["href"] for tag, attributes in seen.elements if tag == "a"]
    ids = {f"#{attributes['id']}" for _, attributes in seen.elements if "id" in attributes}
    assert targets and set(targets) <= ids
    assert page([report], "run.py '<i>'") == text


def test_a_page_without_source_or_calls(tmp_path: Path) -> None:
    assert "Nothing that was compiled was called" in Reader(page([])).text
    assert (
        "Captured whole"
        in Reader(page([Report(calls=1, mended=[Break(PRINTED, "<stdin>", 3, "f", "check", "")])])).text
    )
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n  'open\n", encoding="utf-8")
    place = Break(ITEM, str(broken), 2, "f", None, "")
    assert "'open" in Reader(page([Report(calls=1, left=[place])])).text


def test_a_long_function_is_shown_around_its_places(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    lines = ["@decorator", "def f(x):", *(f"    x = x + {number}" for number in range(3, 300)), "    return x"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = Reader(page([Report(calls=1, left=[Break(ITEM, str(path), 150, "f", None, "")])])).text
    assert "@decorator" in text and "x = x + 150" in text and "x = x + 142" in text
    assert "x = x + 100" not in text and "140 lines left out" in text

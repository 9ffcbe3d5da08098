"""The pages of rules/ as tests read them. In: Markdown. Out: examples, and what the native mender makes of each.

CONTRIBUTING.md describes the format. Nothing here needs torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphmend._mending.mended_file import MendedText, mend_text
from graphmend._mending.substitutes import NAMES

RULES = Path(__file__).resolve().parent.parent / "rules"

SECTIONS = ("Cause", "Example", "More examples", "Left alone", "Guaranteed")

# A page with this line near its top is about predictions: they are on in its examples, and off in those of others.
PREDICTIONS_ON = "These examples are compiled with `speculate=True`, which is the default."
# Behind `mend` or `leave`, where a single example has them off.
_OFF = " speculate=False"

# A fence with words behind `python` is read; any other block is only for people.
_OPEN = re.compile(r"```python (.+)")
_MARK = re.compile(r"\s*# (?:breaks|left( when traced)?: (.+))")
_DECLARED = re.compile(r"^@graphmend\.effect\ndef (\w+)", re.MULTILINE)

# What only talks to the outside in the examples; the run time finds these in a module's globals.
_LOGGING = "debug info warning error critical exception log".split()
_TALKERS = ["print", "logger.*", "warnings.warn", "sys.stdout.write", "sys.stderr.write"]
_TALKERS += [f"{owner}.{function}" for owner in ("logging", "logging.getLogger()") for function in _LOGGING]
_TALKERS += [f".{method}" for method in (*_LOGGING, "write")]
_TALKERS += ["!logger.setLevel", "!logger.isEnabledFor"]


class PageError(ValueError):
    """A page is not in the format."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its words, the lines of the page between its fences (from 0), and their text."""

    words: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mark:
    """A line of an example (from 1) where the graph breaks."""

    line: int
    # Why it is left; None where it is mended.
    reason: str | None = None
    # Only the trace finds that out, not the native mender.
    traced: bool = False


@dataclass(frozen=True)
class Example:
    """A small module, what is done with it, and what becomes of it."""

    rule: str
    number: int
    text: str
    run: str
    marks: tuple[Mark, ...]
    # The block that holds what it is mended to; none where it is left.
    mended: Block | None
    # Whether values that Python needs of tensors are predicted.
    speculates: bool = False

    @property
    def name(self) -> str:
        return f"{self.rule}-{self.number}"

    @property
    def lines(self) -> list[int]:
        return [mark.line for mark in self.marks]


def pages() -> list[Path]:
    return sorted(RULES.glob("*.md"))


def read_page(page: Path) -> list[Example]:
    """The examples of a page; raises where it is not in the format."""
    text = page.read_text(encoding="utf-8")
    blocks = list(_blocks(page, text.split("\n")))
    predicts = PREDICTIONS_ON in text.partition("## Cause")[0].split("\n")
    found: list[Example] = []
    while blocks:
        first = blocks.pop(0)
        words = first.words.removesuffix(_OFF) if predicts else first.words
        if words not in ("mend", "leave"):
            raise _wrong(page, first.start, f"`{first.words}` where `mend` or `leave` was expected")
        mended = blocks.pop(0) if blocks and blocks[0].words == "mended" else None
        if (mended is None) != (words == "leave"):
            raise _wrong(page, first.end, "a `mended` block follows each `mend` block, and no `leave` block")
        if not blocks or blocks[0].words != "run":
            raise _wrong(page, first.end, "a `run` block ends each example")
        marks = tuple(_marks(page, first))
        if any((mark.reason is None) != (mended is not None) for mark in marks) or not marks:
            raise _wrong(page, first.start, "`# breaks` belongs in a `mend` block, `# left: …` in a `leave` block")
        speculates = predicts and words == first.words
        number = len(found) + 1
        found.append(Example(page.stem, number, first.text, blocks.pop(0).text, marks, mended, speculates))
    headings = tuple(re.findall(r"^## (.+)$", text, re.MULTILINE))
    if headings != SECTIONS:
        raise PageError(f"{page}: its headings are {', '.join(headings)}; not {', '.join(SECTIONS)}")
    return found


def all_examples() -> list[Example]:
    return [example for page in pages() for example in read_page(page)]


def breaks_named(page: Path) -> set[str]:
    """The types of breaks, in Dynamo's words, that a page says it is about: the list in its first section."""
    cause = page.read_text(encoding="utf-8").partition("## Cause")[2].partition("\n## ")[0]
    # With two backticks where there are some in the name.
    return {name.strip() for _, name in re.findall(r"^- (`+)(.+?)\1(?!`)", cause, re.MULTILINE)}


def talkers(example: Example) -> list[str]:
    return [*_TALKERS, *_DECLARED.findall(example.text)]


def mended_form(example: Example) -> str:
    """The lines of an example that mending changes, as they are then; and the functions that run after the graph."""
    mended = _mended(example)
    if mended.declined:
        raise PageError(f"{example.name}: not mended: {mended.declined}")
    before, after = example.text.split("\n"), mended.text.decode().split("\n")
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    parts = ["\n".join(after) + "\n"]
    parts += [f"\n# after the graph\n{mend.outlined}" for mend in mended.mends if mend.outlined]
    text = "".join(parts)
    # Sites are hashes, which mean nothing to a reader.
    sites = list(dict.fromkeys(mend.site for mend in mended.mends))
    for number, site in enumerate(sites, 1):
        text = text.replace(site, "SITE" if len(sites) == 1 else f"SITE{number}")
    return text


def reasons(example: Example) -> dict[int, str]:
    """What the native mender says of the lines that it leaves."""
    return _mended(example).declined


def _mended(example: Example) -> MendedText:
    name = f"{example.name}.py"
    names = sorted({name for names in NAMES.values() for name in names}) if example.rule == "substitute" else []
    return mend_text(example.text.encode(), name, example.lines, [], talkers(example), example.speculates, names)


def rewrite(page: Path) -> bool:
    """Writes what the mender makes today into the `mended` blocks; whether anything changed."""
    lines = page.read_text(encoding="utf-8").split("\n")
    before = list(lines)
    for example in reversed(read_page(page)):
        if example.mended:
            lines[example.mended.start : example.mended.end] = mended_form(example).removesuffix("\n").split("\n")
    if lines == before:
        return False
    temporary = page.with_name(f".{page.name}.new")
    temporary.write_text("\n".join(lines), encoding="utf-8")
    temporary.replace(page)
    return True


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        opened = _OPEN.fullmatch(lines[at])
        at += 1
        if not opened:
            continue
        start = at
        while at < len(lines) and lines[at] != "```":
            at += 1
        if at == len(lines):
            raise _wrong(page, start, "a block that is not closed")
        yield Block(opened[1], start, at, "".join(line + "\n" for line in lines[start:at]))


def _marks(page: Path, block: Block) -> Iterator[Mark]:
    for number, line in enumerate(block.text.split("\n"), 1):
        if mark := _MARK.fullmatch(line):
            yield Mark(number + 1, mark[2], bool(mark[1]))
        elif "# breaks" in line or "# left" in line:
            raise _wrong(page, block.start + number - 1, "a mark stands on a line of its own, above what breaks")


def _wrong(page: Path, line: int, what: str) -> PageError:
    return PageError(f"{page}:{line + 1}: {what}")

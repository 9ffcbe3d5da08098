"""What this CPython says about the goldens of this folder. Run it with CPython 3.8 to 3.15.

In: errors/*.txt, versions.txt, syntax/*.py. Out: every verdict this interpreter does not share.
Exit status 1 if there are any.
With `--write` (needs 3.15): rewrites syntax/*.ast in the format of CPython 3.13's `ast.dump(include_attributes=True)`.
"""

import ast
import sys
import warnings
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
OLDEST, NEWEST = 8, 15


class Case:
    """A text and the minor versions of Python that take it."""

    def __init__(self, place: str, text: str, first: int, last: int, needs: Optional[int]) -> None:
        self.place = place
        self.text = text
        # Accepted by 3.first to 3.last; by none when first > last.
        self.first = first
        self.last = last
        # The version that the message for an older target must name.
        self.needs = needs

    def accepted_by(self, minor: int) -> bool:
        return self.first <= minor <= self.last


def minor_of(text: str) -> int:
    major, minor = text.strip().split(".")
    assert major == "3" and OLDEST <= int(minor) <= NEWEST, text
    return int(minor)


def error_cases() -> Iterator[Case]:
    """Cases of errors/*.txt: each starts at a line `# rejects: 3.8-3.13 needs 3.14` or `# rejects: 3.8-3.15`."""
    mark = "# rejects:"
    for path in sorted((HERE / "errors").glob("*.txt")):
        header = ""
        line = 0
        body: List[str] = []
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, text in enumerate([*lines, mark], 1):
            if not text.startswith(mark):
                body.append(text)
                continue
            if header:
                rejected, _, needs = header[len(mark) :].partition("needs")
                low, high = (minor_of(part) for part in rejected.split("-"))
                # What is rejected by the newest only was taken by all before it.
                first, last = (OLDEST, low - 1) if high == NEWEST else (high + 1, NEWEST)
                assert low == OLDEST or high == NEWEST, header
                source = "\n".join(body).rstrip("\n") + "\n"
                yield Case(f"{path.name}:{line}", source, first, last, minor_of(needs) if needs else None)
            header, line, body = text, number, []


def version_cases() -> Iterator[Case]:
    """Cases of versions.txt: `3.10 | text` (since then) or `3.8-3.11 | text`; `\\n` in the text is a line break."""
    for number, line in enumerate((HERE / "versions.txt").read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        versions, _, text = line.partition(" | ")
        low, _, high = versions.partition("-")
        first = minor_of(low)
        last = minor_of(high) if high else NEWEST
        needs = first if first > OLDEST else None
        yield Case(f"versions.txt:{number}", text.replace("\\n", "\n") + "\n", first, last, needs)


def syntax_cases() -> Iterator[Tuple[Path, Path]]:
    for path in sorted((HERE / "syntax").glob("*.py")):
        yield path, path.with_suffix(".ast")


def dump(value: object) -> str:
    """`value` as CPython 3.13's `ast.dump(value, include_attributes=True)` has it."""
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    parts = []
    for name in value._fields:
        field = getattr(value, name, None)
        absent = field is None and not isinstance(value, (ast.Constant, ast.MatchSingleton))
        # A plain import has to read as it did before there were lazy ones.
        plain_import = name == "is_lazy" and not field
        hidden = absent or field == [] or plain_import or (name == "kind" and field is None)
        if not hidden:
            parts.append(f"{name}={dump(field)}")
    parts += [f"{name}={getattr(value, name)!r}" for name in value._attributes if hasattr(value, name)]
    return f"{type(value).__name__}({', '.join(parts)})"


def write_trees() -> None:
    """One statement a line: joined by `, ` within `Module(body=[` and `])` they are the dump."""
    for source, expected in syntax_cases():
        body = ast.parse(source.read_bytes()).body
        expected.write_text("".join(dump(statement) + "\n" for statement in body), encoding="utf-8")


def accepts(text: str) -> Optional[str]:
    """Nothing if this interpreter compiles the text, else its message."""
    try:
        compile(text.encode("utf-8", "surrogatepass"), "<case>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None


def main() -> int:
    warnings.simplefilter("ignore")
    minor = sys.version_info[1]
    if sys.argv[1:] == ["--write"]:
        assert minor >= NEWEST, "the newest CPython writes the trees"
        write_trees()
    differences = cases = 0
    for case in [*error_cases(), *version_cases()]:
        cases += 1
        error = accepts(case.text)
        if (error is None) != case.accepted_by(minor):
            differences += 1
            print(f"{case.place}: 3.{minor} says {error or 'accepted'}: {case.text!r}")
    for source, expected in syntax_cases() if minor >= NEWEST else []:
        cases += 1
        body = ast.parse(source.read_bytes()).body
        if "".join(dump(statement) + "\n" for statement in body) != expected.read_text(encoding="utf-8"):
            differences += 1
            print(f"{expected.name}: not the tree of this CPython")
    print(f"3.{minor}: {cases} cases, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

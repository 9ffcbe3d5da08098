"""Asks every CPython for its verdict on the snippets of `later_cases.txt` and writes it into their marker lines.

A marker line is `#%%` and one letter for each of CPython 3.8 to 3.15: `.` accepted, `g` rejected by the grammar
(`ast.parse` fails), `l` rejected later (only `compile` fails), `?` not asked or no SyntaxError. The snippet follows.

    python tests/corpus/later_oracle.py PYTHON_3_8 … PYTHON_3_15
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("later_cases.txt")
MARKER = "#%%"

# Runs under every CPython from 3.8 on: snippets in, a string of verdicts out.
WORKER = r"""
import ast, json, sys, warnings
warnings.simplefilter("ignore")

def verdict(source):
    try:
        ast.parse(source)
    except SyntaxError:
        return "g"
    except Exception:
        return "?"
    try:
        compile(source, "case", "exec", dont_inherit=True)
    except SyntaxError:
        return "l"
    except Exception:
        return "?"
    return "."

for source in json.load(sys.stdin):
    print(verdict(source), end="", flush=True)
"""


def read_snippets(path: Path = CASES) -> list[str]:
    """The snippets without their marker lines."""
    snippets: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith(MARKER):
            snippets.append("")
        elif snippets:
            snippets[-1] += line
    return snippets


def ask(python: str, snippets: list[str]) -> str:
    """One letter for each snippet; `?` for one that crashes the interpreter (3.12.1 has such)."""
    letters = ""
    while len(letters) < len(snippets):
        rest = json.dumps(snippets[len(letters) :])
        result = subprocess.run([python, "-c", WORKER], input=rest, stdout=subprocess.PIPE, text=True, check=False)
        letters += result.stdout
        if result.returncode != 0:
            letters += "?"
    return letters


def main() -> None:
    snippets = list(dict.fromkeys(read_snippets()))
    verdicts = zip(*(ask(python, snippets) for python in sys.argv[1:]), strict=True)
    text = "".join(
        f"{MARKER} {''.join(letters)}\n{snippet}" for letters, snippet in zip(verdicts, snippets, strict=True)
    )
    CASES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

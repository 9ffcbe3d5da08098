#!/usr/bin/env python3
"""Makes the page of a new mend, rules/NAME.md, from a template, and says what else a mend needs.

A page is the mend's documentation and its test (tests/test_rules.py). Blocks of code that begin with these words are
read; each example is a small module of its own:

    ```python mend      breaks, and is mended; a comment `# breaks` stands above each line that breaks
    ```python mended    follows a `mend` block: the lines that change (make rules-update writes them)
    ```python leave     breaks, and is left; above the line stands `# left: ` and the reason, or
                        `# left when traced: ` and the reason where it is the trace that finds out
    ```python run       ends each example: lines that are run with the original and with the compiled functions, and
                        must give the same values, prints, log records, warnings and exceptions; torch is there
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

RULES = Path(__file__).resolve().parent.parent / "rules"

TEMPLATE = """\
# {name}

In one sentence: what becomes of such a place.

## Cause

Why the graph breaks there, and why it need not. Dynamo reports:

- `Dynamo's name of the break`

## Example

The graph breaks at the …:

```python mend
def scale(x):
    # breaks
    print(x.sum())
    return x * 2
```

What `torch.compile` is given instead of that line:

```python mended
```

What the added calls do.

```python run
scale(torch.ones(3))
```

## More examples

One for each form that is mended.

## Left alone

Why this must stay as it is:

```python leave
def scale(x):
    # left: no mend for this kind of statement
    shown = print(x.sum())
    return x * 2
```

```python run
scale(torch.ones(3))
```

## Guaranteed

- Without `torch.compile` nothing changes: functions keep their own code.
- What holds for every program.
"""

NEXT = """\
wrote {page}

What else a mend needs:
  src/mend/{name}.h, src/mend/{name}.cpp    a function of const facts that returns the text, or the reason why not
  src/mend/mend.h                             its name in `MendKind`
  src/mend/mend.cpp                           the form of the places that get it, in `Mender::mend_place`
  src/api/graphmend.h                         its number in the list of kinds
  python/graphmend/_mending/mended_file.py    its name in `_KINDS`, in the same order
  python/graphmend/_reporting/report.py       what it means to a reader, in `_DONE`
  python/graphmend/_mending/marks_*.py        what its text calls while it is traced
  src/mend/mend_test.cpp                      a test of its text

Then write rules/{name}.md, run `make rules-update`, and look at what it wrote."""


def name_of_rule(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z_]*", text):
        raise argparse.ArgumentTypeError(f"a name is made of small letters and `_`, not {text!r}")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", type=name_of_rule, metavar="NAME", help="a verb, as `postpone`, `check` and `select`")
    parser.add_argument("--rules", type=Path, default=RULES, help="the folder of the pages (default: rules/)")
    chosen = parser.parse_args()
    page = chosen.rules / f"{chosen.name}.md"
    try:
        # Mode x: never over a page that somebody wrote.
        with page.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE.format(name=chosen.name))
    except FileExistsError:
        print(f"new_rule: {page} is there already; nothing was written", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"new_rule: cannot write {page}: {error.strerror}", file=sys.stderr)
        return 1
    print(NEXT.format(page=page, name=chosen.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())

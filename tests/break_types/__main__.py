"""`python -m tests.break_types` prints the table of break types; `--write` writes docs/break_types.md."""

from __future__ import annotations

import sys

from .table import PAGE, page

if sys.argv[1:] not in ([], ["--write"]):
    sys.exit("usage: python -m tests.break_types [--write]")
if sys.argv[1:]:
    PAGE.write_text(page(), encoding="utf-8")
else:
    print(page(), end="")

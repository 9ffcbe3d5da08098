"""`python -m tests.decisions` prints the page of decisions; `--write` writes docs/decisions.md."""

from __future__ import annotations

import sys

from .table import PAGE, page

if sys.argv[1:] not in ([], ["--write"]):
    sys.exit("usage: python -m tests.decisions [--write]")
if sys.argv[1:]:
    PAGE.write_text(page(), encoding="utf-8")
else:
    print(page(), end="")

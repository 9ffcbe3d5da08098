"""The command. In: how many programs, which subject and backend. Out: counts, and a folder of reduced failures."""

from __future__ import annotations

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Random tensor programs, run before and after mending, compared exactly. `python -m tests.generated --help`."""

import os

# A program is met for the first time in every run.
os.environ["GRAPHMEND_REMEMBER"] = "0"

"""Random tensor programs, run before and after mending, compared exactly. `python -m tests.generated --help`."""

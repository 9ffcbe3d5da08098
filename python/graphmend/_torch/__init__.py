"""Everything that touches torch's private parts, and nothing else.

Each function says what it relies on. `version.require_torch` is the probe that runs before anything is mended: a torch
whose parts have moved gets a clear refusal, not a wrong program.
"""

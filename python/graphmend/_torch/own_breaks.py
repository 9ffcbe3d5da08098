"""Breaks of graphmend's own: what Dynamo would trace, but into something else than Python makes of it."""

from typing import Any, NoReturn

from torch._dynamo.exc import unimplemented

_TYPES: set[str] = set()


def leave_to_python(gb_type: str, context: object, why: str) -> NoReturn:
    """Breaks the graph that is being traced."""
    _TYPES.add(gb_type)
    unimplemented(gb_type=gb_type, context=str(context), explanation=why, hints=[])
    raise AssertionError(gb_type)


def is_own(error: Any) -> bool:
    """Whether this is such a break, which plain `torch.compile` does not have."""
    return getattr(error, "gb_type", None) in _TYPES

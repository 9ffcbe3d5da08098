"""Objects that the effects of a graph speak of and that no name leads to: kept while tracing, found by a number."""

import weakref
from typing import Any

_kept: list[weakref.ref[Any]] = []


def keep(thing: object) -> int | None:
    """A number by which it is found again when the effect is delivered; it lives as long as its owner wants."""
    try:
        reference = weakref.ref(thing)
    except TypeError:
        return None
    for number, known in enumerate(_kept):
        # Nobody asks for one that is gone.
        if known() is thing or known() is None:
            _kept[number] = reference
            return number
    _kept.append(reference)
    return len(_kept) - 1


def kept(number: int) -> Any:
    return _kept[number]()

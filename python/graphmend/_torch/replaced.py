"""Parts of torch, replaced for a while."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def replaced(*parts: tuple[Any, str, Callable[[Any], Any]]) -> Iterator[None]:
    """Inside, each attribute, given by its owner and its name, is what the function makes of it."""
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in parts]
    for owner, name, make in parts:
        setattr(owner, name, make(getattr(owner, name)))
    try:
        yield
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)

"""Parts of torch, replaced for a while."""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def replaced(*parts: tuple[Any, str, Callable[[Any], Any]]) -> Iterator[None]:
    """Inside, each attribute, given by its owner and its name, is what the function makes of it."""
    originals = [(owner, name, inspect.getattr_static(owner, name)) for owner, name, _ in parts]
    for (owner, name, original), (*_, make) in zip(originals, parts, strict=True):
        made = make(getattr(owner, name))
        setattr(owner, name, staticmethod(made) if isinstance(original, staticmethod) else made)
    try:
        yield
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)

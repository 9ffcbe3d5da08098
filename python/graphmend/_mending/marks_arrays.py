"""NumPy, where it is installed."""

from typing import Any

numpy: Any
try:
    import numpy
except ImportError:
    numpy = None


def is_array(thing: Any) -> bool:
    return numpy is not None and isinstance(thing, numpy.ndarray)

"""The one place that knows graphmend's own API: how a model is mended, and what its report says.

In: a model and torch.compile's arguments. Out: the compiled object, and its report as plain data.
Left out: every opinion about the numbers.
"""

import importlib
from collections.abc import Callable
from typing import Any

PLACE_FIELDS = ("gb_type", "file", "line", "source", "action", "reason")


def missing() -> str | None:
    """Why nothing can be mended here, or None."""
    try:
        graphmend = importlib.import_module("graphmend")
    except ImportError as error:
        return f"graphmend cannot be imported: {error}"
    if not hasattr(graphmend, "compile"):
        return f"{graphmend.__file__} has no `compile`"
    return None


def compile_model(model: Any, **options: Any) -> Callable[..., Any]:
    reason = missing()
    if reason is not None:
        raise RuntimeError(reason)
    compiled: Callable[..., Any] = importlib.import_module("graphmend").compile(model, **options)
    return compiled


def report(compiled: Any) -> dict[str, Any]:
    """The report of a mended model: what became of each place, and the seconds spent on mending."""
    found = getattr(compiled, "report", None)
    return {
        "places": [
            {field: plain_data(getattr(place, field, None)) for field in PLACE_FIELDS}
            for place in getattr(found, "breaks", ())
        ],
        "seconds": getattr(found, "seconds", None),
    }


def plain_data(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float)) else str(value)

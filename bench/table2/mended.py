"""The one place that knows graphmend's own API: how a model is mended, and what its report says.

In: a model and torch.compile's arguments. Out: the compiled object, and its report as plain data.
Left out: every opinion about the numbers.
"""

import importlib
from collections.abc import Callable
from typing import Any

from bench.table2.paths import short


def missing() -> str | None:
    """Why nothing can be mended here, or None."""
    try:
        importlib.import_module("graphmend._mending.compile")
    except ImportError as error:
        return f"graphmend cannot be imported: {error}"
    return None


def compile_model(model: Any, **options: Any) -> Callable[..., Any]:
    reason = missing()
    if reason is not None:
        raise RuntimeError(reason)
    compiled: Callable[..., Any] = importlib.import_module("graphmend._mending.compile").compile(model, **options)
    return compiled


def report(compiled: Any) -> dict[str, Any]:
    """What became of each place, seconds spent on mending, and calls in which the original had to run instead."""
    found = compiled.report
    return {
        "places": [
            {
                "gb_type": place.gb_type,
                "file": short(place.file),
                "line": place.line,
                "source": place.source,
                "action": place.mend or "left",
                "reason": place.reason,
            }
            for place in found.breaks
        ],
        "seconds": found.seconds,
        "misses": found.misses,
    }

"""The ways a program is compiled, one per column of the table.

In: a model and a backend. Out: something to call like the model, and a context in which to compile and call it.
Left out: what is measured about them (measure.py).
"""

import contextlib
import logging
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bench.table2 import mended

EAGER = "eager"
PLAIN = "plain"
SETTINGS = "settings"
NESTED = "nested"
MENDED = "mended"
# In a process that finds what an earlier one has remembered.
AGAIN = "again"
COMPILED = (PLAIN, SETTINGS, NESTED, MENDED, AGAIN)

# What a graph is handed on to: run as it is, or compiled.
BACKENDS = ("eager", "inductor")

TITLES = {
    PLAIN: "plain",
    SETTINGS: "Dynamo's settings",
    NESTED: "settings and nested breaks",
    MENDED: "mended",
    AGAIN: "mended, a later process",
}

LOGGING_VERBS = frozenset("debug info warning warn error exception critical fatal log warning_advice".split())


def logging_methods() -> set[Any]:
    """Every method of Logger that logs, also those that libraries have added to the class."""
    return {
        method
        for name, method in vars(logging.Logger).items()
        if name in LOGGING_VERBS or name.removesuffix("_once") in LOGGING_VERBS
    }


def dynamo_settings(*, nested: bool) -> dict[str, Any]:
    """What Dynamo itself offers against breaks; log lines are dropped, prints and warnings come late."""
    return {
        "ignore_logging_functions": logging_methods(),
        "reorderable_logging_functions": {print, warnings.warn},
        "capture_scalar_outputs": True,
        "capture_dynamic_output_shape_ops": True,
        "nested_graph_breaks": nested,
    }


def context(column: str) -> contextlib.AbstractContextManager[Any]:
    if column in (SETTINGS, NESTED):
        patched: contextlib.AbstractContextManager[Any] = torch._dynamo.config.patch(
            dynamo_settings(nested=column == NESTED)
        )
        return patched
    return contextlib.nullcontext()


def compile_model(column: str, model: nn.Module, backend: Callable[..., Any], *, fullgraph: bool) -> Callable[..., Any]:
    compilers: dict[str, Callable[..., Any]] = {EAGER: lambda model, **_: model}
    compilers |= dict.fromkeys((MENDED, AGAIN), mended.compile_model)
    compiled: Callable[..., Any] = compilers.get(column, torch.compile)(
        model, backend=backend, dynamic=False, fullgraph=fullgraph
    )
    return compiled

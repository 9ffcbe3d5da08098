"""Settings of Dynamo's that keep a graph whole. In: types of breaks. Out: the settings, while a frame is compiled.

Only settings under which a program does what it does without: each is off for the sake of what Dynamo can do with it.
Those that change a program (`use_numpy_random_stream`, generators that run ahead, classes that are made once) are not
here, nor is what somebody has switched off on purpose and gets other last digits from (`trace_numpy`), nor gradients
inside of a graph, which know nothing of hooks and of what was computed outside (`trace_autograd_ops`).
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import torch._dynamo

_SETTINGS: dict[str, dict[str, bool]] = {
    "attempted to trace contextlib.contextmanager": {"enable_trace_contextlib": True},
    "P2P compilation disabled for P2POp construction": {"enable_p2p_compilation": True},
    "P2P compilation disabled for batch_isend_irecv": {"enable_p2p_compilation": True},
    "P2P compilation disabled for isend/irecv": {"enable_p2p_compilation": True},
    "Attempted to wrap RNN, GRU, or LSTM": {"allow_rnn": True},
}


def has_setting(gb_type: str) -> bool:
    """Whether a setting mends breaks of this type; older versions of torch lack some."""
    settings = _SETTINGS.get(gb_type)
    return settings is not None and all(hasattr(torch._dynamo.config, name) for name in settings)


def patch_for(gb_types: Iterable[str]) -> contextlib.AbstractContextManager[Any]:
    """The settings for these types of breaks."""
    settings: dict[str, bool] = {}
    for gb_type in gb_types:
        settings |= _SETTINGS[gb_type]
    if not settings:
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[Any] = torch._dynamo.config.patch(**settings)
    return context

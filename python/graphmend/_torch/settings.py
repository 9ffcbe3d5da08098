"""Settings of Dynamo's that keep a graph whole. In: types of breaks. Out: the settings, while a frame is compiled.

Only settings under which a program does what it does without: each is off for the sake of what Dynamo can do with it.
Those that change a program (`use_numpy_random_stream`, generators that run ahead, classes that are made once) are not
here, nor is what somebody has switched off on purpose and gets other last digits from (`trace_numpy`). Gradients inside
of a graph know nothing of hooks and of what was computed outside; whether there are any is looked at in each call
(`requirements`), and a `backward` that reaches a leaf from outside is refused, as its hooks cannot be looked at.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch._dynamo
from torch._dynamo import guards
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.tensor import TensorVariable

from graphmend._torch.one_tensor import as_given
from graphmend._torch.replaced import replaced
from graphmend._torch.version import torch_version

_BACKWARD = "Unsupported Tensor.backward() call"

_SETTINGS: dict[str, dict[str, bool]] = {
    "attempted to trace contextlib.contextmanager": {"enable_trace_contextlib": True},
    "P2P compilation disabled for P2POp construction": {"enable_p2p_compilation": True},
    "P2P compilation disabled for batch_isend_irecv": {"enable_p2p_compilation": True},
    "P2P compilation disabled for isend/irecv": {"enable_p2p_compilation": True},
    _BACKWARD: {"trace_autograd_ops": True},
    "using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`": {"trace_autograd_ops": True},
    "Attempted to wrap RNN, GRU, or LSTM": {"allow_rnn": True},
}
# Types of breaks.
HAVE_SETTINGS = frozenset(_SETTINGS)
# Those for which gradients are traced.
TRACE_GRADIENTS = frozenset(gb_type for gb_type, settings in _SETTINGS.items() if "trace_autograd_ops" in settings)


def has_setting(gb_type: str) -> bool:
    """Whether a setting mends breaks of this type; older versions of torch lack some."""
    settings = _SETTINGS.get(gb_type)
    return settings is not None and all(hasattr(torch._dynamo.config, name) for name in settings)


def keep_backward_inside(is_ours: Callable[[], bool]) -> None:
    """From now on a `backward` that may reach a leaf from outside breaks the graph, where the setting is ours."""
    original = getattr(TensorVariable, "method_backward", None)
    if original is None or hasattr(original, "_graphmend_keeps") or not has_setting(_BACKWARD):
        return

    @functools.wraps(original)
    def method_backward(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        known = tx.output.input_source_to_var.values()
        if not any(isinstance(each, TensorVariable) and each.requires_grad for each in known) or not is_ours():
            return original(self, tx, *args, **kwargs)
        with torch._dynamo.config.patch(trace_autograd_ops=False):
            return original(self, tx, *args, **kwargs)

    method_backward._graphmend_keeps = True  # type: ignore[attr-defined]
    TensorVariable.method_backward = method_backward


@contextlib.contextmanager
def patch_for(gb_types: Iterable[str], refuse: Callable[[str], Any]) -> Iterator[None]:
    """The settings for these types of breaks; `refuse` gets the reason where one is not applied."""
    settings: dict[str, bool] = {}
    for gb_type in gb_types:
        settings |= _SETTINGS[gb_type]
    if not settings:
        yield
        return
    keeps: list[Any] = []
    if "allow_rnn" in settings:
        keeps.append((VariableBuilder, "wrap_module", lambda original: _keep_recurrent(original, refuse)))
    if "trace_autograd_ops" in settings:
        keeps.append((TensorVariable, "_method_register_hook", lambda original: _keep_hooked(original, refuse)))
    with torch._dynamo.config.patch(**settings), replaced(*keeps):
        yield


def _keep_recurrent(original: Any, refuse: Callable[[str], Any]) -> Any:
    """Leaves recurrent layers to Python that are others as torch takes them apart for its compilers."""

    @functools.wraps(original)
    def wrap_module(self: Any, value: Any) -> Any:
        reason = _other_when_traced(value) if isinstance(value, torch.nn.RNNBase) else ""
        if not reason:
            return original(self, value)
        refuse(reason)
        with torch._dynamo.config.patch(allow_rnn=False):
            return original(self, value)

    return wrap_module


def _keep_hooked(original: Any, refuse: Callable[[str], Any]) -> Any:
    """Leaves to Python what goes back to an input once that has got a hook, which Dynamo puts behind the graph."""

    @functools.wraps(original)
    def register_hook(self: Any, tx: Any, *more: Any, **options: Any) -> Any:
        if as_given(tx, self).source is not None:
            refuse("a gradient goes through a hook that is put on an input meanwhile")
            torch._dynamo.config.trace_autograd_ops = False
        return original(self, tx, *more, **options)

    return register_hook


def _other_when_traced(layer: Any) -> str:
    """Why a recurrent layer is another one to torch's compilers, if it is."""
    if layer.dropout and layer.num_layers > 1 and layer.training:
        return "torch's compilers lose the dropout between recurrent layers"
    # On some processors eager has an operator for them that goes with autocast.
    is_cast = torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
    return "under autocast, torch's compilers give recurrent layers another type" if is_cast else ""


def whole_guards(needed: Callable[[], bool]) -> contextlib.AbstractContextManager[None]:
    """Guards that are made meanwhile look into a module's dicts in every call, if that is `needed` then.

    Before torch 2.13 they do not where nothing was assigned to the module: what is in its dicts has changed unseen.
    """
    if torch_version() >= (2, 13):
        return contextlib.nullcontext()

    def unless_needed(original: Any) -> Any:
        return lambda self: None if needed() else original(self)

    return replaced((guards.GuardManagerWrapper, "find_tag_safe_roots", unless_needed))

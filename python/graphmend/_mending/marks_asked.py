"""What the marks ask while they are traced. The answers are the backend's, and constants to Dynamo."""

from types import CodeType
from typing import Any

from graphmend._mending import mended_code
from graphmend._mending.backend import MendedBackend
from graphmend._torch.graphs import CHECKPOINTS
from graphmend._torch.settings import TRACE_GRADIENTS
from graphmend._torch.tracing import (
    TraceAgain,
    assume_constant_result,
    in_function_mode,
    operators_around,
    traced_backend,
    traced_code,
)


def own_backend() -> MendedBackend | None:
    """The backend of ours for which Dynamo is tracing in this thread."""
    backend = traced_backend()
    return backend if isinstance(backend, MendedBackend) else None


def code_to_trace(code: CodeType, space: dict[str, Any], is_cached: bool) -> CodeType:
    """What Dynamo asks for each function that it inlines."""
    backend = own_backend()
    if backend is None or backend.frame.plain:
        return code
    if is_cached:
        backend.frame.cached.add(code, space)
        return code
    backend.frame.traced.add(code, space)
    mended = mended_code.replacement(code, space, bool(backend.speculates))
    if mended_code.has_marks(mended):
        backend.trace_with_mends()
    return mended


def traces_gradients() -> bool:
    """Whether gradients are traced for our sake, where a `backward` may reach a leaf from outside."""
    backend = own_backend()
    if backend is None or not backend.frame.set_for & TRACE_GRADIENTS:
        return False
    backend.frame.refusal = "hooks on a leaf's accumulated gradient, DDP's among them, cannot be looked up"
    return True


@assume_constant_result
def mends_apply() -> bool:
    backend = own_backend()
    if backend is None or backend.frame.plain:
        return False
    if not all(each in CHECKPOINTS for each in operators_around()):
        backend.frame.trouble = "it stands in the body of a higher-order operator (cond, vmap, …)"
        return False
    if in_function_mode():
        backend.frame.trouble = "a mode of the program's is asked for what torch's functions do"
        return False
    reason = backend.learnt(traced_code()).as_written
    if reason is not None:
        backend.frame.trouble = reason
    return reason is None


@assume_constant_result
def decline(site: str, reason: str) -> bool:
    """Says why a place is left as it is, for the report."""
    backend = own_backend()
    if backend is not None:
        backend.notes[site] = reason
    return False


@assume_constant_result
def is_declined(site: str) -> bool:
    """Whether a place is left as it is for good."""
    backend = own_backend()
    return backend is None or site in backend.declined


@assume_constant_result
def trace_again_without(site: str, reason: str) -> bool:
    backend = own_backend()
    if backend is not None:
        backend.trace_without(site, reason)
    raise TraceAgain(restart_reason=reason)


@assume_constant_result
def may_carry() -> bool:
    """Whether the graph may carry a marker of a mend."""
    backend = own_backend()
    if backend is None or not mends_apply():
        return False
    backend.frame.trouble = backend.learnt(traced_code()).cannot_carry
    return backend.frame.trouble is None


@assume_constant_result
def runs_twice() -> bool:
    """Whether it stands in a checkpointed function, and is run once more in the backward."""
    backend = own_backend()
    if backend is None or not operators_around():
        return False
    backend.frame.trouble = "it stands in a checkpointed function, which runs once more in the backward"
    return True


@assume_constant_result
def may_mend(site: str) -> bool:
    """Whether it may carry that of the mend of a place. One question, because each takes time in a trace."""
    return may_carry() and not is_declined(site)

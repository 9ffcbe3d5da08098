"""The operators of our own that carry values out of a graph."""

from collections.abc import Callable

import torch
import torch._dynamo
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

# The marker operators. `emit` carries an effect's values out of the graph, `check` a flag that must hold its
# predicted value. They are lifted out before a backend sees the graph; where one is not (a graph that is not ours),
# being effectful keeps compilers from dropping it.
_library = torch.library.Library("graphmend", "DEF")
_library.define("emit(str site, str spec, SymInt[] ints, Tensor[] values) -> ()")
_library.define("check(str site, Tensor flag) -> ()")
# A value that Python needs; and the same with what was predicted for it, to be compared after the graph.
_library.define("wanted(Tensor value) -> ()")
_library.define("predicted(str key, str text, Tensor value, Tensor flag) -> ()")
# What a branch was joined to, and from what.
_library.define("joined(str site, Tensor result, Tensor one, Tensor other) -> ()")

_MARKERS = ("emit", "check", "wanted", "predicted", "joined")


def register_markers(emit: Callable[..., None], check: Callable[..., None]) -> None:
    """Gives the marker operators their meaning outside of lifted graphs."""
    _library.impl("emit", emit, "CompositeExplicitAutograd")
    _library.impl("check", check, "CompositeExplicitAutograd")
    _library.impl("predicted", lambda key, text, value, flag: check(key, flag), "CompositeExplicitAutograd")
    for name in ("wanted", "joined"):
        _library.impl(name, lambda *_: None, "CompositeExplicitAutograd")
    for name in _MARKERS:
        _library.impl(name, lambda *_: None, "Meta")
        _register_effectful_op(getattr(torch.ops.graphmend, name).default, _EffectType.ORDERED)


def marker_name(target: object) -> str | None:
    """ "emit", "check" or "joined"; None for what is no marker."""
    packet = getattr(target, "overloadpacket", target)
    for name in _MARKERS:
        if packet is getattr(torch.ops.graphmend, name):
            return name
    return None

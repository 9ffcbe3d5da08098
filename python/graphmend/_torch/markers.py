"""The operators of our own that carry values out of a graph."""

import torch
import torch._dynamo
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

# The marker operators. `emit` carries an effect's values out of the graph, `check` a flag that must hold its
# predicted value. They are lifted out before a backend sees the graph. Run as operators they do nothing: Dynamo runs
# operators on constants while it traces. Being effectful keeps them where they are.
_library = torch.library.Library("graphmend", "DEF")
_library.define("emit(str site, str spec, SymInt[] ints, Tensor[] values) -> ()")
_library.define("check(str site, Tensor flag) -> ()")
# A value that Python needs; and the same with what was predicted for it, to be compared after the graph.
_library.define("wanted(Tensor value) -> ()")
_library.define("predicted(str key, str text, Tensor value, Tensor flag) -> ()")
# Where the sides of a branch begin; and what they were joined to, and from what.
_library.define("sides(str site) -> ()")
_library.define("joined(str site, Tensor result, Tensor one, Tensor other) -> ()")

# What must hold before the graph counts; `requirements` says which kinds there are.
_library.define("required(str site, str kind, str name, Tensor[] values) -> ()")

_MARKERS = ("emit", "check", "wanted", "predicted", "sides", "joined", "required")


for _name in _MARKERS:
    for _key in ("CompositeExplicitAutograd", "Meta"):
        _library.impl(_name, lambda *_: None, _key)
    _register_effectful_op(getattr(torch.ops.graphmend, _name).default, _EffectType.ORDERED)


def marker_name(target: object) -> str | None:
    """ "emit", "check" or another; None for what is no marker."""
    packet = getattr(target, "overloadpacket", target)
    for name in _MARKERS:
        if packet is getattr(torch.ops.graphmend, name):
            return name
    return None

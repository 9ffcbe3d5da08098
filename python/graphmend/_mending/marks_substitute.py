"""The marks where another call is traced that does exactly the same; `substitutes` says for which names.

Each function here is given a call's operands. It returns what stands for the call, in a tuple, or nothing: then the
operands do not fit, the very call that stood there is made, and the graph breaks as it always did.
"""

import collections
import contextlib
import datetime
import importlib
import itertools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from graphmend._mending.marks_asked import decline, mends_apply, own_backend
from graphmend._mending.marks_numpy import dtype_of, is_array, is_in, outer, reduce, speculates, to_bytes
from graphmend._mending.marks_python import Closing, GroupBy, copied, is_copied
from graphmend._mending.marks_value import value
from graphmend._mending.substitutes import CHECKS, EXACT
from graphmend._torch.tracing import assume_constant_result, wanted_apart

Made = tuple[Any] | None

# Up to where integers are exact in a type.
_EXACT_TO = {
    torch.float64: 2**53,
    torch.float32: 2**24,
    torch.float16: 2**11,
    torch.bfloat16: 2**8,
    torch.int64: 2**62,
    torch.int32: 2**31 - 1,
    torch.int16: 2**15 - 1,
    torch.int8: 2**7 - 1,
}
# Functions that draw random numbers.
_DRAWING = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson")
_UNFIT = "no other call does the same with these operands"


@assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _note(site: str) -> bool:
    """For the report: the substitute is part of the graph."""
    backend = own_backend()
    if backend is not None:
        backend.frame.marked.add(site)
    return True


@assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _is_missing(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return True
    return False


def method(site: str, name: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    """`owner.name(*args, **kwargs)`"""
    if isinstance(owner, ModuleType):
        return function(site, name, getattr(owner, name), *args, **kwargs)
    if torch.compiler.is_dynamo_compiling() and mends_apply():
        made = _METHODS[name](site, owner, args, kwargs) if name in _METHODS else None
        if made is not None:
            _note(site)
            return made[0]
        decline(site, _UNFIT)
    return getattr(owner, name)(*args, **kwargs)


def function(site: str, name: str, called: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`name(*args, **kwargs)`"""
    if torch.compiler.is_dynamo_compiling() and mends_apply():
        made = _FUNCTIONS[name](site, called, args, kwargs) if name in _FUNCTIONS else None
        if made is not None:
            _note(site)
            return made[0]
        decline(site, _UNFIT)
    return called(*args, **kwargs)


def attribute(site: str, name: str, owner: Any) -> Any:
    """`owner.name`"""
    if torch.compiler.is_dynamo_compiling() and mends_apply() and name == "dtype" and is_array(owner):
        _note(site)
        return dtype_of(owner)
    return getattr(owner, name)


def resized(site: str, name: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    """`torch.name(…, out=…)` of empty tensors that were just made, and that nobody else knows"""
    # What is drawn must not be drawn twice, should it not fit.
    if torch.compiler.is_dynamo_compiling() and mends_apply() and owner is torch and name not in _DRAWING:
        outs = kwargs["out"] if isinstance(kwargs["out"], tuple) else (kwargs["out"],)
        made = getattr(torch, name)(*args, **{key: kwargs[key] for key in kwargs if key != "out"})
        results = made if isinstance(made, tuple) else (made,)
        if len(outs) == len(results) and all(_takes(outs[i], results[i]) for i in range(len(outs))):
            _note(site)
            return made
        decline(site, _UNFIT)
    return getattr(owner, name)(*args, **kwargs)


def _takes(out: Any, result: Any) -> bool:
    """Whether an output becomes exactly this result."""
    if not _is_plain(out) or out.numel() != 0 or result.requires_grad or not result.is_contiguous():
        return False
    return bool(out.dtype == result.dtype and out.device == result.device)


class Holder:
    """Stands for a tensor while its data is set."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.data: Any = None


def held(site: str, holder: Any) -> Any:
    """The tensor with the data that it was given; nobody else knows it, so that it may be another one."""
    if not isinstance(holder, Holder):
        return holder
    old, new = holder.tensor, holder.data
    if torch.compiler.is_dynamo_compiling() and mends_apply() and _is_plain(old) and _is_plain(new):
        if old.dtype == new.dtype and old.device == new.device:
            _note(site)
            return new.data
        decline(site, _UNFIT)
    old.data = new
    return old


class _Nowhere:
    """What is set here is forgotten."""


def target(site: str, name: str, owner: Any, new: bool) -> Any:
    """Where to set an attribute: `owner`, or nowhere if it has that value already."""
    if not torch.compiler.is_dynamo_compiling() or not mends_apply() or not isinstance(owner, torch.Tensor):
        return owner
    if name == "requires_grad" and owner.requires_grad == new:
        _note(site)
        return _Nowhere()
    decline(site, _UNFIT)
    return owner


def imports(site: str, name: str) -> None:
    """Raises what `import name` raises where there is no such module."""
    if torch.compiler.is_dynamo_compiling() and mends_apply() and name not in sys.modules and _is_missing(name):
        _note(site)
        raise ModuleNotFoundError(f"No module named {name!r}")


# Methods.


def _random(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`random_`: the same kernel under a name that graphs can spell."""
    if not _is_plain(owner) or kwargs or owner.dtype == torch.bool or not owner.is_contiguous():
        return None
    if len(args) == 0:
        return (torch.ops.aten.random_.default(owner),)
    if len(args) == 1:
        return (torch.ops.aten.random_.to(owner, args[0]),)
    # Drawn from zero on, and shifted: exact where all numbers of the range are numbers of the type.
    limit = _EXACT_TO.get(owner.dtype, 0)
    if args[1] is None or not -limit <= args[0] < args[1] <= limit or args[1] - args[0] > limit:
        return None
    return (torch.ops.aten.random_.to(owner, args[1] - args[0]).add_(args[0]),)


def _uniform(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`uniform_`, whose bounds have names that are Python's own"""
    if not isinstance(owner, torch.Tensor) or args or not all(name in ("from", "to") for name in kwargs):
        return None
    return (owner.uniform_(kwargs.get("from", 0.0), kwargs.get("to", 1.0)),)


def _resize(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    if not _is_plain(owner) or kwargs:
        return None
    size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return (owner,) if tuple(size) == tuple(owner.shape) else None


def _resize_as(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    if not _is_plain(owner) or kwargs or len(args) != 1 or not isinstance(args[0], torch.Tensor):
        return None
    return (owner,) if owner.shape == args[0].shape else None


def _is_autograd_function(owner: Any) -> bool:
    """Dynamo does not say what such a class is a subclass of."""
    try:
        owner.setup_context  # noqa: B018 - only such classes have one
    except AttributeError:
        return False
    return isinstance(owner, type)


def _apply(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`Function.apply(x, x)`: the second one as a view, whose gradient comes to the first as it always did"""
    if kwargs or not _is_autograd_function(owner):
        return None
    changed = list(args)
    count = 0
    for i in range(len(args)):
        for j in range(i):
            if isinstance(args[i], torch.Tensor) and args[i] is args[j]:
                changed[i] = args[i].view_as(args[i])
                count += 1
    applied: Any = owner
    return (applied.apply(*changed),) if count == 1 else None


def _sort_list(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`list.sort`"""
    if not isinstance(owner, list) or args:
        return None
    made = _sorted(site, sorted, (owner,), kwargs)
    if made is None:
        return None
    owner[:] = made[0]
    return (None,)


def _is_plain(tensor: Any) -> bool:
    return type(tensor) is torch.Tensor and not tensor.requires_grad


# Functions.


def _deepcopy(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    import copy

    if called is not copy.deepcopy or len(args) != 1 or kwargs or not is_copied(args[0]):
        return None
    return (copied(args[0], []),)


def _group(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    if called is not itertools.groupby or not 1 <= len(args) <= 2 or not all(name == "key" for name in kwargs):
        return None
    return (GroupBy(args[0], args[1] if len(args) == 2 else kwargs.get("key")),)


def _has(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`hasattr` of objects that have nothing but what their class has"""
    if called is not hasattr or len(args) != 2 or not isinstance(args[0], slice):
        return None
    return (hasattr(slice, args[1]),)


def _named(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`namedtuple`: the names of the fields as a list"""
    if called is not collections.namedtuple or len(args) != 2 or isinstance(args[1], str):
        return None
    return (called(args[0], [str(field) for field in args[1]], **kwargs),)


def _check(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch._check(condition, message)`: what holds needs no message"""
    if called not in (getattr(torch, name) for name in CHECKS) or kwargs or not 1 <= len(args) <= 2:
        return None
    return (None,) if isinstance(args[0], bool) and args[0] else None


def _assertion(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """An exception that nobody looks at"""
    return (AssertionError("of no concern"),) if called is AssertionError and not kwargs else None


def _show(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch.__config__.show()`, which is the same for good"""
    return (_shown_config(),) if called is torch.__config__.show and not args and not kwargs else None


@assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _shown_config() -> str:
    return str(torch.__config__.show())


def _import_module(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    if called is not importlib.import_module or len(args) != 1 or kwargs or args[0] not in sys.modules:
        return None
    return (sys.modules[args[0]],)


def _text(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`str` of a date"""
    if called is not str or len(args) != 1 or kwargs or type(args[0]) is not datetime.date:
        return None
    return (f"{args[0].year:04d}-{args[0].month:02d}-{args[0].day:02d}",)


def _compile(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch.compile(model=f, …)`, which is `f` to Dynamo if it comes by position"""
    if called is not torch.compile or args or kwargs.get("model") is None:
        return None
    return (kwargs["model"],)


def _closing(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    return (Closing(args[0]),) if called is contextlib.closing and len(args) == 1 and not kwargs else None


def _checkpoint(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`checkpoint` where there are no gradients, and so nothing to compute again: the call itself"""
    if called is not checkpoint or torch.is_grad_enabled() or not args or kwargs.get("use_reentrant") is not False:
        return None
    if any(name in kwargs for name in ("context_fn", "determinism_check", "debug", "early_stop")):
        return None
    rest = {name: kwargs[name] for name in kwargs if name not in ("use_reentrant", "preserve_rng_state")}
    return (args[0](*args[1:], **rest),)


def _out(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """An elementwise function with `out=`: computed, and copied; or one of sizes"""
    out: Any = kwargs.get("out")
    if out is None and args and not kwargs and all(type(each) is int and each >= 0 for each in args):
        # Sizes that may change become the numbers that they are.
        return (called(*[len([None] * each) for each in args]),)
    if not _is_plain(out) or called not in (getattr(torch, name) for name in EXACT):
        return None
    given = {name: kwargs[name] for name in kwargs if name != "out"}
    inputs = [each for each in (*args, *given.values()) if isinstance(each, torch.Tensor) and each is not out]
    if not _is_apart(out, inputs):
        return None
    made = called(*args, **given)
    if made.requires_grad or made.shape != out.shape or made.dtype != out.dtype:
        return None
    return (out.copy_(made),)


def _outs(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch.max` or `torch.min` along a dimension, with two outputs"""
    outs = kwargs.get("out")
    if called not in (torch.max, torch.min) or not isinstance(outs, (tuple, list)) or len(outs) != 2:
        return None
    if not all(_is_plain(out) for out in outs) or len(args) < 2 or not isinstance(args[1], int):
        return None
    if not _is_apart(outs[0], [args[0], outs[1]]) or not _is_apart(outs[1], [args[0]]):
        return None
    made = called(*args, **{name: kwargs[name] for name in kwargs if name != "out"})
    for one, out in zip(made, outs):  # noqa: B905 - Dynamo traces it
        if one.requires_grad or one.shape != out.shape or one.dtype != out.dtype:
            return None
    outs[0].copy_(made[0])
    outs[1].copy_(made[1])
    return (torch.return_types.max((outs[0], outs[1])) if called is torch.max else torch.return_types.min(tuple(outs)),)


def _is_apart(out: torch.Tensor, others: list[torch.Tensor]) -> bool:
    """Whether a tensor shares no memory with the others, as far as the trace knows."""
    torch.ops.graphmend.wanted(out)
    for other in others:
        torch.ops.graphmend.wanted(other)
    return bool(_are_apart(len(others)))


@assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _are_apart(count: int) -> bool:
    return wanted_apart(count)


def _sorted(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`sorted` by numbers that are tensors: their values are predicted, and compared after the graph"""
    if called is not sorted or len(args) != 1 or not speculates():
        return None
    items = list(args[0])
    key = kwargs.get("key")
    keys = items if key is None else [key(item) for item in items]
    if not all(isinstance(each, torch.Tensor) and each.numel() == 1 and not each.requires_grad for each in keys):
        return None
    numbers = [value(site, "item", each) for each in keys]
    order = sorted(range(len(items)), key=numbers.__getitem__, reverse=kwargs.get("reverse", False))
    return ([items[i] for i in order],)


_METHODS: dict[str, Callable[..., Made]] = {
    "apply": _apply,
    "outer": outer,
    "random_": _random,
    "reduce": reduce,
    "resize_": _resize,
    "resize_as_": _resize_as,
    "sort": _sort_list,
    "tobytes": to_bytes,
    "uniform_": _uniform,
}
_FUNCTIONS: dict[str, Callable[..., Made]] = {
    "AssertionError": _assertion,
    "checkpoint": _checkpoint,
    "closing": _closing,
    "compile": _compile,
    "deepcopy": _deepcopy,
    "groupby": _group,
    "hasattr": _has,
    "import_module": _import_module,
    "isin": is_in,
    "max": _outs,
    "min": _outs,
    "namedtuple": _named,
    "show": _show,
    "sorted": _sorted,
    "str": _text,
}
_FUNCTIONS.update(dict.fromkeys(CHECKS, _check))
_FUNCTIONS.update(dict.fromkeys(EXACT, _out))

"""The marks where another call is traced that does exactly the same; `substitutes` says for which names.

Each function here is given a call's operands. It returns what stands for the call, in a tuple, or nothing: then the
operands do not fit, the very call that stood there is made, and the graph breaks as it always did.
"""

import collections
import contextlib
import datetime
import itertools
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from graphmend._mending.marks_arrays import is_array
from graphmend._mending.marks_asked import decline, is_declined, mends_apply, own_backend
from graphmend._mending.marks_logging import effective_level, is_enabled_for
from graphmend._mending.marks_memory import DataOf, deep_copy, reshape, write_out
from graphmend._mending.marks_module import TABLES, of_module
from graphmend._mending.marks_numpy import dtype_of, is_in, reduced, to_bytes
from graphmend._mending.marks_python import Closing, GroupBy
from graphmend._mending.marks_sort import sort_in_place, sorted_list
from graphmend._mending.requirements import ABSENT, is_absent
from graphmend._mending.substitutes import CHECKS, RESHAPES
from graphmend._torch.objects import changes_imports, has_ended, items_of, iterator_over
from graphmend._torch.tracing import assume_constant_result
from graphmend._torch.variables import assertion_error, traced_module

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
_UNFIT = "no other call does the same with these operands"


@assume_constant_result
def _note(site: str) -> bool:
    """For the report: the substitute is part of the graph."""
    backend = own_backend()
    if backend is not None:
        backend.frame.marked.add(site)
    return True


def _applies(site: str) -> bool:
    return torch.compiler.is_dynamo_compiling() and mends_apply() and not is_declined(site)


def method(site: str, name: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    """`owner.name(*args, **kwargs)`"""
    if isinstance(owner, ModuleType):
        return function(site, name, getattr(owner, name), *args, **kwargs)
    if _applies(site):
        made = _METHODS[name](site, owner, args, kwargs) if name in _METHODS else None
        if made is not None:
            _note(site)
            return made[0]
        decline(site, _UNFIT)
    return getattr(owner, name)(*args, **kwargs)


def function(site: str, name: str, called: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`name(*args, **kwargs)`"""
    if _applies(site):
        if "out" in kwargs:
            made = write_out(site, name, called, args, kwargs, False)
        else:
            made = _FUNCTIONS[name](site, called, args, kwargs) if name in _FUNCTIONS else None
        if made is not None:
            _note(site)
            return made[0]
        decline(site, _UNFIT)
    return called(*args, **kwargs)


def into(site: str, name: str, called: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """`name(*args, out=…)`, as a statement"""
    if _applies(site):
        if write_out(site, name, called, args, kwargs, True) is not None:
            _note(site)
            return
        decline(site, _UNFIT)
    called(*args, **kwargs)


def imports(site: str, name: str) -> None:
    """Stands before `import name`: raises what that raises, where there is no such module."""
    if _applies(site) and _is_absent(name) and not changes_imports():
        torch.ops.graphmend.required(site, ABSENT, name, [])
        _note(site)
        raise ModuleNotFoundError(f"No module named {name!r}")


def iterated(site: str, values: Any) -> Any:
    """What `for` goes through"""
    if _applies(site):
        items = items_of(values)
        if items is not None:
            _note(site)
            return items
        decline(site, _UNFIT)
    return values


@assume_constant_result
def _is_absent(name: str) -> bool:
    return is_absent(name)


def attribute(site: str, name: str, owner: Any) -> Any:
    """`owner.name`"""
    if _applies(site) and name == "dtype" and is_array(owner):
        _note(site)
        return dtype_of(owner)
    return getattr(owner, name)


class _Nowhere:
    """What is set here is forgotten."""


def target(site: str, name: str, owner: Any, new: bool | None = None) -> Any:
    """Where to set an attribute: `owner`, or nowhere if it has that value already, or what does the same to it."""
    if not _applies(site) or not isinstance(owner, torch.Tensor):
        return owner
    if name == "data":
        return DataOf(owner, lambda fits: _note(site) if fits else decline(site, _UNFIT))
    if name == "requires_grad" and owner.requires_grad == new and owner.is_leaf:
        _note(site)
        return _Nowhere()
    decline(site, _UNFIT)
    return owner


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


def _is_plain(tensor: Any) -> bool:
    return type(tensor) is torch.Tensor and not tensor.requires_grad


def _enabled(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    return is_enabled_for(owner, args[0]) if len(args) == 1 and not kwargs else None


def _effective(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    return None if args or kwargs else effective_level(owner)


def _close(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`generator.close()` of one that has come to its end"""
    return (None,) if not args and not kwargs and has_ended(owner) else None


# Functions.


def _group(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    if called is not itertools.groupby or not 1 <= len(args) <= 2 or not all(name == "key" for name in kwargs):
        return None
    return (GroupBy(args[0], args[1] if len(args) == 2 else kwargs.get("key")),)


def _has(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`hasattr` of objects that have nothing but what their class has"""
    if called is not hasattr or len(args) != 2 or not isinstance(args[0], slice):
        return None
    return (_of_slices(args[1]),)


@assume_constant_result
def _of_slices(name: str) -> bool:
    # Not of their class, which has more.
    return hasattr(slice(None), name)


def _iterate(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`iter` of a dict"""
    if called is not iter or len(args) != 1 or kwargs:
        return None
    iterator = iterator_over(args[0])
    return None if iterator is None else (iterator,)


def _named(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`namedtuple`: the names of the fields as a list"""
    if called is not collections.namedtuple or len(args) != 2 or isinstance(args[1], str):
        return None
    # It asks who calls it.
    return (called(args[0], [str(field) for field in args[1]], **{"module": traced_module(), **kwargs}),)


def _check(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch._check(condition, message)`: what holds needs no message"""
    if called not in (getattr(torch, name) for name in CHECKS) or kwargs or not 1 <= len(args) <= 2:
        return None
    return (None,) if isinstance(args[0], bool) and args[0] else None


def _show(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch.__config__.show()`, which is the same for good"""
    return (_shown_config(),) if called is torch.__config__.show and not args and not kwargs else None


@assume_constant_result
def _shown_config() -> str:
    return str(torch.__config__.show())


def _assertion(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`AssertionError(…)`, as Dynamo has any other exception, whatever it is made of"""
    return (assertion_error(*args),) if called is AssertionError and not kwargs else None


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


def _drawn(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`random.random()`: a number between 0 and 1, drawn in the same way"""
    if called is not random.random or args or kwargs:
        return None
    _note(site)
    return (random.uniform(0.0, 1.0),)


def _static_address(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch._dynamo.mark_static_address(tensor, guard)`: the attribute that it sets"""
    if called is not torch._dynamo.mark_static_address or not args:
        return None
    if type(args[0]) is not torch.Tensor and type(args[0]) is not torch.nn.Parameter:
        return None
    _mark_static_address(*args, **kwargs)
    return (None,)


def _mark_static_address(tensor: Any, guard: bool = False) -> None:
    tensor._dynamo_static_input_type = "guarded" if guard else "unguarded"


def _of_sizes(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
    """`torch.add(x.shape[0], 1)` and its like: sizes that may change become the numbers that they are"""
    if not args or kwargs or not all(type(each) is int and each >= 0 for each in args):
        return None
    return (called(*[len([None] * each) for each in args]),)


_METHODS: dict[str, Callable[..., Made]] = {
    "close": _close,
    "random_": _random,
    "resize_": _resize,
    "isEnabledFor": _enabled,
    "getEffectiveLevel": _effective,
    "reduce": reduced,
    "resize_as_": _resize_as,
    "sort": sort_in_place,
    "tobytes": to_bytes,
    "uniform_": _uniform,
}
_METHODS.update((name, reshape(name)) for name in RESHAPES)
_METHODS.update((name, of_module(name)) for name in TABLES)
_FUNCTIONS: dict[str, Callable[..., Made]] = {
    "AssertionError": _assertion,
    "add": _of_sizes,
    "checkpoint": _checkpoint,
    "closing": _closing,
    "compile": _compile,
    "deepcopy": deep_copy,
    "div": _of_sizes,
    "groupby": _group,
    "hasattr": _has,
    "isin": is_in,
    "iter": _iterate,
    "mark_static_address": _static_address,
    "mul": _of_sizes,
    "namedtuple": _named,
    "random": _drawn,
    "show": _show,
    "sorted": sorted_list,
    "sqrt": _of_sizes,
    "str": _text,
    "sub": _of_sizes,
}
_FUNCTIONS.update(dict.fromkeys(CHECKS, _check))

"""Copies of a call, to try it out without leaving a trace.

A world has its own copy of the model, the arguments, the module-level names that their functions use, and the states
of the random streams. The copies are made in one go, so that what is shared stays shared: a tied weight, an argument
that is also a buffer, a model that a function finds among its globals or in its closure.
"""

import collections
import contextlib
import copy
import functools
import inspect
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import torch

# Module-level values that calls may change. Other objects are shared by all worlds.
_PLAIN = (type(None), bool, int, float, complex, str)
_CONTAINERS = (
    list,
    dict,
    set,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
)
_STATEFUL = (torch.nn.Module, torch.Tensor, torch.optim.Optimizer)

_MISSING = object()


class CopyError(TypeError):
    """Something cannot be copied, so that a call of it cannot be tried out."""


class World:
    """One copy of everything; calls in it are seen nowhere else."""

    def __init__(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._names = _module_level_names(model)
        values = [space[name] for space, name in self._names]
        memo: dict[int, Any] = {}
        self.model = _copied(model, "the model" if isinstance(model, torch.nn.Module) else "the function", memo)
        self.args = tuple(_copied(value, f"argument {i + 1}", memo) for i, value in enumerate(args))
        self.kwargs = {name: _copied(value, f"argument `{name}`", memo) for name, value in kwargs.items()}
        self.values = [_copied_or_shared(value, memo) for value in values]
        self._random = _random_states()

    def state(self) -> dict[str, Any]:
        """What a call may change, by name, for comparison."""
        names = [f"{space.get('__name__', '?')}.{name}" for space, name in self._names]
        state: dict[str, Any] = {"argument": {**dict(enumerate(self.args, 1)), **self.kwargs}, "model": self.model}
        state["global"] = dict(zip(names, self.values, strict=True))
        state["random state of"] = self._random
        return state

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Inside, the module-level names and random streams are this world's."""
        outside = [space.get(name, _MISSING) for space, name in self._names]
        outside_random = _random_states()
        _bind(self._names, self.values)
        _set_random_states(self._random)
        try:
            yield
        finally:
            self.values = [space.get(name, _MISSING) for space, name in self._names]
            self._random = _random_states()
            _bind(self._names, outside)
            _set_random_states(outside_random)


def _bind(names: Sequence[tuple[dict[str, Any], str]], values: Sequence[Any]) -> None:
    for (space, name), value in zip(names, values, strict=True):
        if value is _MISSING:
            space.pop(name, None)
        else:
            space[name] = value


def _copied(value: Any, what: str, memo: dict[int, Any]) -> Any:
    try:
        if isinstance(value, FunctionType):
            return _copied_function(value, memo)
        if isinstance(value, functools.partial):
            inner = _copied(value.func, what, memo)
            return functools.partial(inner, *copy.deepcopy(value.args, memo), **copy.deepcopy(value.keywords, memo))
        return copy.deepcopy(value, memo)
    except CopyError:
        raise
    except Exception as error:
        hint = ""
        if "deepcopy protocol" in str(error):
            hint = "; give it tensors that no operation made: `x.detach()`, and `.requires_grad_()` where needed"
        raise CopyError(
            f"graphmend: {what} ({type(value).__qualname__}) cannot be copied, and the call is not tried on your own "
            f"objects{hint} ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'})"
        ) from error


def _copied_or_shared(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, _STATEFUL):
        return _copied(value, "a module-level value", memo)
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        return value


def _copied_function(function: FunctionType, memo: dict[int, Any]) -> FunctionType:
    """A function with a closure and defaults of its own. `deepcopy` takes functions for constants."""
    if id(function) in memo:
        known: FunctionType = memo[id(function)]
        return known
    cells = tuple(CellType() for _ in function.__closure__ or ())
    new = FunctionType(function.__code__, function.__globals__, function.__name__, None, cells or None)
    memo[id(function)] = new
    # As `deepcopy` does: what is in the memo by its number must stay alive.
    memo.setdefault(id(memo), []).append(function)
    new.__qualname__ = function.__qualname__
    new.__module__ = function.__module__
    new.__defaults__ = copy.deepcopy(function.__defaults__, memo)
    new.__kwdefaults__ = copy.deepcopy(function.__kwdefaults__, memo)
    for name, cell, old in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
        try:
            content = old.cell_contents
        except ValueError:
            continue
        is_shared = inspect.ismodule(content) or isinstance(content, type)
        cell.cell_contents = content if is_shared else _copied(content, f"`{name}`, which the function uses,", memo)
    for name, value in vars(function).items():
        new.__dict__[name] = memo.get(id(value), value) if callable(value) else copy.deepcopy(value, memo)
    return new


def _module_level_names(model: Any) -> list[tuple[dict[str, Any], str]]:
    """The module-level names of state that a call may read or write, as far as they are spelled in its functions."""
    found: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
    waiting = list(_functions_of(model))
    seen: set[int] = set()
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        space = function.__globals__
        for name in _names_in(function.__code__):
            value = space.get(name, _MISSING)
            if name.startswith("__") or value is _MISSING:
                continue
            if isinstance(value, _STATEFUL) or type(value) in _PLAIN or type(value) in _CONTAINERS:
                found[id(space), name] = (space, name)
            if isinstance(value, type) or callable(value):
                waiting += _functions_of(value)
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):
                waiting += _functions_of(cell.cell_contents)
    return list(found.values())


def _functions_of(value: Any) -> Iterator[FunctionType]:
    """The user's functions that a call of this value may run."""
    if isinstance(value, functools.partial):
        yield from _functions_of(value.func)
    elif isinstance(value, MethodType):
        yield from _functions_of(value.__func__)
        yield from _functions_of(value.__self__)
    elif isinstance(value, FunctionType):
        value = inspect.unwrap(value)
        if isinstance(value, FunctionType) and _is_users(value.__module__):
            yield value
    elif isinstance(value, torch.nn.Module):
        for kind in {type(module) for module in value.modules()}:
            yield from _functions_of(kind)
    else:
        kind = value if isinstance(value, type) else type(value)
        for base in kind.__mro__:
            if _is_users(base.__module__):
                for member in vars(base).values():
                    member = getattr(member, "__func__", getattr(member, "fget", member))
                    if isinstance(member, FunctionType):
                        yield from _functions_of(member)


def _is_users(module: Any) -> bool:
    top = module.partition(".")[0] if isinstance(module, str) else ""
    return top not in ("torch", "graphmend", "numpy") and top not in sys.stdlib_module_names


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _random_states() -> dict[str, Any]:
    states: dict[str, Any] = {"torch": torch.get_rng_state(), "random": random.getstate()}
    if torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state_all()
    if "numpy" in sys.modules:
        states["numpy.random"] = sys.modules["numpy"].random.get_state()
    return states


def _set_random_states(states: dict[str, Any]) -> None:
    torch.set_rng_state(states["torch"])
    random.setstate(states["random"])
    if "cuda" in states:
        torch.cuda.set_rng_state_all(states["cuda"])
    if "numpy.random" in states and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(states["numpy.random"])

"""What only talks to the outside: calls of these, as statements, may run after the graph.

By the names that a file has for them, or by what a method is called on, which is asked while it is traced.
"""

import inspect
import logging
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from graphmend import _config
from graphmend._mending import scope

_LOGGING_FUNCTIONS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "log")
# Of a logger, or of what writes; `…_once` is what others have given to loggers.
_METHODS = (*_LOGGING_FUNCTIONS, "warning_once", "info_once", "warning_advice", "write")
# What is known to do no more than that, by its name.
ONLY_TALK = (*_METHODS, "print")

# What is asked of loggers, or changes what others see of them.
_NO_TALK = (
    *("setLevel", "addHandler", "removeHandler", "addFilter", "removeFilter", "filter", "getChild", "findCaller"),
    *("makeRecord", "hasHandlers", "isEnabledFor", "getEffectiveLevel", "manager", "root", "process"),
)

_declared: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()


def declare(function: Callable[..., Any]) -> None:
    """Calls of this function, as statements, may run after the graph."""
    _declared.add(function)


def names_in(space: dict[str, Any]) -> list[str]:
    """How a file whose globals are `space` calls what only talks: names, and methods with a dot before them."""
    names = [] if "print" in space else ["print"]
    # A copy, which nothing can interrupt: Dynamo takes names away when compiled code is collected.
    for name, value in space.copy().items():
        # What an adapter adds may be changed by the function: it is looked at when it is traced.
        if isinstance(value, logging.Logger):
            if not _only_logs(value):
                continue
            names += [f"{name}.*", *(f"!{name}.{method}" for method in _NO_TALK)]
        elif value is logging:
            names += [f"{name}.{function}" for function in _LOGGING_FUNCTIONS]
            names += _methods_of_any_logger(f"{name}.getLogger")
        elif value is logging.getLogger:
            names += _methods_of_any_logger(name)
        elif value is warnings:
            names.append(f"{name}.warn")
        elif value is warnings.warn or any(value is getattr(logging, function) for function in _LOGGING_FUNCTIONS):
            names.append(name)
        elif value is sys:
            names += [f"{name}.stdout.write", f"{name}.stderr.write"]
        elif _is_tqdm(value):
            names.append(f"{name}.write")
    methods = {*_METHODS, *(function.__name__ for function in _all_declared() if hasattr(function, "__name__"))}
    return [*names, *_names_of_declared(space), *(f".{method}" for method in sorted(methods))]


def _methods_of_any_logger(function: str) -> list[str]:
    """The methods of what a call of the function gives, whichever logger that is."""
    known = list(logging.Logger.manager.loggerDict.values())
    loggers = [logger for logger in known if isinstance(logger, logging.Logger)]
    if _is_users(logging.getLoggerClass()) or not all(map(_only_logs, loggers)):
        return []
    return [f"{function}().{method}" for method in _LOGGING_FUNCTIONS]


def talks(receiver: object, method: str) -> bool:
    """Whether a method only talks, by what it is called on."""
    if isinstance(receiver, (logging.Logger, logging.LoggerAdapter)):
        return method in _METHODS and _only_logs(receiver)
    if receiver is logging:
        return method in _LOGGING_FUNCTIONS
    if receiver is warnings:
        return method == "warn"
    if receiver is sys.stdout or receiver is sys.stderr or _is_tqdm(receiver):
        return method == "write"
    # As the class has it: nothing of the object's own is run by asking.
    own_type = receiver if isinstance(receiver, type) else type(receiver)
    function = inspect.getattr_static(own_type, method, None)
    function = getattr(function, "__func__", function)
    return any(function is declared for declared in _all_declared())


def _only_logs(logger: logging.Logger | logging.LoggerAdapter[Any]) -> bool:
    """Whether logging does nothing that the program could see; a class of the program's own may count what it gets."""
    if isinstance(logger, logging.LoggerAdapter) and not _only_logs(logger.logger):
        return False
    own = {name for name, value in vars(logger).items() if callable(value)}
    kinds = [kind for kind in type(logger).__mro__ if kind is not object]
    return not own & {*_METHODS, "_log", "process", "handle"} and not any(map(_is_users, kinds))


def _is_users(kind: type) -> bool:
    """Whether a class is of the program itself, and not Python's or a package's."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is None or scope.is_users(file)


def is_loggings_own(logger: logging.Logger | logging.LoggerAdapter[Any], *methods: str) -> bool:
    """Whether these methods of a logger are those that `logging` gives it."""
    kind = logging.LoggerAdapter if isinstance(logger, logging.LoggerAdapter) else logging.Logger
    return all(
        getattr(type(logger), method, None) is getattr(kind, method) and method not in vars(logger)
        for method in methods
    )


def _is_tqdm(value: object) -> bool:
    own_type = value if isinstance(value, type) else type(value)
    return str(own_type.__module__).partition(".")[0] == "tqdm" and hasattr(own_type, "write")


def _all_declared() -> list[Callable[..., Any]]:
    return [*_declared, *_config.declared_effects()]


def _names_of_declared(space: dict[str, Any]) -> list[str]:
    """How a file whose globals are `space` may spell the functions that were declared to be effects."""
    declared = _all_declared()
    names: list[str] = []
    for name, value in space.copy().items() if declared else []:
        names += [name for function in declared if value is function]
        if not inspect.ismodule(value) and not isinstance(value, type):
            continue
        for function in declared:
            own_name = getattr(function, "__qualname__", "")
            # The module may be a package above the function's own, and the class one that has it.
            path = f"{getattr(function, '__module__', '')}.{own_name}"
            above = value.__name__ if inspect.ismodule(value) else f"{value.__module__}.{value.__qualname__}"
            for rest in dict.fromkeys([own_name, path.removeprefix(f"{above}.")]):
                if rest and _attribute(value, rest) is function:
                    names.append(f"{name}.{rest}")
    return names


def _attribute(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = getattr(value, part, None)
    return value

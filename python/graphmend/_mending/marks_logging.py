"""What a logger answers: a constant of the trace, as long as the levels that it hangs on are what they are."""

import logging
import operator
from typing import Any

from graphmend._mending.talkers import is_loggings_own
from graphmend._torch.tracing import holds_for, takes_objects

_NOTHING = ""


def is_enabled_for(logger: Any, level: int) -> tuple[bool] | None:
    """`logger.isEnabledFor(level)`"""
    answer = _enabled(logger, level)
    return None if answer == _NOTHING else (answer == "True",)


def effective_level(logger: Any) -> tuple[int] | None:
    """`logger.getEffectiveLevel()`"""
    answer = _effective(logger)
    return None if answer == _NOTHING else (int(answer),)


@takes_objects
def _enabled(logger: object, level: int) -> str:
    if not _is_plain(logger) or type(level) is not int:
        return _NOTHING
    path = _to_logger(logger)
    holds_for(logger, f"{path}disabled")
    holds_for(logger, f"{path}manager.disable")
    _hold_levels(logger, path)
    return str(logger.isEnabledFor(level))  # type: ignore[attr-defined]


@takes_objects
def _effective(logger: object) -> str:
    if not _is_plain(logger):
        return _NOTHING
    _hold_levels(logger, _to_logger(logger))
    return str(logger.getEffectiveLevel())  # type: ignore[attr-defined]


def _is_plain(logger: object) -> bool:
    """Whether what it answers hangs on nothing but levels."""
    if not isinstance(logger, (logging.Logger, logging.LoggerAdapter)):
        return False
    if not is_loggings_own(logger, "isEnabledFor", "getEffectiveLevel"):
        return False
    return not isinstance(logger, logging.LoggerAdapter) or _is_plain(logger.logger)


def _to_logger(logger: object) -> str:
    """How to get from an adapter to its logger, which is to stay the same."""
    given, path = logger, ""
    while isinstance(logger, logging.LoggerAdapter):
        path += "logger."
        logger = logger.logger
        holds_for(given, path + "name")
    return path


def _hold_levels(given: object, path: str) -> None:
    """The levels up to the first that is set, which is the one that counts."""
    logger: Any = operator.attrgetter(path[:-1])(given) if path else given
    while logger is not None:
        holds_for(given, f"{path}level")
        logger = None if logger.level else logger.parent
        path += "parent."

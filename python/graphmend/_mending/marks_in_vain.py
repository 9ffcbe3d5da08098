"""The mark in front of what is evaluated though Python may not come to it: it must run no code of the user's."""

from typing import Any

import torch

from graphmend._mending.marks_asked import decline, is_declined
from graphmend._torch.variables import reads_plainly


def is_plain(site: str, *read: tuple[Any, ...]) -> bool:
    """Whether what is evaluated in vain works on nothing that may run code of the user's.

    Of each there is a value, and the names of the attributes that lead from there to what is meant.
    """
    if not torch.compiler.is_dynamo_compiling():
        # It was, where this was traced; what runs again passes over it.
        return True
    if is_declined(site):
        return False
    for path in read:
        if not _leads_to_plain(path):
            return bool(decline(site, "it works on an object that is neither a tensor nor a plain value"))
    return True


def _leads_to_plain(path: tuple[Any, ...]) -> bool:
    value = path[0]
    for k in range(1, len(path)):
        if isinstance(value, torch.Tensor):
            # What it has by itself; the program may have given it more.
            return _is_plain(value) and hasattr(torch.Tensor, path[k])
        if not reads_plainly(value, path[k]) or not hasattr(value, path[k]):
            return False
        value = getattr(value, path[k])
    return _is_plain(value)


def _is_plain(value: Any) -> bool:
    """Whether operators, attributes and methods of the value run no code of the user's."""
    if isinstance(value, torch.Tensor):
        return type(value) is torch.Tensor or type(value) is torch.nn.Parameter
    if value is None or type(value) in (bool, int, float, complex, str, torch.Size):
        return True
    if isinstance(value, (torch.dtype, torch.device)):
        return True
    if type(value) is tuple or type(value) is list:
        for item in value:  # noqa: SIM110 - Dynamo inlines a loop
            if not _is_plain(item):
                return False
        return True
    if type(value) is dict:
        for item in value.values():  # noqa: SIM110 - Dynamo inlines a loop
            if not _is_plain(item):
                return False
        return True
    return False

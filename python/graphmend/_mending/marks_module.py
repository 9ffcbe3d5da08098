"""What a module holds after the frame has changed it: read from its own tables, which Dynamo keeps up to date.

Dynamo breaks at `module.parameters()` and its like where the module was changed before.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch

TABLES = {
    "parameters": "_parameters",
    "named_parameters": "_parameters",
    "buffers": "_buffers",
    "named_buffers": "_buffers",
}


def of_module(name: str) -> Callable[..., tuple[Any] | None]:
    """What stands for `module.parameters()`, or another of these names."""

    def members(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
        if not isinstance(owner, torch.nn.Module) or args or not all(each == "recurse" for each in kwargs):
            return None
        recurse = kwargs.get("recurse", True)
        if type(recurse) is not bool or not _are_plain(owner):
            return None
        named = _named(owner, recurse, TABLES[name])
        return (named if name.startswith("named") else _alone(named),)

    return members


def _are_plain(module: Any) -> bool:
    """Whether the methods that are substituted, and those that they call, are torch's own, in all that it holds."""
    kind = type(module)
    own = torch.nn.Module
    if kind.parameters is not own.parameters or kind.named_parameters is not own.named_parameters:
        return False
    if kind.buffers is not own.buffers or kind.named_buffers is not own.named_buffers:
        return False
    if kind.named_modules is not own.named_modules or kind._named_members is not own._named_members:
        return False
    for inner in module._modules.values():  # noqa: SIM110 - Dynamo inlines a loop
        if inner is not None and not _are_plain(inner):
            return False
    return True


def _named(module: Any, recurse: bool, table: str) -> Iterator[tuple[str, Any]]:
    """Each once, with its name, step by step as they are asked for."""
    seen: list[Any] = []
    for prefix, inner in _modules("", module, []) if recurse else [("", module)]:
        for name, value in getattr(inner, table).items():
            if value is None or any(value is each for each in seen):
                continue
            seen.append(value)
            yield (f"{prefix}.{name}" if prefix else name), value


def _modules(prefix: str, module: Any, seen: list[Any]) -> Iterator[tuple[str, Any]]:
    if any(module is each for each in seen):
        return
    seen.append(module)
    yield prefix, module
    for name, inner in module._modules.items():
        if inner is not None:
            yield from _modules(f"{prefix}.{name}" if prefix else name, inner, seen)


def _alone(named: Iterator[tuple[str, Any]]) -> Iterator[Any]:
    for _, value in named:
        yield value

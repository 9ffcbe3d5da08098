"""Sorting by tensors: the order is predicted, and compared after the graph.

Keys are compared with `<` alone, by twos, so that any order that Python's algorithm finds among numbers is the stable
one. A NaN has no place in it: then there is no prediction, or a wrong one.
"""

from typing import Any

import torch

from graphmend._mending.marks_value import expect, is_plain_tensor

# So many places are predicted, of so many comparisons.
_MAX_ITEMS = 64


def sorted_list(site: str, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`sorted(items, key=…, reverse=…)`"""
    if called is not sorted or len(args) != 1 or not _are_known(kwargs):
        return None
    return (_sorted(site, list(args[0]), kwargs),)


def sort_in_place(site: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """`items.sort(key=…, reverse=…)`"""
    if type(owner) is not list or args or not _are_known(kwargs):
        return None
    items = list(owner)
    # While the keys are made, Python shows an empty list.
    owner.clear()
    try:
        made = _sorted(site, items, kwargs)
        if owner:
            raise ValueError("list modified during sort")
    except BaseException:
        owner[:] = items
        raise
    owner[:] = made
    return (None,)


def _are_known(kwargs: dict[str, Any]) -> bool:
    return all(name in ("key", "reverse") for name in kwargs) and type(kwargs.get("reverse", False)) is bool


def _sorted(site: str, items: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    key = kwargs.get("key")
    # From here on all is done here, as the user's function is called once for each.
    keys = items if key is None else [key(item) for item in items]
    places = _places(site, keys, kwargs.get("reverse", False)) if _are_comparable(keys) else None
    if places is None:
        order = sorted(range(len(items)), key=lambda i: keys[i], reverse=kwargs.get("reverse", False))
        return [items[i] for i in order]
    return [items[places.index(i)] for i in range(len(items))]


def _are_comparable(keys: list[Any]) -> bool:
    """Whether they compare as their numbers do: tensors of one type, with one number each."""
    if not 2 <= len(keys) <= _MAX_ITEMS:
        return False
    for key in keys:
        if not is_plain_tensor(key) or key.numel() != 1 or key.is_complex():
            return False
        if key.dtype != keys[0].dtype or key.device != keys[0].device:
            return False
    return True


def _places(site: str, keys: list[Any], reverse: bool) -> list[int] | None:
    """The place of each key in the order; None if none is predicted."""
    row = torch.stack([key.detach().reshape(()) for key in keys])
    column = row.unsqueeze(1)
    before = row > column if reverse else row < column
    earlier = torch.ones(len(keys), len(keys), dtype=torch.bool, device=row.device).tril(-1)
    places = (before | ((row == column) & earlier)).sum(1)
    if row.is_floating_point():
        places = torch.where(torch.isnan(row).any(), -1, places)
    predicted: list[int] | None = expect(site, places)
    return None if predicted is None or predicted[0] == -1 else predicted

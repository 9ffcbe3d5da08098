"""Python's own objects, in a form that Dynamo traces: what `marks_substitute` puts in their place."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from graphmend._torch.tracing import assume_constant_result, wanted_is_whole


@assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _is_whole() -> bool:
    return wanted_is_whole()


def is_copied(thing: Any) -> bool:
    """Whether `copied` does what `copy.deepcopy` does: of tensors that have no history, and what holds them."""
    if type(thing) in (list, tuple):
        return all(is_copied(item) for item in thing)
    if type(thing) is dict:
        return all(isinstance(key, (str, int)) for key in thing) and all(is_copied(item) for item in thing.values())
    if isinstance(thing, torch.Tensor):
        # A view would bring all of its memory with it, which shows.
        if type(thing) is not torch.Tensor or thing.requires_grad or not thing.is_contiguous():
            return False
        torch.ops.graphmend.wanted(thing)
        return thing.grad is None and bool(_is_whole())
    return thing is None or isinstance(thing, (str, int, float, bool))


def copied(thing: Any, made: list[tuple[Any, Any]]) -> Any:
    """A copy that shares nothing; what is in it twice is twice the same in the copy. `made` has what was copied."""
    if thing is None or isinstance(thing, (str, int, float, bool)):
        return thing
    for one, other in made:
        if one is thing:
            return other
    new: Any
    if isinstance(thing, torch.Tensor):
        new = thing.detach().clone()
    elif isinstance(thing, dict):
        new = {key: copied(item, made) for key, item in thing.items()}
    elif isinstance(thing, list):
        new = [copied(item, made) for item in thing]
    else:
        new = tuple([copied(item, made) for item in thing])
    made.append((thing, new))
    return new


class Closing:
    """`contextlib.closing`"""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __enter__(self) -> Any:
        return self.thing

    def __exit__(self, *error: object) -> None:
        self.thing.close()


class GroupBy:
    """`itertools.groupby`, step by step as it is there: a group ends when the next one is asked for."""

    def __init__(self, items: Iterable[Any], key: Callable[[Any], Any] | None) -> None:
        self.items = iter(items)
        self.key = key
        self.has_value = False
        self.has_key = False
        self.value: Any = None
        self.value_key: Any = None
        self.group_key: Any = None
        self.group = 0

    def step(self) -> None:
        self.value = next(self.items)
        self.value_key = self.value if self.key is None else self.key(self.value)
        self.has_value = True

    def __iter__(self) -> "GroupBy":
        return self

    def __next__(self) -> tuple[Any, Iterator[Any]]:
        self.group += 1
        while True:
            if self.has_value:
                if not self.has_key:
                    break
                # Not `!=`, which may be something else.
                if not (self.group_key == self.value_key):  # noqa: SIM201
                    break
            self.step()
        self.group_key = self.value_key
        self.has_key = True
        return self.value_key, Group(self, self.group_key)


class Group:
    """The items of one key."""

    def __init__(self, parent: GroupBy, key: Any) -> None:
        self.parent = parent
        self.number = parent.group
        self.key = key

    def __iter__(self) -> "Group":
        return self

    def __next__(self) -> Any:
        parent = self.parent
        if parent.group != self.number:
            raise StopIteration
        if not parent.has_value:
            parent.step()
        if not (self.key == parent.value_key):
            raise StopIteration
        parent.has_value = False
        return parent.value

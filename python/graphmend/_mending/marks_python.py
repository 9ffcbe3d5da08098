"""Python's own objects, in a form that Dynamo traces: what `marks_substitute` puts in their place."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Closing:
    """`contextlib.closing`"""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __enter__(self) -> Any:
        return self.thing

    def __exit__(self, *error: object) -> None:
        self.thing.close()


def _are_equal(one: Any, other: Any) -> bool:
    """As in CPython: what is the same object is equal, whatever it says itself."""
    return one is other or bool(one == other)


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
                if not _are_equal(self.group_key, self.value_key):
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
        if not _are_equal(self.key, parent.value_key):
            raise StopIteration
        parent.has_value = False
        return parent.value

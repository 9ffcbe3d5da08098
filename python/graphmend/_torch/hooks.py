"""Hooks that are put on a module when its graph is made already: behind a break Python would call them.

Dynamo guards that there are none only where it is told to, and then asks every module in every call. In: traces. Out:
one guard, that asks them when somewhere a hook was put.
"""

import contextlib
import functools
from typing import Any

from torch._dynamo.guards import GuardBuilder
from torch.nn.modules import module
from torch.utils.hooks import RemovableHandle

from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import add_guard

_OF_ALL = [each for name, each in vars(module).items() if name.startswith("_global_") and isinstance(each, dict)]


class _Hooks:
    """The hooks of modules that had none when their graph was made."""

    def __init__(self) -> None:
        self.places = [each for each in _OF_ALL if not each]
        # Each hook that is put, wherever, has a number of its own.
        self.put = RemovableHandle.next_id

    def are_absent(self, _: object) -> bool:
        if self.put != RemovableHandle.next_id:
            if any(self.places):
                return False
            self.put = RemovableHandle.next_id
        return True


def hooks_guarded() -> contextlib.AbstractContextManager[None]:
    return replaced((GuardBuilder, "EMPTY_NN_MODULE_HOOKS_DICT", _by_number))


def _by_number(original: Any) -> Any:
    @functools.wraps(original)
    def guard_empty(self: Any, guard: Any) -> None:
        hooks = getattr(self, "_graphmend_hooks", None)
        if hooks is None:
            hooks = self._graphmend_hooks = _Hooks()
            add_guard(self, guard, hooks.are_absent, "no module has got a hook")
        hooks.places.append(self.get(guard))

    return guard_empty

"""Functions that are called through `functools.cache` or `lru_cache`, which Dynamo passes by: it traces them each time.

In: traces. Out: the same, in which the graph breaks where that shows: such a function draws random numbers or changes
something, or what it has made is changed later, which Python would find in the cache.
"""

import contextlib
import weakref
from typing import Any

import torch.fx
from torch._dynamo.variables.base import AttributeMutationNew, ValueMutationNew
from torch._dynamo.variables.functions import WrapperUserFunctionVariable

from graphmend._torch.graphs import changes_in_place, may_draw, storage_of
from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced

_MADE_BY = "graphmend_made_by_cached"
_NEW = (AttributeMutationNew, ValueMutationNew)
# Functions with a cache, of which something was changed in place.
_not_traced: weakref.WeakSet[Any] = weakref.WeakSet()


def caches_asked() -> contextlib.AbstractContextManager[None]:
    return replaced((WrapperUserFunctionVariable, "call_function", _watching))


def changes_cached(graph: torch.fx.GraphModule) -> bool:
    """Whether what a cached function gave is changed in place; from now on that function breaks the graph."""
    changed = {storage_of(each) for node in graph.graph.nodes for each in changes_in_place(node)} - {None}
    found = [node.meta[_MADE_BY] for node in graph.graph.nodes if _MADE_BY in node.meta and storage_of(node) in changed]
    _not_traced.update(found)
    return bool(found)


def _watching(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if not hasattr(self.wrapper_obj, "cache_info"):
            return original(self, tx, args, kwargs)
        if self.wrapper_obj in _not_traced:
            leave_to_python("What a cached function gave is changed", self.wrapper_obj, "Dynamo passes its cache by.")
        nodes, changed = set(tx.output.graph.nodes), _changed(tx)
        result = original(self, tx, args, kwargs)
        made = [node for node in tx.output.graph.nodes if node not in nodes]
        if _changed(tx) != changed or any(may_draw(node) or changes_in_place(node) for node in made):
            leave_to_python("A cached function does more than compute", self.wrapper_obj, "Dynamo passes its cache by.")
        for node in made:
            node.meta[_MADE_BY] = self.wrapper_obj
        return result

    return call_function


def _changed(tx: Any) -> tuple[int, int]:
    """How much the trace has changed of objects that there were before it, and drawn of Python's random numbers."""
    effects = tx.output.side_effects
    known = [each for each in effects.id_to_variable.values() if not isinstance(each.mutation_type, _NEW)]
    attributes = [effects.store_attr_mutations.get(each, ()) for each in known]
    return sum(map(effects.is_modified, known)) + sum(map(len, attributes)), len(tx.output.random_calls)

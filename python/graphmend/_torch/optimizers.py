"""An optimizer's groups of parameters: Dynamo traces each as capturable, which the program does not say.

Where a group is changed in the same graph, by a rate that is set, Dynamo writes all of its own copy back. In: traces.
Out: the same, with what the program has said.
"""

import contextlib
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import ConstantVariable, LazyVariableTracker
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.optimizer import OptimizerVariable

from graphmend._torch.replaced import replaced

_KEY = "capturable"


def groups_kept() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (OptimizerVariable, "_set_capturable", _noted),
        (SideEffects, "codegen_update_mutated", _as_said),
    )


def _noted(original: Any) -> Any:
    def set_capturable(self: Any, tx: Any) -> None:
        original(self, tx)
        if self.source is None:
            return
        built = VariableTracker.build(tx, self.value.param_groups, AttrSource(self.source, "param_groups"))
        groups = LazyVariableTracker.realize_all(built).items
        noted = vars(tx.output).setdefault("_graphmend_groups", [])
        for group, traced in zip(self.value.param_groups, groups, strict=True):
            key = next(each for each in traced.items if each.vt.is_python_constant() and _is_key(each.vt))
            # Told by what it is from what the program sets.
            traced.items[key] = ConstantVariable(True)
            noted.append((group, traced, key, traced.items[key]))

    return set_capturable


def _is_key(variable: Any) -> bool:
    return bool(variable.as_python_constant() == _KEY)


def _as_said(original: Any) -> Any:
    def codegen_update_mutated(self: Any, *more: Any, **options: Any) -> Any:
        for group, traced, key, made in getattr(self.output_graph_weakref(), "_graphmend_groups", ()):
            if traced.items.get(key) is made:
                if _KEY in group:
                    traced.items[key] = ConstantVariable.create(group[_KEY])
                else:
                    del traced.items[key]
        return original(self, *more, **options)

    return codegen_update_mutated

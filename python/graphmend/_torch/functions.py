"""Functions that Dynamo comes by through an object that was made in the trace: methods, of a context manager say.

It does not know where it has them from, takes what they close over and their defaults for what they are at the moment,
and forgets what they change of it. In: traces. Out: the same, where both are guarded, read and written.
"""

import contextlib
from types import FunctionType
from typing import Any

from torch._dynamo.source import GlobalSource
from torch._dynamo.variables import UserFunctionVariable

from graphmend._torch.replaced import replaced

# Of these, no default is anything else in another call.
_CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type, FunctionType)


def functions_found() -> contextlib.AbstractContextManager[None]:
    return replaced((UserFunctionVariable, "bind_args", _found))


def _found(original: Any) -> Any:
    def bind_args(self: Any, parent: Any, *more: Any, **options: Any) -> Any:
        if self.get_source() is None and _remembers(self.fn):
            source = GlobalSource(parent.output.install_global_by_id("__graphmend_function", self.fn))
            self.get_source = lambda: source
        return original(self, parent, *more, **options)

    return bind_args


def _remembers(function: Any) -> bool:
    """Whether something may outlive a call of the function, by which another call of it does something else."""
    if not isinstance(function, FunctionType) or str(function.__module__).startswith("torch."):
        return False
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return bool(function.__closure__) or not all(isinstance(each, _CONSTANTS) for each in defaults)

"""Guards of the frame that is being compiled. Relies on what Dynamo calls its guards."""

import re
import sys

import torch

# How Dynamo names what it reaches through a module of this package: the module, and what it has of it. That may be the
# program's as well (`torch`, `math`).
_OF_MODULE = re.compile(r"G\['__import_(graphmend_dot_\w+)'\](?:\.(\w+))?")
# The marks, and the operators that they call.
_OF_MARKS = re.compile(r".*\['__graphmend__'\].*|G\['__import_graphmend_dot_\w+'\]\.torch\.ops\.graphmend[.\w]*")
# Guards on functions, classes and modules themselves.
_ON_CODE = frozenset(["BUILTIN_MATCH", "CLASS_MATCH", "CLOSURE_MATCH", "FUNCTION_MATCH", "MODULE_MATCH"])


def drop_own_guards() -> None:
    """Forgets the guards on the code of this package: nobody changes it, and they would be checked in every call."""
    context = torch._guards.TracingContext.try_get()
    if context is None:
        return
    guards = context.guards_context.dynamo_guards
    for guard in list(guards):
        if guard.create_fn_name() in _ON_CODE and _is_own(guard.name):
            guards.inner.discard(guard)


def _is_own(name: str) -> bool:
    of_module = _OF_MODULE.fullmatch(name)
    if of_module is None:
        return _OF_MARKS.fullmatch(name) is not None
    module, attribute = of_module.groups()
    if attribute is None:
        return True
    thing = getattr(sys.modules.get(module.replace("_dot_", ".")), attribute, None)
    return (getattr(thing, "__module__", None) or "").partition(".")[0] == "graphmend"

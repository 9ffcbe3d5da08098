"""Guards of the frame that is being compiled. Relies on what Dynamo calls its guards."""

import re

import torch

# How Dynamo names what it reaches through modules of this package and through the marks. Through the former it may
# also reach what is the program's as well: torch.
_OWN = re.compile(r"^G\['__import_graphmend_dot_|\['__graphmend__'\]")
_NOT_OWN = re.compile(r"\.torch\b(?!\.ops\.graphmend)")
# Guards on functions, classes and modules themselves.
_ON_CODE = frozenset(["BUILTIN_MATCH", "CLASS_MATCH", "CLOSURE_MATCH", "FUNCTION_MATCH", "MODULE_MATCH"])


def drop_own_guards() -> None:
    """Forgets the guards on the code of this package: nobody changes it, and they would be checked in every call."""
    context = torch._guards.TracingContext.try_get()
    if context is None:
        return
    guards = context.guards_context.dynamo_guards
    for guard in list(guards):
        if guard.create_fn_name() in _ON_CODE and _OWN.search(guard.name) and not _NOT_OWN.search(guard.name):
            guards.inner.discard(guard)

"""What is made, and looked at, on the level of Dynamo's own variables while it traces."""

from typing import Any

from torch._dynamo.variables.misc import ExceptionVariable

from graphmend._torch.tracing import on_variables


@on_variables
def assertion_error(translator: Any, *args: Any) -> Any:
    """`AssertionError(*args)`. Dynamo's own rule for it wants text."""
    return ExceptionVariable(AssertionError, list(args), {})

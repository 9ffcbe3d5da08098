"""Numbers read from tensors are to Inductor the doubles that they are in Python.

For the CPU, Inductor declares them as floats of 32 bits, which has a number that is returned rounded in between; and
they do not count as fractions where it clamps whole numbers.
"""

import contextlib
from typing import Any

import torch
from torch.utils._sympy.symbol import SymT, symbol_is_type

from graphmend._torch.replaced import replaced

_FLOAT, _DOUBLE = "const float", "const double"

# As Inductor reads a float of 32 bits.
_READING = """template <> inline double parse_arg<double>(PyObject* args, size_t n) {{
    auto result = PyFloat_AsDouble(PyTuple_GET_ITEM(args, n));
    if(result == -1.0 && PyErr_Occurred()) [[unlikely]]
        throw std::runtime_error("expected float arg");
    return result;
}}

"""


def floats_as_doubles(graph: torch.fx.GraphModule) -> contextlib.AbstractContextManager[Any]:
    """Inside, Inductor compiles a graph with the numbers it reads from tensors as doubles."""
    if not any(map(_is_read_float, graph.graph.nodes)):
        return contextlib.nullcontext()
    from torch._inductor import config
    from torch._inductor.codecache import CppPythonBindingsCodeCache
    from torch._inductor.codegen.common import KernelArgs

    stack = contextlib.ExitStack()
    stack.enter_context(replaced((KernelArgs, "cpp_argdefs", _declaring)))
    stack.enter_context(replaced((torch.types, "_Number", lambda types: (*types, torch.SymFloat))))
    stack.enter_context(replaced((CppPythonBindingsCodeCache, "suffix_template", _with_reading)))
    # What Inductor keeps on disk of the same graph has them otherwise; this is a part of the key and of nothing else.
    metadata = {**config.aot_inductor.metadata, "floats": "doubles, fractions"}
    stack.enter_context(config.patch({"aot_inductor.metadata": metadata}))
    return stack


def _is_read_float(node: torch.fx.Node) -> bool:
    value = node.meta.get("example_value")
    symbols = value.node.expr.free_symbols if isinstance(value, torch.SymFloat) else ()
    return any(symbol_is_type(symbol, SymT.UNBACKED_FLOAT) for symbol in symbols)


def _declaring(original: Any) -> Any:
    def cpp_argdefs(*args: Any, **kwargs: Any) -> tuple[list[str], list[str], list[str]]:
        definitions, given, types = original(*args, **kwargs)
        wider = [
            each.replace(_FLOAT, _DOUBLE) if kind == _FLOAT else each
            for each, kind in zip(definitions, types, strict=True)
        ]
        return wider, given, [_DOUBLE if kind == _FLOAT else kind for kind in types]

    return cpp_argdefs


def _with_reading(template: str) -> str:
    return template.replace("{extra_parse_arg}", _READING + "{extra_parse_arg}")

"""Finds what breaks the graphs of `torch.compile`, and mends it, without changing what the program does.

>>> import graphmend
>>> model = graphmend.compile(model)       # doctest: +SKIP
>>> model(x); print(model.report)          # doctest: +SKIP

Underneath is a reader of Python source that does exactly as CPython does, without losing a byte, and without stopping
at the first error. It needs no torch:

>>> tree = graphmend.parse("x = f(1)\\n")
>>> tree.ok
True
>>> [node.kind for node in tree.walk()]
['Module', 'Assign', 'Name', 'Call', 'Name', 'Number']

Nothing is loaded until it is used: importing this package is cheap and has no side effects.

(PYTEST_DONT_REWRITE: pytest loads a plugin of ours, and finds no assertions to rewrite here.)
"""

# What type checkers understand, without the price of importing `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from graphmend._checking.assertions import GraphBreakError, assert_no_graph_breaks
    from graphmend._checking.verify_calls import CopyError, VerificationError, verify
    from graphmend._config import SettingsError
    from graphmend._mending.compile import compile, disable, effect  # noqa: A004 - the name of what it stands in for
    from graphmend._reporting.explain import Explanation, explain
    from graphmend._reporting.report import Break, Report
    from graphmend._tree import Node, SyntaxProblem, SyntaxProblems, Token, Tokens, Tree, parse

    __version__: str

__all__ = [
    "Break",
    "CopyError",
    "Explanation",
    "GraphBreakError",
    "Node",
    "Report",
    "SettingsError",
    "SyntaxProblem",
    "SyntaxProblems",
    "Token",
    "Tokens",
    "Tree",
    "VerificationError",
    "assert_no_graph_breaks",
    "compile",
    "disable",
    "effect",
    "explain",
    "parse",
    "verify",
]


# Hidden from type checkers, which would take every misspelt name for an object.
if not TYPE_CHECKING:
    # Where names come from, but for those of `_tree`.
    _MODULES = {
        "Break": "_reporting.report",
        "CopyError": "_checking.verify_calls",
        "Explanation": "_reporting.explain",
        "GraphBreakError": "_checking.assertions",
        "Report": "_reporting.report",
        "SettingsError": "_config",
        "VerificationError": "_checking.verify_calls",
        "assert_no_graph_breaks": "_checking.assertions",
        "compile": "_mending.compile",
        "disable": "_mending.compile",
        "effect": "_mending.compile",
        "explain": "_reporting.explain",
        "verify": "_checking.verify_calls",
    }

    def __getattr__(name: str) -> object:
        if name in __all__:
            from importlib import import_module

            value: object = getattr(import_module(f"graphmend.{_MODULES.get(name, '_tree')}"), name)
        elif name == "__version__":
            from graphmend import _native

            value = _native.library().release
        else:
            raise AttributeError(f"module 'graphmend' has no attribute {name!r}")
        # From now on it is found without this function.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])

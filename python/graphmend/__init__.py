"""Reads Python source exactly as CPython does, without losing a byte, and without stopping at the first error.

>>> import graphmend
>>> tree = graphmend.parse("x = f(1)\\n")
>>> tree.ok
True
>>> [node.kind for node in tree.walk()]
['Module', 'Assign', 'Name', 'Call', 'Name', 'Number']

Nothing is loaded until it is used: importing this package is cheap and has no side effects.
"""

# What type checkers understand, without the price of importing `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from graphmend._tree import Node, SyntaxProblem, SyntaxProblems, Token, Tokens, Tree, parse

    __version__: str

__all__ = ["Node", "SyntaxProblem", "SyntaxProblems", "Token", "Tokens", "Tree", "parse"]


# Hidden from type checkers, which would take every misspelt name for an object.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in __all__:
            from graphmend import _tree

            value: object = getattr(_tree, name)
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

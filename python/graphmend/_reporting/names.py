"""Names in a tree: what an expression reads, what a function binds, and what is known above it.

All of it is on the careful side: what is not sure to be free counts as bound, what may change counts as changed.
"""

import builtins
import keyword
from collections.abc import Iterator

from graphmend._reporting.spot import Spot, defined_name, enclosing
from graphmend._tree import Node

# The kinds that bind their first child.
_TARGET_FIRST = ("AugAssign", "AnnAssign", "For", "NamedExpr", "Comprehension")
# What they give hangs on the function that calls them.
_OF_THE_PLACE = {"super", "locals", "vars", "dir", "eval", "exec", "__class__"}
_SEQUENCES = ("Tuple", "List", "Starred")


def parameters(function: Node) -> list[Node]:
    """Of a function or a lambda."""
    return [
        each
        for child in function.children
        if child.kind == "Parameters"
        for each in child.children
        if each.kind == "Parameter"
    ]


def parameter_names(function: Node) -> list[str]:
    return [each.first_token.text for each in parameters(function)]


def functions_around(node: Node) -> list[Node]:
    """From the inside to the outside."""
    found = []
    parent = node.parent
    while parent is not None:
        if parent.kind in ("FunctionDef", "Lambda"):
            found.append(parent)
        parent = parent.parent
    return found


def _targets(node: Node) -> Iterator[Node]:
    """All that the statement or expression itself assigns to: names, attributes, items."""
    if node.kind == "Assign":
        waiting = node.children[:-1]
    elif node.kind == "WithItem":
        waiting = node.children[1:]
    elif node.kind == "Delete":
        waiting = node.children[:]
    else:
        waiting = node.children[:1] if node.kind in _TARGET_FIRST else []
    while waiting:
        target = waiting.pop()
        if target.kind in _SEQUENCES:
            waiting += target.children
        else:
            yield target


def root_name(node: Node) -> str:
    """`a` of `a.b[c].d` and of `a.b(c).d`."""
    while node.kind in ("Attribute", "Subscript", "Call"):
        node = node.children[0]
    return node.text if node.kind == "Name" else ""


def bindings(scope: Node, name: str) -> list[Node]:
    """The nodes that give the name a value in the scope or inside of it."""
    found = []
    for node in scope.walk():
        if node.kind in ("FunctionDef", "ClassDef"):
            names = [defined_name(node)] if node != scope else []
        elif node.kind == "Alias":
            names = [(node.last_token if " as " in node.text else node.first_token).text]
        elif node.kind in ("Identifier", "Parameter"):
            names = [node.first_token.text]
        else:
            names = [target.text for target in _targets(node) if target.kind == "Name"]
        found += [node] * (name in names)
    return found


def is_written(scope: Node, name: str) -> bool:
    """Whether an attribute or an item of what the name stands for is set in the scope."""
    return any(
        root_name(target) == name and target.kind != "Name" for node in scope.walk() for target in _targets(node)
    )


def free_names(node: Node) -> set[str]:
    """What an expression reads from outside of itself."""
    names = {each.text for each in node.walk() if each.kind == "Name"}
    inside = {each.first_token.text for each in node.walk() if each.kind == "Parameter"}
    inside |= {
        target.text for each in node.walk() if each.kind in ("Comprehension", "NamedExpr") for target in _targets(each)
    }
    return names - inside


def top_of(node: Node) -> Node:
    """The statement of the module that it is part of."""
    while node.parent is not None and node.parent.kind != "Module":
        node = node.parent
    return node


def start_of(definition: Node) -> int:
    """Where it starts with its marks."""
    return min([definition.start, *(each.start for each in definition.children if each.kind == "Decorator")])


def is_known_above(spot: Spot, node: Node) -> bool:
    """Whether the expression can be computed above the function, where it gives the same as inside of it."""
    around = functions_around(node)
    if not around or any(each.kind in ("Await", "Yield", "YieldFrom", "NamedExpr") for each in node.walk()):
        return False
    return all(is_global(spot, around[-1], name) for name in free_names(node))


def is_global(spot: Spot, function: Node, name: str) -> bool:
    """Whether the function reads a name of the module by it that has one value, from before the function on."""
    given = [each for each in bindings(spot.tree.root, name) if not _is_elsewhere(each, function)]
    if not given:
        return hasattr(builtins, name) and name not in _OF_THE_PLACE
    is_one = len(given) == 1 and given[0].end <= start_of(top_of(function)) and not functions_around(given[0])
    return is_one and not is_written(spot.tree.root, name)


def _is_elsewhere(binding: Node, function: Node) -> bool:
    """Whether it binds a name of another function, or of a class, and not one that this function sees."""
    if binding.kind == "Identifier":
        return False
    inner = functions_around(binding)
    if inner:
        return function not in inner
    return _is_in_class(binding)


def new_name(spot: Spot, name: str) -> str:
    """The name, or one like it that the file does not use; what a class alone has is not in the way."""
    used = {each.text for each in spot.every("Name")}
    while name in used or not name.isidentifier() or keyword.iskeyword(name) or _is_bound(spot, name):
        name += "_"
    return name


def _is_bound(spot: Spot, name: str) -> bool:
    return any(functions_around(each) or not _is_in_class(each) for each in bindings(spot.tree.root, name))


def _is_in_class(node: Node) -> bool:
    return enclosing(node, "ClassDef") is not None

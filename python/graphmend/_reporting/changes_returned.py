"""Changes of what leaves the function: it returns what the value is made of, and its callers make the value.

In and out: as in `changes`.
"""

from graphmend._reporting.changes_outside import compiled_function
from graphmend._reporting.edits import Change, along, changed, replace
from graphmend._reporting.names import bindings, free_names, is_global
from graphmend._reporting.signatures import call_of, called
from graphmend._reporting.spot import Spot, enclosing, positional, statement_of
from graphmend._tree import Node

_PLAIN = ("Name", "Attribute", "Call", "BinOp", "Subscript", "UnaryOp")


def made_by_caller(spot: Spot, node: Node) -> Change | None:
    """`return f(a)` becomes `return a`, and callers call `f` on what they get."""
    function = compiled_function(spot, node)
    values = positional(node)
    place = _returned(node)
    if function is None or place is None or len(node.children) != 2 or len(values) != 1 or values[0].kind not in _PLAIN:
        return None
    if not all(is_global(spot, function, name) for name in free_names(node.children[0])):
        return None
    change = changed(spot.tree, [replace(node, values[0].text)])
    return along(change, f"where {called(function)}", f"{node.children[0].text}({call_of(function)}{place})")


def function_by_caller(spot: Spot, node: Node) -> Change | None:
    """`return lambda a: a + b` becomes `return b`, and callers write the function."""
    function = compiled_function(spot, node)
    if function is None:
        return None
    own = sorted(name for name in free_names(node) if bindings(function, name))
    statement = statement_of(node)
    place = _returned(node)
    if len(own) != 1 or own[0] == "self" or any(len(bindings(function, name)) > 1 for name in own):
        return None
    made = node
    if place is None and statement.kind == "Assign" and statement.children[1:] == [node]:
        place = _returned_by_name(function, statement.children[0])
        made = statement
    if place is None:
        return None
    change = changed(spot.tree, [replace(node, own[0])])
    return along(change, f"where {called(function)}", f"{own[0]} = {call_of(function)}{place}", made.text)


def _returned(node: Node) -> str | None:
    """Where it is in what the function returns: ``, `[1]`; nothing when it is not there."""
    parent = node.parent
    if parent is not None and parent.kind == "Return":
        return ""
    if parent is None or parent.kind != "Tuple" or parent.parent is None or parent.parent.kind != "Return":
        return None
    return f"[{parent.children.index(node)}]" if all(each.kind != "Starred" for each in parent.children) else None


def _returned_by_name(function: Node, target: Node) -> str | None:
    """Where the value of a name is in what is returned, when it is used there alone."""
    uses = [each for each in function.walk() if each.kind == "Name" and each.text == target.text and each != target]
    if target.kind != "Name" or len(uses) != 1 or enclosing(uses[0], "FunctionDef") != function:
        return None
    return _returned(uses[0])

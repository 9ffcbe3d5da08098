"""Changes of where a value comes from: an argument that only the user knows, a name's own value, what a view shows.

In and out: as in `changes`.
"""

import re

from graphmend._reporting.changes import Changer, bracketed
from graphmend._reporting.edits import (
    Change,
    Edit,
    changed,
    delete_argument,
    delete_statement,
    indent_of,
    insert_lines,
    replace,
)
from graphmend._reporting.names import bindings, free_names
from graphmend._reporting.spot import (
    Spot,
    enclosing,
    is_call,
    is_method_call,
    keyword,
    last_name,
    positional,
    receiver,
    statement_of,
)
from graphmend._tree import Node

_LITERALS = ("Number", "String", "Strings", "Constant")


def fill_argument(at: int) -> Changer:
    """The argument at this place becomes `...`."""

    def change(spot: Spot, node: Node) -> Change | None:
        values = positional(node)
        if len(values) <= at or any(value.kind == "Starred" for value in values):
            return None
        return changed(spot.tree, [replace(values[at], "...")])

    return change


def fill_unknown(spot: Spot, node: Node) -> Change | None:
    """The only argument that is no plain number, name or flag becomes `...`."""
    values = [each.children[0] if each.kind == "Keyword" else each for each in node.children[1:]]
    unknown = [value for value in values if value.kind not in _LITERALS]
    if len(unknown) != 1 or unknown[0].kind == "Starred":
        return None
    return changed(spot.tree, [replace(unknown[0], "...")])


def fill_object(spot: Spot, node: Node) -> Change | None:
    """The only argument that Dynamo says is an object becomes `...`."""
    told = re.search(r"call_function args: (.*)", spot.message)
    kinds = re.findall(r"([A-Za-z]+)\(((?:[^()]|\([^()]*\))*)\)", told[1]) if told else []
    values = positional(node)
    if len(kinds) != len(values) or len(values) != len(node.children) - 1:
        return None
    objects = [value for value, kind in zip(values, kinds, strict=True) if kind[0].startswith("UserDefinedObject")]
    return changed(spot.tree, [replace(objects[0], "...")]) if len(objects) == 1 else None


def _value_of(function: Node | None, name: Node) -> Node | None:
    """The assignment that gives the name its only value in the function, where that is the same at any later place."""
    made = bindings(function, name.text) if function and name.kind == "Name" else []
    if function is None or len(made) != 1 or made[0].kind != "Assign" or len(made[0].children) != 2:
        return None
    is_fixed = all(len(bindings(function, each)) < 2 for each in free_names(made[0].children[1]))
    return made[0] if is_fixed and made[0].children[0].text == name.text else None


def _uses(function: Node, target: Node) -> list[Node]:
    return [each for each in function.walk() if each.kind == "Name" and each.text == target.text and each != target]


def pointer_in_place(spot: Spot, node: Node) -> Change | None:
    """`p = a.data_ptr()`, `f(p)` becomes `f(a.data_ptr())`."""
    function = enclosing(node, "FunctionDef")
    there = keyword(node, "ptr")
    values = [there.children[0]] if there else positional(node)[:1]
    made = _value_of(function, values[0]) if values else None
    if function is None or made is None or not is_method_call(made.children[1], "data_ptr"):
        return None
    edits: list[Edit | None] = [replace(values[0], made.children[1].text)]
    if len(_uses(function, made.children[0])) == 1:
        edits.append(delete_statement(made))
    return changed(spot.tree, [edit for edit in edits if edit])


def context_in_place(spot: Spot, node: Node) -> Change | None:
    """`c = f(a)`, `with c:` becomes `with f(a):`; a context that nothing enters goes."""
    statement = statement_of(node)
    function = enclosing(node, "FunctionDef")
    edit = delete_statement(statement)
    if function is None or edit is None:
        return None
    if statement.children == [node]:
        return changed(spot.tree, [edit]) if statement.kind == "ExprStatement" else None
    made = _value_of(function, statement.children[0]) if statement.children[1:] == [node] else None
    uses = _uses(function, made.children[0]) if made else []
    if made is None or any(use.parent is None or use.parent.kind != "WithItem" for use in uses):
        return None
    if len(uses) > 1 or any(use.parent is not None and use.parent.children[0] != use for use in uses):
        return None
    return changed(spot.tree, [edit, *(replace(use, node.text) for use in uses)])


def own_limit(spot: Spot, node: Node) -> Change | None:
    """A deque without `maxlen`, and where it is the only one that adds to it, the oldest goes by hand."""
    held = receiver(node.children[0])
    makers = [
        each.children[-1]
        for each in spot.every("Assign", "AnnAssign")
        if each.children[0].text == held and is_call(each.children[-1], "deque")
    ]
    adds = [
        each
        for each in spot.every("Call")
        if is_method_call(each, "append", "appendleft", "extend", "extendleft", "insert", "rotate")
        and receiver(each.children[0]) == held
    ]
    limit = keyword(makers[0], "maxlen") if len(makers) == 1 else None
    statement = statement_of(node)
    indent = indent_of(statement)
    if limit is None or adds != [node] or statement.children != [node] or indent is None or positional(makers[0]):
        return None
    length = limit.children[0]
    if length.kind != "Number" and not (length.kind == "Name" and length.text.isupper()):
        return None
    oldest = {"append": "popleft", "appendleft": "pop"}.get(last_name(node.children[0]))
    end = spot.tree.text.find("\n", statement.end) + 1
    if oldest is None or not end:
        return None
    lines = (f"{indent}if len({held}) > {length.text}:", f"{indent}    {held}.{oldest}()")
    return changed(spot.tree, [delete_argument(makers[0], limit), insert_lines(end, *lines)])


def shown_dict(spot: Spot) -> Node | None:
    """Finds the name of a mapping proxy on the line."""
    return spot.only(lambda node: node.kind == "Name" and _proxied(spot, node.text) is not None)


def _proxied(spot: Spot, name: str) -> str | None:
    """`a` of `name = types.MappingProxyType(a)`, in the module."""
    made = bindings(spot.tree.root, name)
    value = made[0].children[-1] if len(made) == 1 and made[0].kind == "Assign" else None
    is_proxy = value is not None and is_call(value, "MappingProxyType") and len(value.children) == 2
    shown = value.children[1] if value is not None and is_proxy else None
    is_one = shown is not None and shown.kind == "Name" and len(bindings(spot.tree.root, shown.text)) == 1
    return shown.text if shown is not None and is_one else None


def dict_itself(spot: Spot, node: Node) -> Change | None:
    """`proxy[a]` becomes `own[a]`, for the dict `own` that the proxy shows."""
    own = _proxied(spot, node.text)
    return changed(spot.tree, [replace(node, own)]) if own else None


def by_name(spot: Spot, node: Node) -> Change | None:
    """`A.__dict__["b"]` becomes `A.b`, where `A.c = d` comes later in the function."""
    function = enclosing(node, "FunctionDef")
    target = node.children[0]
    if function is None or target.kind != "Attribute":
        return None
    reads = [each for each in function.walk() if _is_read_of_dict(each, receiver(target))]
    parent = reads[0].parent if len(reads) == 1 else None
    key = parent.children[1] if parent is not None and parent.kind == "Subscript" else None
    name = re.fullmatch(r"[\"'](\w+)[\"']", key.text) if key is not None else None
    if parent is None or name is None or not name[1].isidentifier():
        return None
    return changed(spot.tree, [replace(parent, f"{receiver(target)}.{name[1]}")])


def _is_read_of_dict(node: Node, owner: str) -> bool:
    if node.kind == "Attribute":
        return last_name(node) == "__dict__" and receiver(node) == owner
    return is_call(node, "vars") and node.text == f"vars({owner})"


def by_grid(spot: Spot, node: Node) -> Change | None:
    """`kernel.run(a, grid=b, warmup=False)` becomes `kernel[b](a)`."""
    grid, warmup = keyword(node, "grid"), keyword(node, "warmup")
    is_run = is_method_call(node, "run") and grid is not None
    if grid is None or not is_run or (warmup and warmup.children[0].text != "False"):
        return None
    texts = [each.text for each in node.children[1:] if each not in (grid, warmup)]
    kernel = bracketed(node.children[0].children[0])
    return changed(spot.tree, [replace(node, f"{kernel}[{grid.children[0].text}]({', '.join(texts)})")])

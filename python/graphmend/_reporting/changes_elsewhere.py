"""Changes of other lines of the same file than the one that broke: a mark, a method, a call that came before.

In and out: as in `changes`. What is changed must be the only thing of its name in the file.
"""

import re

from graphmend._reporting.changes import added, bracketed
from graphmend._reporting.edits import Change, Edit, add_argument, changed, delete_lines, delete_statement, replace
from graphmend._reporting.spot import (
    Spot,
    defined_name,
    enclosing,
    is_call,
    is_text,
    keyword,
    last_name,
    positional,
    qualified_name,
)
from graphmend._tree import Node


def remove_disable(spot: Spot, node: Node) -> Change | None:
    """`@torch.compiler.disable` goes from the function that is called, or `f = torch.compiler.disable(g)` its call."""
    name = last_name(node.children[0])
    # The function as Dynamo names it; another one may be spelled the same.
    meant = re.search(r"<function (.+?) at ", spot.message)
    marks = [
        mark
        for function in spot.every("FunctionDef")
        if defined_name(function) == name and (meant is None or qualified_name(function) == meant[1])
        for mark in function.children
        if mark.kind == "Decorator" and _is_disable(mark.children[0])
    ]
    makers = [
        statement.children[1]
        for statement in spot.every("Assign")
        if len(statement.children) == 2
        and last_name(statement.children[0]) == name
        and is_call(statement.children[1], "disable")
        and positional(statement.children[1])
        and (meant is None or last_name(positional(statement.children[1])[0]) == meant[1].rpartition(".")[2])
    ]
    if len(marks) + len(makers) != 1:
        return None
    edit = delete_lines(marks[0]) if marks else replace(makers[0], bracketed(positional(makers[0])[0]))
    return changed(spot.tree, [edit]) if edit else None


def _is_disable(mark: Node) -> bool:
    return last_name(mark.children[0] if mark.kind == "Call" else mark) == "disable"


def listed(spot: Spot, node: Node) -> Change | None:
    """A function that makes a list of what the generator yields."""
    name = defined_name(node)
    parent = node.parent
    if parent is None or parent.kind != "Module":
        return None
    return added(
        f"below `{name}`, to be compiled in its place",
        f"def list_of_{name}(*args, **kwargs):",
        f"    return list({name}(*args, **kwargs))",
    )


def original_parameters(spot: Spot, node: Node) -> Change | None:
    """`use_orig_params=True` where the file wraps its model."""
    wraps = [call for call in spot.every("Call") if is_call(call, "FSDP", "FullyShardedDataParallel")]
    if len(wraps) != 1:
        return None
    there = keyword(wraps[0], "use_orig_params")
    text = "use_orig_params=True"
    return changed(spot.tree, [replace(there, text) if there else add_argument(wraps[0], text)])


def jagged(spot: Spot, node: Node) -> Change | None:
    """`layout=torch.jagged` where the file makes its nested tensor."""
    makers = [call for call in spot.every("Call") if is_call(call, "nested_tensor", "as_nested_tensor")]
    if len(makers) != 1 or not spot.imports("torch"):
        return None
    there = keyword(makers[0], "layout")
    text = "layout=torch.jagged"
    return changed(spot.tree, [replace(there, text) if there else add_argument(makers[0], text)])


def retain_first_graph(spot: Spot, node: Node) -> Change | None:
    """`retain_graph=True` in the one call of `autograd.grad` that comes before this one in the function."""
    function = enclosing(node, "FunctionDef")
    if function is None:
        return None
    earlier = [call for call in function.walk() if is_call(call, "grad") and call.end <= node.start]
    if len(earlier) != 1 or keyword(earlier[0], "retain_graph") is not None:
        return None
    return changed(spot.tree, [add_argument(earlier[0], "retain_graph=True")])


def detach_input(spot: Spot, node: Node) -> Change | None:
    """`h = h.detach()` first of all, for the parameters that Dynamo names, if no gradient is asked for by them."""
    names = sorted(set(re.findall(r"L\['(\w+)'\]", spot.message)))
    function = enclosing(node, "FunctionDef")
    asked = positional(node)[1:2]
    if function is None or spot.is_inlined or not names or not asked:
        return None
    parameters = [each for child in function.children if child.kind == "Parameters" for each in child.children]
    inputs = {each.text for each in asked[0].walk() if each.kind == "Name"}
    if inputs & set(names) or not set(names) <= {each.first_token.text for each in parameters}:
        return None
    body = function.children[-1].children
    # A text at the start is the function's description.
    first = body[1] if len(body) > 1 and is_text(body[0]) else body[0]
    line = spot.tree.text.rfind("\n", 0, first.start) + 1
    indent = spot.tree.text[line : first.start]
    if indent.strip():
        return None
    return changed(spot.tree, [(line, line, "".join(f"{indent}{name} = {name}.detach()\n" for name in names))])


def _method(spot: Spot, call: Node, name: str) -> Node | None:
    """The method of this name of the class `A` of `A.f(...)`, if there is one such class in the file."""
    callee = call.children[0]
    if callee.kind != "Attribute" or callee.children[0].kind != "Name":
        return None
    classes = [each for each in spot.every("ClassDef") if defined_name(each) == callee.children[0].text]
    methods = [
        each
        for one in classes
        for each in one.children[-1].children
        if each.kind == "FunctionDef" and defined_name(each) == name
    ]
    return methods[0] if len(classes) == 1 and len(methods) == 1 else None


def remove_jvp(spot: Spot, node: Node) -> Change | None:
    """The method `jvp` goes, with its marks."""
    method = _method(spot, node, "jvp")
    edits: list[Edit | None] = []
    if method is not None:
        edits = [delete_lines(each) for each in method.children if each.kind == "Decorator"]
        edits.append(delete_statement(method))
    return changed(spot.tree, [edit for edit in edits if edit]) if edits and all(edits) else None


def name_backward(spot: Spot, node: Node) -> Change | None:
    """`def vjp` becomes `def backward`."""
    method = _method(spot, node, "vjp")
    if method is None:
        return None
    name = method.tokens[[token.text for token in method.tokens].index("def") + 1]
    return changed(spot.tree, [(name.start, name.end, "backward")])


def mark_static(spot: Spot, node: Node) -> Change | None:
    """`@staticmethod` above the method that is called on its class."""
    method = _method(spot, node, last_name(node.children[0]))
    if method is None or any(each.kind == "Decorator" for each in method.children):
        return None
    line = spot.tree.text.rfind("\n", 0, method.start) + 1
    indent = spot.tree.text[line : method.start]
    return changed(spot.tree, [(line, line, f"{indent}@staticmethod\n")]) if not indent.strip() else None


def register_shape(spot: Spot, node: Node) -> Change | None:
    """A rule for the shape of `torch.ops.space.name(...)`."""
    parts = node.children[0].text.split(".")
    if parts[:2] != ["torch", "ops"] or len(parts) not in (4, 5):
        return None
    return added(
        "after the operator is defined",
        f'@torch.library.register_fake("{parts[2]}::{parts[3]}")',
        f"def shape_of_{parts[3]}(*args, **kwargs):",
        "    return torch.empty(...)",
    )


def allow_slot(spot: Spot, node: Node) -> Change | None:
    """`torch._dynamo.allow_c_slot(Class)`, for the class that Dynamo names, as the file spells it."""
    named = re.search(r"(\w+) defines a C ", spot.message)
    if named is None:
        return None
    spelled = {each.text for each in spot.every("Name", "Attribute") if last_name(each) == named[1]}
    if len(spelled) != 1:
        return None
    return added("before the model is compiled", f"torch._dynamo.allow_c_slot({spelled.pop()})")


def raise_limit(spot: Spot, node: Node) -> Change | None:
    """A higher limit of the kind that was met."""
    named = re.search(r"Limit type: (\w+)", spot.message)
    return added("before the model is compiled", f"torch._dynamo.config.{named[1]} = ...") if named else None

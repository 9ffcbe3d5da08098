"""Changes of classes, and of what is read from them or made of them.

In and out: as in `changes`. A class is looked up in the same file; there must be only one that fits.
"""

import re
import textwrap

from graphmend._reporting.changes import bracketed
from graphmend._reporting.edits import (
    Change,
    Edit,
    changed,
    delete_lines,
    delete_statement,
    indent_of,
    insert_lines,
    line_start,
    replace,
)
from graphmend._reporting.names import bindings, free_names, functions_around, is_written, root_name, start_of, top_of
from graphmend._reporting.spot import (
    Spot,
    defined_name,
    enclosing,
    is_call,
    last_name,
    positional,
    receiver,
    statement_of,
)
from graphmend._tree import Node

_PLAIN_VALUES = ("Number", "String", "Constant", "UnaryOp", "Tuple")


def members(owner: Node, name: str) -> list[Node]:
    """What the body of the class calls so: functions, and assignments of one name."""
    body = owner.children[-1].children
    functions = [each for each in body if each.kind == "FunctionDef" and defined_name(each) == name]
    return functions + [
        each for each in body if each.kind == "Assign" and len(each.children) == 2 and each.children[0].text == name
    ]


def _only_member(spot: Spot, name: str, owner: str = "") -> Node | None:
    """The one of this name in all classes of the file, or in those of one name."""
    classes = [each for each in spot.every("ClassDef") if owner in ("", defined_name(each))]
    found = [member for each in classes for member in members(each, name)]
    return found[0] if len(found) == 1 else None


def _as_function(spot: Spot, assignment: Node, own: str, passed: str, mark: str = "") -> Change | None:
    """`name = a` in a class becomes a function that calls `a`."""
    owner = enclosing(assignment, "ClassDef")
    indent = indent_of(assignment)
    target, value = assignment.children
    if owner is None or indent is None or any(members(owner, name) for name in free_names(value)):
        return None
    lines = [f"def {target.text}({own}):", f"    return {bracketed(value)}({passed})"]
    text = f"\n{indent}".join([mark, *lines] if mark else lines)
    return changed(spot.tree, [replace(assignment, text)])


def forward_as_function(spot: Spot, node: Node) -> Change | None:
    """`forward = partial(…)` of the class `A` of `A.apply(a)` becomes `def forward(ctx, a)`, which calls it."""
    callee = node.children[0]
    owner = callee.children[0].text if callee.kind == "Attribute" else ""
    forward = _only_member(spot, "forward", owner) if owner else None
    values = positional(node)
    if forward is None or forward.kind != "Assign" or len(values) != len(node.children) - 1:
        return None
    is_object = forward.children[1].kind in ("Name", "Attribute") or is_call(forward.children[1], "partial")
    if not is_object or any(value.kind == "Starred" for value in values):
        return None
    names = [value.text if value.kind == "Name" else f"value_{index}" for index, value in enumerate(values)]
    if len(set(names)) < len(names):
        names = [f"value_{index}" for index in range(len(values))]
    names = names if _only_member(spot, "setup_context", owner) else ["ctx", *names]
    own = ", ".join(names)
    return _as_function(spot, forward, own, own, "@staticmethod")


def getattr_as_function(spot: Spot, node: Node) -> Change | None:
    """`__getattr__ = a.b` becomes `def __getattr__`, which calls it, for a method `b` of a dict of the file's."""
    found = _only_member(spot, "__getattr__")
    if found is None or found.kind != "Assign" or found.children[1].kind != "Attribute":
        return None
    held = bindings(spot.tree.root, root_name(found.children[1]))
    is_dict = len(held) == 1 and held[0].kind == "Assign" and held[0].children[-1].kind == "Dict"
    return _as_function(spot, found, "self, name", "name") if is_dict else None


def without_getattribute(spot: Spot, node: Node) -> Change | None:
    """`__getattribute__` becomes a property where it makes one attribute; it goes where it gives the usual ones."""
    method = _only_member(spot, "__getattribute__")
    parameters = method.children[0].children if method else []
    if method is None or method.children[0].kind != "Parameters" or len(parameters) != 2:
        return None
    *first, last = method.children[-1].children
    own, name = (each.first_token.text for each in parameters)
    usual = (f"super().__getattribute__({name})", f"object.__getattribute__({own}, {name})")
    if last.text not in [f"return {text}" for text in usual]:
        return None
    made = re.fullmatch(rf"if {name} == [\"'](\w+)[\"']", _head(first[0])) if len(first) == 1 else None
    if made is not None:
        return _as_property(spot, method, first[0], own, made[1])
    edit = delete_statement(method)
    gives = any(each.kind == "Return" for statement in first for each in statement.walk())
    return changed(spot.tree, [edit]) if edit and not gives else None


def _as_property(spot: Spot, method: Node, branch: Node, own: str, name: str) -> Change | None:
    """The branch of the method as the property of this name, if nothing sets it."""
    body = branch.children[-1]
    owner, indent = enclosing(method, "ClassDef"), indent_of(method)
    parameter = method.children[0].children[1].first_token.text
    if owner is None or indent is None or len(branch.children) != 2 or parameter in free_names(body):
        return None
    is_set = any(each.kind in ("Assign", "AnnAssign") and _targets(each, name) for each in owner.walk())
    if is_set or indent_of(body.children[0]) is None:
        return None
    text = spot.tree.text
    lines = textwrap.dedent(text[line_start(text, body.children[0].start) : body.end])
    new = f"@property\n{indent}def {name}({own}):\n" + textwrap.indent(lines, f"{indent}    ")
    return changed(spot.tree, [replace(method, new)])


def _targets(assignment: Node, name: str) -> bool:
    return any(last_name(target) == name for target in assignment.children[:-1])


def _head(statement: Node) -> str:
    """`if a` of an `if`."""
    bodies = [each for each in statement.children if each.kind == "Body"]
    return " ".join(statement.text[: bodies[0].start - statement.start].split()) if bodies else ""


def tested(spot: Spot) -> Node | None:
    """Finds the only thing that is tested on the line, without its `not`."""

    def is_meant(node: Node) -> bool:
        parent = node.parent
        at = {"If": 0, "Elif": 0, "While": 0, "IfExp": 1, "Assert": 0}.get(parent.kind) if parent else None
        return parent is not None and at is not None and parent.children[at] == node

    found = spot.only(is_meant)
    is_not = found is not None and found.kind == "UnaryOp" and found.first_token.text == "not"
    return found.children[0] if found and is_not else found


def test_within(spot: Spot, node: Node) -> Change | None:
    """`if a:` becomes `if a.b:`, for `return bool(self.b)` in the class that has the only `__bool__`."""
    method = _only_member(spot, "__bool__")
    named = re.search(r"value: UserDefinedObjectVariable\((\w+)\)", spot.message)
    if method is None or node.kind not in ("Name", "Attribute"):
        return None
    owner = enclosing(method, "ClassDef")
    body = method.children[-1].children
    if owner is None or (named and named[1] != defined_name(owner)) or len(body) != 1 or body[0].kind != "Return":
        return None
    value = body[0].children[0]
    value = positional(value)[0] if is_call(value, "bool") and len(value.children) == 2 else value
    own = method.children[0].children[0].text
    local = [name for each in functions_around(node) for name in free_names(value) - {own} if bindings(each, name)]
    if local:
        return None
    text = value.text
    for each in reversed([each for each in value.walk() if each.kind == "Name" and each.text == own]):
        text = text[: each.start - value.start] + node.text + text[each.end - value.start :]
    is_loose = value.kind in ("BoolOp", "IfExp", "NamedExpr")
    return changed(spot.tree, [replace(node, f"({text})" if is_loose else text)])


def through_class(spot: Spot, node: Node) -> Change | None:
    """`a.f(b)` becomes `A.f(a, b)`, and `a.b` becomes `A.b`, for the only class of the file that has it."""
    attribute = node.children[0] if node.kind == "Call" else node
    if attribute.kind != "Attribute" or "super" in free_names(attribute):
        return None
    named = re.search(r"of type <class '[^']*?(\w+)'>", spot.message)
    member = _only_member(spot, last_name(attribute), named[1] if named else "")
    owner = enclosing(member, "ClassDef") if member else None
    if member is None or owner is None or top_of(owner) != owner or not (named or _is_tensor(owner)):
        return None
    name = f"{defined_name(owner)}.{last_name(attribute)}"
    if node.kind == "Attribute":
        is_value = member.kind == "Assign" and member.children[1].kind in _PLAIN_VALUES
        return changed(spot.tree, [replace(node, name)]) if is_value else None
    if member.kind != "FunctionDef" or any(each.kind == "Decorator" for each in member.children):
        return None
    more = ", " if len(node.children) > 1 else ""
    end = attribute.end + spot.tree.text[attribute.end :].index("(") + 1
    return changed(spot.tree, [(node.start, end, f"{name}({receiver(attribute)}{more}")])


def _is_tensor(owner: Node) -> bool:
    """Whether a base of the class is called so."""
    bases = [base for each in owner.children if each.kind == "Arguments" for base in each.children]
    return any(last_name(base).endswith("Tensor") for base in bases)


def plain_member(spot: Spot, node: Node) -> Change | None:
    """`b = Descriptor(…)` in the class of `self.b` becomes `b = ...`."""
    owner = enclosing(node, "ClassDef")
    found = members(owner, last_name(node)) if owner and receiver(node) == "self" else []
    if len(found) != 1 or found[0].kind != "Assign" or found[0].children[1].kind != "Call":
        return None
    return changed(spot.tree, [replace(found[0].children[1], "...")])


def class_above(spot: Spot, node: Node) -> Change | None:
    """The class that the function makes an object of goes above it, if it uses nothing of the function's."""
    around = functions_around(node)
    name = last_name(node.children[0])
    classes = [each for each in spot.every("ClassDef") if defined_name(each) == name]
    if not around or len(classes) != 1 or functions_around(classes[0]) != around:
        return None
    (made,) = classes
    inside = [each for outer in around for used in free_names(made) for each in bindings(outer, used)]
    if any(not made.start <= each.start < made.end for each in inside):
        return None
    text = spot.tree.text
    start = line_start(text, start_of(made))
    edit = delete_lines(made)
    if edit is None or any("\n" in token.text.strip() for token in made.tokens):
        return None
    lines = textwrap.dedent(text[start : made.end]).split("\n")
    return changed(spot.tree, [insert_lines(start_of(top_of(made)), *lines, "", ""), (start, edit[1], "")])


def other_class(spot: Spot, node: Node) -> Change | None:
    """`a = A()`, `a.__class__ = B` becomes `a = B()`, for classes of the file that do nothing when they are made."""
    target, value = (*node.children, None, None)[:2]
    function = enclosing(node, "FunctionDef")
    if function is None or target is None or value is None or last_name(target) != "__class__":
        return None
    made = bindings(function, receiver(target))
    edit = delete_statement(node)
    if edit is None or value.kind != "Name" or len(made) != 1 or made[0].kind != "Assign":
        return None
    call = made[0].children[-1]
    kinds = [each for each in spot.every("ClassDef") if defined_name(each) in (value.text, last_name(call.children[0]))]
    is_bare = all(each.children[0].kind != "Arguments" and not _makers(each) for each in kinds)
    if len(kinds) != 2 or not is_bare or not is_call(call) or len(call.children) != 1:
        return None
    uses = [
        each
        for each in function.walk()
        if each.kind == "Name" and each.text == receiver(target) and made[0].end < each.start < node.start
    ]
    if made[0].parent != node.parent or not all(_is_store(each) for each in uses):
        return None
    edits: list[Edit] = [replace(call.children[0], value.text), edit]
    return changed(spot.tree, edits)


def _makers(owner: Node) -> list[Node]:
    return [each for name in ("__init__", "__new__", "__setattr__", "__slots__") for each in members(owner, name)]


def _is_store(use: Node) -> bool:
    """Whether it is `a` of `a.b = c`."""
    statement = statement_of(use)
    return statement.kind == "Assign" and is_written(statement, use.text) and use.parent == statement.children[0]

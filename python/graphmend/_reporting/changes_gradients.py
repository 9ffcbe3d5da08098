"""Changes of a function with a backward of its own, of hooks, and of edges of autograd's graph.

In and out: as in `changes`.
"""

from functools import partial

from graphmend._reporting.changes import bracketed
from graphmend._reporting.edits import Change, Edit, changed, delete_argument, delete_statement, replace
from graphmend._reporting.names import bindings, is_written, parameter_names
from graphmend._reporting.spot import (
    Spot,
    defined_name,
    enclosing,
    is_call,
    is_method_call,
    last_name,
    positional,
    receiver,
    statement_of,
)
from graphmend._tree import Node

# They have no counterpart that makes a new tensor of the old one.
_ONLY_IN_PLACE = ("copy_", "zero_", "set_", "resize_", "resize_as_", "requires_grad_", "detach_", "share_memory_")
_RANDOM = ("random_", "normal_", "uniform_", "exponential_", "cauchy_", "geometric_", "log_normal_", "fill_")


def by_apply(spot: Spot, node: Node) -> Change | None:
    """`A.forward(ctx, a)` becomes `A.apply(a)`, for the class around the line; only one such call, in no class."""
    owner = enclosing(node, "ClassDef")
    name = f"{defined_name(owner)}.forward" if owner else ""
    calls = [each for each in spot.every("Call") if each.children[0].text == name]
    if owner is None or len(calls) != 1 or enclosing(calls[0], "ClassDef") is not None:
        return None
    if not positional(calls[0]) or positional(calls[0])[0].kind == "Starred":
        return None
    apply = replace(calls[0].children[0], f"{defined_name(owner)}.apply")
    return changed(spot.tree, [apply, delete_argument(calls[0], positional(calls[0])[0])])


def new_tensor(spot: Spot, node: Node) -> Change | None:
    """`ctx.mark_dirty(a)` goes, and `a.f_(b)` becomes `a = a.f(b)`, in the only function that marks so."""
    marks = [each for each in spot.every("Call") if is_method_call(each, "mark_dirty")]
    function = enclosing(marks[0], "FunctionDef") if len(marks) == 1 else None
    mark = statement_of(marks[0]) if function else None
    if function is None or mark is None or mark.children != marks:
        return None
    names = [value.text for value in positional(marks[0])]
    if not set(names) <= set(parameter_names(function)) or any(map(partial(_is_changed, function), names)):
        return None
    edits: list[Edit | None] = [delete_statement(mark)]
    edits += [_out_of_place(each) for each in function.walk() if _is_in_place(each, names)]
    known = [edit for edit in edits if edit is not None]
    return changed(spot.tree, known) if len(known) == len(edits) > 1 else None


def _is_changed(function: Node, name: str) -> bool:
    """Whether it is changed otherwise than by a method: by an assignment, or by a function that works in place."""
    calls = [each for each in function.walk() if is_call(each) and last_name(each.children[0]).endswith("_")]
    is_passed = any(value.text == name for each in calls for value in positional(each))
    return is_passed or len(bindings(function, name)) > 1 or is_written(function, name)


def _is_in_place(node: Node, names: list[str]) -> bool:
    is_private = last_name(node.children[0]).startswith("_") if is_method_call(node) else True
    return not is_private and last_name(node.children[0]).endswith("_") and receiver(node.children[0]) in names


def _out_of_place(call: Node) -> Edit | None:
    name = last_name(call.children[0])
    statement = statement_of(call)
    if statement.kind != "ExprStatement" or statement.children != [call] or name in (*_ONLY_IN_PLACE, *_RANDOM):
        return None
    tensor = receiver(call.children[0])
    rest = call.text[call.children[0].end - call.start :]
    return replace(call, f"{tensor} = {tensor}.{name[:-1]}{rest}")


def tensor_of_edge(spot: Spot, node: Node) -> Change | None:
    """`get_gradient_edge(a)` becomes `a`, where the file makes its only edge."""
    edges = [each for each in spot.every("Call") if is_call(each, "get_gradient_edge")]
    if len(edges) != 1 or len(edges[0].children) != 2 or positional(edges[0])[0].kind == "Starred":
        return None
    kept = statement_of(edges[0]).children[0]
    if any(each.kind == "Attribute" and each.children[0].text == kept.text for each in spot.every("Attribute")):
        return None
    return changed(spot.tree, [replace(edges[0], bracketed(positional(edges[0])[0]))])


def contiguous_hook(spot: Spot, node: Node) -> Change | None:
    """What a hook does with a gradient that is contiguous, it does with each, made so."""
    values = positional(node)
    hooks = [each for each in spot.every("FunctionDef") if values and defined_name(each) == values[0].text]
    hook = values[0] if values and values[0].kind == "Lambda" else hooks[0] if len(hooks) == 1 else None
    asked = [each for each in hook.walk() if is_method_call(each, "is_contiguous")] if hook else []
    if len(asked) != 1 or len(asked[0].children) != 1 or asked[0].children[0].children[0].kind != "Name":
        return None
    parent, gradient = asked[0].parent, receiver(asked[0].children[0])
    if parent is not None and parent.kind == "IfExp" and parent.children[1] == asked[0]:
        return changed(spot.tree, [replace(parent, _made_contiguous(parent.children[0], gradient))])
    is_negated = parent is not None and parent.kind == "UnaryOp" and parent.first_token.text == "not"
    branch = parent.parent if parent is not None and is_negated else None
    if branch is None or branch.kind != "If" or len(branch.children) != 2 or len(branch.children[1].children) != 1:
        return None
    made = branch.children[1].children[0].text
    is_known = " ".join(made.split()) == f"{gradient} = {gradient}.contiguous()"
    return changed(spot.tree, [replace(branch, made)]) if is_known else None


def _made_contiguous(node: Node, name: str) -> str:
    """Its text with `a.contiguous()` for the name."""
    text = node.text
    for each in reversed([each for each in node.walk() if each.kind == "Name" and each.text == name]):
        at = each.end - node.start
        text = f"{text[:at]}.contiguous(){text[at:]}"
    return text

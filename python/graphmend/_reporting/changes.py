"""The smallest changes of a user's own line. In: the place of a break, and the node it is about. Out: a `Change`.

Each function here answers one decision in one way; where the line is not of the form that it knows, it returns None,
and nothing is shown. `...` stands for what only the user knows.
"""

import re
from collections.abc import Callable

from graphmend._reporting.edits import (
    Change,
    Row,
    add_argument,
    changed,
    delete_argument,
    delete_statement,
    replace,
)
from graphmend._reporting.spot import (
    Spot,
    defined_name,
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

Changer = Callable[[Spot, Node], Change | None]

# A tensor, as Dynamo prints it.
_TENSOR = r"(?:LazyVariableTracker\(realized: )?TensorVariable\(\)"
_ATOMS = ("Name", "Attribute", "Call", "Subscript", "Number", "String", "List", "Dict", "Constant")
# As the message names them.
_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "@": "matmul", "//": "floordiv", "%": "mod"}
# What holds an expression that needs no brackets.
_LOOSE = ("If", "Elif", "While", "Assign", "Return")


def added(where: str, *lines: str) -> Change:
    return Change(tuple(Row("+", None, line) for line in lines), where)


def setting(name: str, value: str) -> Changer:
    """A setting of Dynamo's."""
    return lambda spot, node: added("before the model is compiled", f"torch._dynamo.config.{name} = {value}")


def remove_statement(spot: Spot, node: Node) -> Change | None:
    """The statement goes, if there is nothing in it but this expression."""
    statement = statement_of(node)
    if statement.kind != "ExprStatement" or statement.children != [node]:
        return None
    edit = delete_statement(statement)
    return changed(spot.tree, [edit]) if edit else None


def strip_method(spot: Spot, node: Node) -> Change | None:
    """`a.f(...)` becomes `a`; as a statement it goes."""
    if not is_method_call(node):
        return None
    if statement_of(node).kind == "ExprStatement" and statement_of(node).children == [node]:
        return remove_statement(spot, node)
    return changed(spot.tree, [replace(node, receiver(node.children[0]))])


def plain_tensor(spot: Spot, node: Node) -> Change | None:
    """`x.as_subclass(Mine)` becomes `x`."""
    is_plain_already = any(last_name(value) == "Tensor" for value in positional(node))
    return None if is_plain_already else strip_method(spot, node)


def unwrap_call(spot: Spot, node: Node) -> Change | None:
    """`f(a, ...)` becomes `a`."""
    values = positional(node)
    if not values or not _is_plain(values[0]):
        return None
    text = values[0].text if _is_whole(node) else bracketed(values[0])
    return changed(spot.tree, [replace(node, text)])


def set_keyword(name: str, value: str) -> Changer:
    """`f(a)` becomes `f(a, name=value)`, whatever value there was."""

    def change(spot: Spot, node: Node) -> Change | None:
        there = keyword(node, name)
        edit = replace(there, f"{name}={value}") if there else add_argument(node, f"{name}={value}")
        return changed(spot.tree, [edit])

    return change


def drop_keyword(name: str) -> Changer:
    """`f(a, name=b)` becomes `f(a)`."""

    def change(spot: Spot, node: Node) -> Change | None:
        there = keyword(node, name)
        return changed(spot.tree, [delete_argument(node, there)]) if there else None

    return change


def number_of_classes(spot: Spot, node: Node) -> Change | None:
    values = positional(node)
    if len(values) > 1:
        return changed(spot.tree, [replace(values[1], "...")]) if values[1].text == "-1" else None
    return set_keyword("num_classes", "...")(spot, node)


def only_in_eager(spot: Spot, node: Node) -> Change | None:
    """`a` becomes `not torch.compiler.is_compiling() and a`."""
    if not spot.imports("torch"):
        return None
    text = f"not torch.compiler.is_compiling() and {node.text}"
    return changed(spot.tree, [replace(node, text if _is_whole(node) else f"({text})")])


def is_leaf(spot: Spot, node: Node) -> Change | None:
    """`y.grad_fn is None` becomes `y.is_leaf`, which says the same."""
    parent = node.parent
    if parent is None:
        return None
    of = receiver(node)
    if parent.kind == "Compare" and len(parent.children) == 3 and parent.children[2].text == "None":
        texts = {"is": f"{of}.is_leaf", "is not": f"not {of}.is_leaf"}
        text = texts.get(" ".join(parent.children[1].text.split()))
        return changed(spot.tree, [replace(parent, text)]) if text and parent.children[0] == node else None
    if parent.kind in ("If", "Elif", "While"):
        return changed(spot.tree, [replace(node, f"not {of}.is_leaf")])
    return None


def same_object(spot: Spot, node: Node) -> Change | None:
    """`id(a) == id(b)` and `a.data_ptr() == b.data_ptr()` become `a is b`; `hash(a) == hash(b)` becomes `a == b`."""
    left, sign, right = node.children
    sides = [_subject(left), _subject(right)]
    if None in sides:
        return None
    by_value = last_name(left.children[0]) == "hash"
    words = {"==": "==" if by_value else "is", "!=": "!=" if by_value else "is not"}
    return changed(spot.tree, [replace(node, f"{sides[0]} {words[sign.text]} {sides[1]}")])


def _subject(call: Node) -> str | None:
    """`a` of `f(a)` and of `a.f()`."""
    values = positional(call)
    if len(call.children) == 2 and len(values) == 1 and call.children[0].kind == "Name":
        return bracketed(values[0]) if _is_plain(values[0]) else None
    return receiver(call.children[0]) if len(call.children) == 1 and call.children[0].kind == "Attribute" else None


def write_into(spot: Spot, node: Node) -> Change | None:
    """`x.real = y` becomes `x.real.copy_(y)`, which is what it does."""
    if len(node.children) != 2 or last_name(node.children[0]) not in ("real", "imag"):
        return None
    target = node.children[0]
    return changed(spot.tree, [replace(node, f"{target.text}.copy_({_value_text(node)})")])


def keep_dtype(spot: Spot, node: Node) -> Change | None:
    """`x.data = y` becomes `x.data = y.to(x.dtype)`."""
    if len(node.children) != 2 or last_name(node.children[0]) != "data" or node.children[0].kind != "Attribute":
        return None
    target, value = node.children
    own = _value_text(node)
    text = bracketed(value) if value.text == own else own
    return changed(spot.tree, [replace(node, f"{target.text} = {text}.to({receiver(target)}.dtype)")])


def _value_text(assignment: Node) -> str:
    """The right side with its own brackets."""
    return assignment.text[assignment.children[0].end - assignment.start :].partition("=")[2].strip()


def as_dict(spot: Spot, node: Node) -> Change | None:
    """`Options(a=1)` becomes `dict(a=1)`, which it is."""
    return changed(spot.tree, [replace(node.children[0], "dict")])


def as_subclass(spot: Spot, node: Node) -> Change | None:
    """`Mine(...)` becomes `torch.Tensor(...).as_subclass(Mine)`, for a class of the file that has no `__init__`."""
    name = node.children[0]
    classes = [each for each in spot.every("ClassDef") if defined_name(each) == last_name(name)]
    if len(classes) != 1 or not spot.imports("torch"):
        return None
    bases = [child.text for child in classes[0].children if child.kind == "Arguments"]
    methods = [defined_name(each) for each in classes[0].children[-1].children if each.kind == "FunctionDef"]
    if bases not in (["(torch.Tensor)"], ["(Tensor)"]) or "__init__" in methods:
        return None
    edits = [replace(name, "torch.Tensor"), (node.end, node.end, f".as_subclass({name.text})")]
    return changed(spot.tree, edits)


def to_left_device(spot: Spot, node: Node) -> Change | None:
    """`a + b` becomes `a + b.to(a.device)`, where the message says that it is this operator that was called."""
    left, right = node.children
    sign = spot.tree.text[left.end : right.start].strip("() ")
    if f"<built-in function {_OPERATORS.get(sign)}>" not in spot.message:
        return None
    if left.kind not in ("Name", "Attribute") or not _is_plain(right) or right.end != node.end:
        return None
    return changed(spot.tree, [replace(right, f"{bracketed(right)}.to({left.text}.device)")])


def without_handle(spot: Spot, node: Node) -> Change | None:
    """`HANDLE = x.register_hook(f)` becomes `x.register_hook(f)`."""
    is_hook = len(node.children) == 2 and is_method_call(node.children[1], "register_hook")
    return changed(spot.tree, [replace(node, node.children[1].text)]) if is_hook else None


def strided_view(spot: Spot, node: Node) -> Change | None:
    """`x.set_(y, offset, size, stride)` becomes `x.set_(y.as_strided(size, stride, offset))`, for a tensor `y`."""
    values = positional(node)
    is_tensor = re.search(rf"set_ [\[(]{_TENSOR}", spot.message)
    if len(values) != 4 or len(node.children) != 5 or not is_tensor or not all(map(_is_plain, values)):
        return None
    source, offset, size, stride = (value.text for value in values)
    text = f"{node.children[0].text}({bracketed(values[0])}.as_strided({size}, {stride}, {offset}))"
    return changed(spot.tree, [replace(node, text)]) if source else None


def index_by_int(spot: Spot, node: Node) -> Change | None:
    """`a[i]` becomes `a[int(i)]`, for a tensor `i`."""
    index = node.children[1]
    is_tensor = re.search(rf"mp_subscript_impl: .*{_TENSOR}\)*$", spot.message, re.MULTILINE)
    return changed(spot.tree, [replace(index, f"int({index.text})")]) if is_tensor and index.kind in _ATOMS else None


def grid_of_one(spot: Spot, node: Node) -> Change | None:
    """`kernel[n]` becomes `kernel[(n,)]`, where it is seen that `n` is a number."""
    index = node.children[1]
    is_number = index.kind in ("Number", "BinOp") or is_call(index, "cdiv")
    return changed(spot.tree, [replace(index, f"({index.text},)")]) if is_number else None


def limited(spot: Spot, node: Node) -> Change | None:
    """`for a in b():` becomes `for a in itertools.islice(b(), ...):`."""
    values = [child for child in node.children if child.kind not in ("Body", "Else")]
    is_call_of_it = len(values) == 2 and values[1].kind == "Call"
    if not is_call_of_it or not spot.imports("itertools"):
        return None
    return changed(spot.tree, [replace(values[1], f"itertools.islice({values[1].text}, ...)")])


def wait_at_once(spot: Spot, node: Node) -> Change | None:
    """Without `async_op=True` the call waits itself, and what waits for it goes."""
    there = keyword(node, "async_op")
    parent = node.parent
    if there is None or parent is None:
        return None
    edits = [delete_argument(node, there)]
    statement = statement_of(node)
    if parent.kind == "Attribute" and parent.last_token.text == "wait" and parent.parent is not None:
        if statement.children != [parent.parent]:
            return None
        edits.append((node.end, parent.parent.end, ""))
    elif statement.kind == "Assign":
        waits = _waits(statement, node)
        if waits is None:
            return None
        edits += [(statement.start, node.start, ""), *waits]
    elif statement.children != [node]:
        return None
    return changed(spot.tree, edits)


def _waits(statement: Node, value: Node) -> list[tuple[int, int, str]] | None:
    """What deletes the statements `work.wait()`; None when `work` has other uses."""
    function = enclosing(statement, "FunctionDef")
    target = statement.children[0]
    if function is None or len(statement.children) != 2 or statement.children[1] != value or target.kind != "Name":
        return None
    edits = []
    for use in function.walk():
        if use.kind not in ("Name", "Identifier") or use.text != target.text or use == target:
            continue
        waiting = statement_of(use)
        edit = delete_statement(waiting) if waiting.text == f"{target.text}.wait()" else None
        if edit is None:
            return None
        edits.append(edit)
    return edits


def bracketed(node: Node) -> str:
    return node.text if node.kind in _ATOMS else f"({node.text})"


def _is_whole(node: Node) -> bool:
    """Whether nothing around it binds it, so that what comes in its place needs no brackets."""
    parent = node.parent
    if parent is not None and parent.kind == "Call":
        return parent.children[0] != node
    return parent is not None and parent.kind in _LOOSE


def _is_plain(node: Node) -> bool:
    """Whether it stands for one value wherever it is put."""
    return node.kind not in ("Starred", "GeneratorExp", "Yield", "NamedExpr", "YieldFrom", "Await", "Lambda")

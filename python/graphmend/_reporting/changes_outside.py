"""Changes that take an expression or a statement out of what is compiled: read once, passed in, run before or around.

In and out: as in `changes`. Where a value comes from is looked up in the file, and nothing is shown for one that is not
known where it would have to be.
"""

from graphmend._reporting.changes import Changer
from graphmend._reporting.edits import (
    Change,
    Edit,
    along,
    changed,
    delete_statement,
    indent_of,
    insert_lines,
    line_start,
    replace,
)
from graphmend._reporting.names import (
    bindings,
    free_names,
    functions_around,
    is_global,
    is_known_above,
    is_written,
    new_name,
    parameter_names,
    root_name,
    start_of,
    top_of,
)
from graphmend._reporting.signatures import add_parameter, call_of, called, for_callers
from graphmend._reporting.spot import (
    Spot,
    defined_name,
    enclosing,
    is_method_call,
    is_text,
    last_name,
    positional,
    statement_of,
)
from graphmend._tree import Node

_EXPRESSIONS = ("Call", "Attribute", "Subscript", "BinOp", "Compare", "UnaryOp", "Tuple")


def first_of(*changers: Changer) -> Changer:
    """The first way that fits."""

    def change(spot: Spot, node: Node) -> Change | None:
        return next((found for each in changers if (found := each(spot, node)) is not None), None)

    return change


def _short_name(node: Node) -> str:
    """`b` of `a.b`, `a.b(…)` and `a["b"]`; `value` of what has no name."""
    while node.kind in ("Call", "Await"):
        node = node.children[0]
    if node.kind == "Subscript" and node.children[1].kind == "String":
        return node.children[1].text.strip("rbuf'\"")
    return last_name(node).strip("_") or "value"


def read_above(spot: Spot, node: Node) -> Change | None:
    """`a.b` becomes `A_B`, which is read once above the function; with as much around it as is known there."""
    if node.kind not in _EXPRESSIONS or not is_known_above(spot, node):
        return None
    while node.parent is not None and node.parent.kind in _EXPRESSIONS and is_known_above(spot, node.parent):
        if node.parent.kind == "Call" and node.parent.children[0] == node:
            break
        node = node.parent
    statement = statement_of(node)
    if statement.kind == "Assign" and is_written(functions_around(node)[-1], statement.children[0].text):
        return None
    base = root_name(node)
    short = _short_name(node)
    name = new_name(spot, f"{base}_{short}".upper() if base and base != short else short.upper())
    top = start_of(top_of(node))
    return changed(spot.tree, [insert_lines(top, f"{name} = {node.text}", ""), replace(node, name)])


def read_in_init(spot: Spot, node: Node) -> Change | None:
    """`self.a.b` becomes `self.a_b`, which `__init__` reads where it has set `self.a`."""
    around = functions_around(node)
    owner = enclosing(node, "ClassDef")
    if len(around) != 1 or owner is None or node.kind not in _EXPRESSIONS:
        return None
    own = (parameter_names(around[0]) or [""])[0]
    held = {each.text for each in node.walk() if each.kind == "Attribute" and each.children[0].text == own}
    others = free_names(node) - {own}
    if len(held) != 1 or own != "self" or not all(is_global(spot, around[0], name) for name in others):
        return None
    sets = [each for each in owner.walk() if each.kind == "Assign" and each.children[0].text in held]
    if len(sets) != 1 or sets[0].parent is None or sets[0].parent.parent is None:
        return None
    maker = sets[0].parent.parent
    indent = indent_of(sets[0])
    if maker.kind != "FunctionDef" or defined_name(maker) != "__init__" or indent is None or node.text in held:
        return None
    (holder,) = held
    name = "self." + new_name(spot, f"{holder[5:]}_{_short_name(node)}")
    at = spot.tree.text.find("\n", sets[0].end) + 1
    return changed(spot.tree, [insert_lines(at, f"{indent}{name} = {node.text}"), replace(node, name)])


# A value that is the same in each call.
read_once = first_of(read_above, read_in_init)


def compiled_function(spot: Spot, node: Node) -> Node | None:
    """The function around, or `forward`, if its callers can do something for it: nothing inlines it."""
    around = functions_around(node)
    if len(around) != 1 or spot.is_inlined:
        return None
    owner = enclosing(around[0], "ClassDef")
    if top_of(around[0]) != (owner or around[0]) or (owner and defined_name(around[0]) != "forward"):
        return None
    marks = [each.children[0] for each in around[0].children if each.kind == "Decorator"]
    is_seen = all(last_name(each.children[0] if each.kind == "Call" else each) == "compile" for each in marks)
    return around[0] if is_seen else None


def known_to_callers(spot: Spot, function: Node, node: Node) -> bool:
    """Whether the expression gives before the call what it gives at its place: nothing changes what it reads."""
    own = parameter_names(function)
    if any(each.kind in ("Yield", "YieldFrom", "NamedExpr") for each in node.walk()):
        return False
    for name in free_names(node):
        if name not in own:
            if not is_global(spot, function, name):
                return False
        elif len(bindings(function, name)) > 1 or is_written(function, name) or _is_used_before(function, node, name):
            return False
    return True


def _is_used_before(function: Node, node: Node, name: str) -> bool:
    """Whether a statement before calls something on it or with it for what that does."""
    return any(
        each.kind == "ExprStatement" and each.end <= node.start and name in free_names(each) for each in function.walk()
    )


def passed_in(spot: Spot, node: Node) -> Change | None:
    """The value becomes a parameter of the function, and its callers compute it."""
    return _passed_in(spot, node, node.text)


def passed_in_dense(spot: Spot, node: Node) -> Change | None:
    """As `passed_in`, with `.to_dense()`, for a sparse tensor that is used only as a dense one may be."""
    statement = statement_of(node)
    function = compiled_function(spot, node)
    if function is None or statement.kind != "Assign" or statement.children[1:] != [node]:
        return None
    uses = [each for each in function.walk() if each.kind == "Name" and each.text == statement.children[0].text]
    fits = (is_method_call(use.parent.parent, "to_dense") for use in uses[1:] if use.parent and use.parent.parent)
    is_dense = len(uses) > 1 and all(fits)
    return _passed_in(spot, node, f"{node.text}.to_dense()") if is_dense else None


def _passed_in(spot: Spot, node: Node, text: str) -> Change | None:
    function = compiled_function(spot, node)
    fits = node.kind in (*_EXPRESSIONS, "Await") and is_at_top(function, node)
    if function is None or not fits or not known_to_callers(spot, function, node):
        return None
    statement = statement_of(node)
    edit: Edit | None
    if statement.kind == "Assign" and statement.children[1:] == [node] and _is_only_name(function, statement):
        name = statement.children[0].text
        edit = delete_statement(statement)
    else:
        name = new_name(spot, _short_name(node))
        edit = replace(node, name)
    if edit is None:
        return None
    parameter, argument = add_parameter(function, name, for_callers(function, text))
    edits = [parameter, edit, *_without_async(function)]
    if _waits(function, node):
        return None
    return along(changed(spot.tree, edits), f"where {called(function)}", call_of(function, argument))


def is_at_top(function: Node | None, node: Node) -> bool:
    """Whether it runs once in each call: in the function's own block, in no loop and no branch, and nothing leaves."""
    statement = statement_of(node)
    body = statement.parent
    if function is None or body is None or body.parent != function or statement.kind == "While":
        return False
    earlier = [each for other in body.children if other.end <= statement.start for each in other.walk()]
    return not _is_in_branch(node) and not any(each.kind in ("Return", "Raise", "Assert") for each in earlier)


def _is_in_branch(node: Node) -> bool:
    """Whether its statement may run without it."""
    statement, parent = statement_of(node), node.parent
    while node != statement and parent is not None:
        first = {"IfExp": 1, "BoolOp": 0}.get(parent.kind)
        is_later = first is not None and parent.children[first] != node
        if is_later or parent.kind in ("Elif", "Comprehension", "ListComp", "SetComp", "DictComp", "GeneratorExp"):
            return True
        node, parent = parent, parent.parent
    return False


def _is_only_name(function: Node, statement: Node) -> bool:
    target = statement.children[0]
    return target.kind == "Name" and len(bindings(function, target.text)) == 1


def _waits(function: Node, node: Node) -> bool:
    """Whether the function waits for something else."""
    return any(
        (each.kind == "Await" or each.first_token.text == "async") and each not in (node, function)
        for each in function.walk()
        if each.kind != "Body"
    )


def _without_async(function: Node) -> list[Edit]:
    first, second = function.tokens[:2]
    return [(first.start, second.start, "")] if first.text == "async" else []


def moved_before(spot: Spot, node: Node) -> Change | None:
    """The statement runs before the function is called."""
    function = compiled_function(spot, node)
    statement = statement_of(node)
    if function is None or statement.children != [node] or statement.kind != "ExprStatement":
        return None
    if not is_at_top(function, node) or not known_to_callers(spot, function, node):
        return None
    own = free_names(node) & set(parameter_names(function))
    earlier = [each for each in function.children[-1].children if each.end <= statement.start]
    edit = delete_statement(statement)
    if edit is None or any(own & free_names(each) for each in earlier):
        return None
    return along(changed(spot.tree, [edit]), f"before {called(function)}", for_callers(function, node.text))


def around_call(spot: Spot, node: Node) -> Change | None:
    """`with a:` around all of the function goes, and its callers write it around the call."""
    items = [each for each in node.children if each.kind == "WithItem"]
    function = compiled_function(spot, node)
    body = function.children[-1].children if function else []
    others = [each for each in body if each != node and each.kind != "Pass" and not is_text(each)]
    if function is None or others or not is_at_top(function, node) or _waits(function, node):
        return None
    if not all(len(each.children) == 1 and known_to_callers(spot, function, each.children[0]) for each in items):
        return None
    text = spot.tree.text
    inner = node.children[-1].children
    indents = indent_of(node), indent_of(inner[0])
    is_long = any("\n" in token.text.strip() for token in node.tokens)
    if None in indents or is_long:
        return None
    lines = text[line_start(text, inner[0].start) : inner[-1].end].split("\n")
    less = len(indents[1] or "") - len(indents[0] or "")
    new = "\n".join(line[less:] if not line[:less].strip() else line for line in lines)
    edits: list[Edit] = [(line_start(text, node.start), node.end, new), *_without_async(function)]
    head = text[node.start : node.children[-1].start]
    entered = for_callers(function, f"{head}: pass").removesuffix(" pass")
    return along(
        changed(spot.tree, edits),
        f"where {called(function)}",
        entered,
        f"    {call_of(function)}",
    )


def after_backward(spot: Spot, node: Node) -> Change | None:
    """`queue_callback(f)` goes, and `f()` is called after `backward`."""
    statement = statement_of(node)
    values = positional(node)
    around = functions_around(node)
    edit = delete_statement(statement)
    if len(values) != 1 or len(around) != 1 or edit is None or statement.children != [node]:
        return None
    if values[0].kind not in ("Name", "Attribute") or not is_global(spot, around[0], root_name(values[0])):
        return None
    return along(changed(spot.tree, [edit]), "after `backward` is called", f"{values[0].text}()")


def closure_before(spot: Spot, node: Node) -> Change | None:
    """`optimizer.step(f)` becomes `optimizer.step()`, and `f` is called before the function."""
    function = compiled_function(spot, node)
    values = node.children[1:]
    statement = statement_of(node)
    if function is None or len(values) != 1 or values[0].kind not in ("Name", "Attribute"):
        return None
    is_alone = statement.kind == "ExprStatement" and statement.children == [node] and is_at_top(function, node)
    is_first = all(is_text(each) for each in function.children[-1].children if each.end <= statement.start)
    # That one calls it several times.
    is_lbfgs = any(last_name(each) == "LBFGS" for each in spot.every("Name", "Attribute"))
    if is_lbfgs or not is_first or not is_alone or not known_to_callers(spot, function, values[0]):
        return None
    change = changed(spot.tree, [replace(values[0], "")])
    return along(change, f"before {called(function)}", f"{for_callers(function, values[0].text)}()")


def made_above(spot: Spot, node: Node) -> Change | None:
    """As `read_above`, for an object that Dynamo says is made of a class, of plain numbers and texts."""
    values = positional(node)
    is_plain = len(values) == len(node.children) - 1 and all(each.kind in ("Number", "String") for each in values)
    return read_above(spot, node) if is_plain and values and "function `<class '" in spot.message else None


# What does not have to run in the compiled part.
outside = first_of(made_above, moved_before, passed_in)

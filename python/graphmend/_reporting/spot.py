"""The place of a break in its source, as a tree. In: a file and a line. Out: the nodes there, and questions about them.

Dynamo does not always know the columns; then a node counts as found only where it is the only one of its kind.
"""

import functools
import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graphmend._tree import Node, Token, Tree, parse

Finder = Callable[["Spot"], Node | None]


@dataclass(frozen=True)
class Spot:
    tree: Tree
    line: int
    # What Dynamo says about the break, in full.
    message: str = ""
    # Characters in the line, from 0; None when they are not known.
    column: int | None = None
    end_column: int | None = None
    # Whether the function was called by the one that is compiled.
    is_inlined: bool = False

    @functools.cached_property
    def nodes(self) -> list[Node]:
        """All that the line is part of, parents before children."""
        found: list[Node] = []
        around = [self.tree.root]
        while around:
            node = around.pop()
            found.append(node)
            around += [child for child in node.children if child.line <= self.line <= child.end_line]
        return found

    def only(self, is_meant: Callable[[Node], bool]) -> Node | None:
        """The one node on the line that is meant."""
        found = [node for node in self.nodes if is_meant(node)]
        if len(found) > 1 and self.column is not None:
            columns = (self.column + 1, (self.end_column or 0) + 1)
            found = [node for node in found if (node.column, node.end_column) == columns]
        return found[0] if len(found) == 1 else None

    def every(self, *kinds: str) -> Iterator[Node]:
        """The nodes of these kinds in the whole file."""
        return (node for node in self.tree.walk() if node.kind in kinds)

    def imports(self, module: str) -> bool:
        """Whether the file has `import module`, so that the name stands for it."""
        return any(
            alias.first_token.text == module and " as " not in alias.text
            for statement in self.every("Import")
            for alias in statement.children
        )


def tree_of(file: str) -> Tree | None:
    """Nothing when the source is not there, or is not Python."""
    return _tree("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=8)
def _tree(text: str) -> Tree | None:
    try:
        tree = parse(text)
    except (ValueError, OSError):
        return None
    return tree if text and tree.ok else None


def last_name(node: Node) -> str:
    """`c` of `a.b.c`, and of `c`."""
    return node.last_token.text if node.kind in ("Name", "Attribute") else ""


def is_call(node: Node, *names: str) -> bool:
    return node.kind == "Call" and (not names or last_name(node.children[0]) in names)


def is_method_call(node: Node, *names: str) -> bool:
    return is_call(node, *names) and node.children[0].kind == "Attribute"


def positional(call: Node) -> list[Node]:
    return [node for node in call.children[1:] if node.kind != "Keyword"]


def keyword(call: Node, name: str) -> Node | None:
    return next((node for node in call.children[1:] if node.kind == "Keyword" and node.first_token.text == name), None)


def receiver(attribute: Node) -> str:
    """`a.b` of `a.b.c`, with its brackets."""
    dot = attribute.tokens[-2]
    return attribute.text[: dot.start - attribute.start].rstrip()


def statement_of(node: Node) -> Node:
    parent = node.parent
    while parent is not None and parent.kind not in ("Body", "Module"):
        node, parent = parent, parent.parent
    return node


def enclosing(node: Node, kind: str) -> Node | None:
    parent = node.parent
    while parent is not None and parent.kind != kind:
        parent = parent.parent
    return parent


def defined_name(definition: Node) -> str:
    """The name of a function or a class."""
    texts = [token.text for token in definition.tokens]
    return texts[texts.index("class" if definition.kind == "ClassDef" else "def") + 1]


def qualified_name(definition: Node) -> str:
    """As `__qualname__` has it."""
    names = [defined_name(definition)]
    outer = definition.parent
    while outer is not None:
        if outer.kind == "FunctionDef":
            names[:0] = [defined_name(outer), "<locals>"]
        elif outer.kind == "ClassDef":
            names.insert(0, defined_name(outer))
        outer = outer.parent
    return ".".join(names)


def is_text(statement: Node) -> bool:
    """Whether it is a text alone, such as a function's description."""
    return statement.kind == "ExprStatement" and statement.children[0].kind in ("String", "Strings")


def code_tokens(node: Node) -> list[Token]:
    """Its tokens without comments and ends of lines."""
    return [token for token in node.tokens if token.text.strip() and not token.text.startswith("#")]


def call(*names: str) -> Finder:
    """Finds the call of a function or method of one of these names."""
    return lambda spot: spot.only(lambda node: is_call(node, *names))


def method(*names: str) -> Finder:
    """Finds the call of a method of one of these names."""
    return lambda spot: spot.only(lambda node: is_method_call(node, *names))


def attribute(*names: str) -> Finder:
    return lambda spot: spot.only(lambda node: node.kind == "Attribute" and (not names or last_name(node) in names))


def of_kind(kind: str) -> Finder:
    return lambda spot: spot.only(lambda node: node.kind == kind)


def definition(spot: Spot) -> Node | None:
    """Finds the function whose head is on the line, or the first of its marks, where Python says that it starts."""
    heads = [each for each in spot.every("FunctionDef") if spot.line in (each.line, each.children[0].line)]
    return heads[0] if len(heads) == 1 else None


def in_function(names: Finder, is_meant: Callable[[Node], bool]) -> Finder:
    """Finds on the line what `names` finds; else the only node of the function around that is meant."""

    def find(spot: Spot) -> Node | None:
        functions = [node for node in spot.nodes if node.kind == "FunctionDef"]
        found = [node for node in functions[-1].walk() if is_meant(node)] if functions else []
        return names(spot) or (found[0] if len(found) == 1 else None)

    return find


def asynchronous(spot: Spot) -> Node | None:
    """Finds the `async with` or the `await` on the line."""
    return spot.only(lambda node: node.kind == "Await" or (node.kind == "With" and node.first_token.text == "async"))


def outer_call(spot: Spot) -> Node | None:
    """Finds the only call that is no part of another one."""
    return spot.only(lambda node: is_call(node) and enclosing(node, "Call") is None)


def started_kernel(spot: Spot) -> Node | None:
    """Finds `kernel[grid]` of `kernel[grid](...)`."""
    started = spot.only(lambda node: is_call(node) and node.children[0].kind == "Subscript")
    return started.children[0] if started else None


def loop(spot: Spot) -> Node | None:
    """Finds the `for` whose head is on the line."""
    return spot.only(lambda node: node.kind == "For" and node.line == spot.line)


def _call_in_message(spot: Spot, pattern: str) -> Node | None:
    named = re.search(pattern, spot.message)
    return call(named[1])(spot) if named else None


def call_of_class(spot: Spot) -> Node | None:
    """Finds the call of the class that the message names."""
    return _call_in_message(spot, r"<class '[^']*?(\w+)'>")


def made_class(spot: Spot) -> Node | None:
    """Finds the only call in the function around of the class that the message says is made there."""
    named = re.search(r"Class: (\w+)", spot.message)
    return in_function(lambda spot: None, lambda node: is_call(node, named[1]))(spot) if named else None


def call_of_function(spot: Spot) -> Node | None:
    """Finds the call of what the message names; where the line does not spell it so, the only call."""
    function = _call_in_message(spot, r"<(?:function|bound method|method) (?:[^ ]*\.)?(\w+)")
    return function or call_of_class(spot) or call()(spot)


def operator_call(spot: Spot) -> Node | None:
    """Finds the call of an operator of a library, `torch.ops.space.name(...)`; else the only call."""
    named = spot.only(lambda node: is_call(node) and node.children[0].text.startswith("torch.ops."))
    return named or call()(spot)


def comparison_of(*names: str) -> Finder:
    """Finds `f(a) == f(b)` and `f(a) != f(b)`, or with `a.f()`, of one of these names."""

    def is_meant(node: Node) -> bool:
        if node.kind != "Compare" or len(node.children) != 3:
            return False
        left, sign, right = node.children
        return sign.text in ("==", "!=") and any(is_call(left, name) and is_call(right, name) for name in names)

    return lambda spot: spot.only(is_meant)

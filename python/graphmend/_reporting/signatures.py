"""A function's parameters and the calls of it. In: its node. Out: one parameter more, and the text of a call."""

import itertools

from graphmend._reporting.edits import Edit
from graphmend._reporting.names import parameter_names, parameters
from graphmend._reporting.spot import code_tokens, defined_name, enclosing
from graphmend._tree import Node, Token, parse


def _section(function: Node) -> Node:
    return next(each for each in function.children if each.kind == "Parameters")


def _stars(section: Node) -> list[Token]:
    """The stars that stand before parameters, or alone."""
    tokens = code_tokens(section)
    return [
        token for before, token in itertools.pairwise(tokens) if token.text in ("*", "**") and before.text in ("(", ",")
    ]


def add_parameter(function: Node, name: str, value: str) -> tuple[Edit, str]:
    """What adds a parameter, and the argument that a call has for it."""
    section = _section(function)
    tokens = code_tokens(section)
    stars = _stars(section)
    rest = next((star for star in stars if star.text == "**"), None)
    is_plain = not stars and all(child.kind == "Parameter" for child in section.children)
    text = name if is_plain or (stars and stars[0].text == "*") else f"*, {name}"
    argument = value if is_plain else f"{name}={value}"
    if rest is not None:
        return (rest.start, rest.start, f"{text}, "), argument
    before = tokens[-2] if tokens[-2].text != "," else tokens[-3]
    return (before.end, before.end, text if before.text == "(" else f", {text}"), argument


def _own(function: Node) -> str:
    """`self` of a method."""
    names = parameter_names(function)
    return names[0] if names and enclosing(function, "ClassDef") else ""


def called(function: Node) -> str:
    """For a sentence."""
    return f"{'the module, here `model`,' if _own(function) else f'`{defined_name(function)}`'} is called"


def for_callers(function: Node, text: str) -> str:
    """An expression of the function's as its callers write it: they have the module under a name."""
    uses = [each for each in parse(text).root.walk() if each.kind == "Name" and each.text == _own(function)]
    for each in reversed(uses):
        text = text[: each.start] + "model" + text[each.end :]
    return text


def call_of(function: Node, *more: str) -> str:
    """`f(a, b)`, with the names of its parameters for what callers pass."""
    section = _section(function)
    stars = _stars(section)
    texts = []
    for each in parameters(function):
        name = each.first_token.text
        before = [star for star in stars if star.start < each.start]
        if before and before[-1].end == each.start:
            texts.append(before[-1].text + name)
        else:
            texts.append(f"{name}={name}" if before else name)
    own = [text for text in texts if text == _own(function)]
    rest = [text for text in texts if text.startswith("**")]
    plain = [text for text in texts if text not in (*own, *rest)]
    return f"{'model' if own else defined_name(function)}({', '.join([*plain, *more, *rest])})"

"""Random small functions for tests of data flow, and what really happens when they run.

`write_program` makes the text of a function; `Recorder.run` compiles it with a call before every read, write, delete and
statement, runs it, and returns these events in order. Tests, items and exceptions come from a random generator that the
program asks while it runs, so that one program takes many paths.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

NAMES = ("a", "b", "p", "q", "r", "s")
PARAMETERS = ("a", "b")
_MOST_EVENTS = 4000


@dataclass(frozen=True, slots=True)
class Event:
    """`kind`: read, write, delete of `name`; begin, done of a statement. `place` is "line:column"."""

    kind: str
    place: str
    name: str = ""
    in_closure: bool = False


class First(Exception):
    pass


class Second(Exception):
    pass


@dataclass
class _Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    functions: int = 0
    # Statements still to come; few are enough to go wrong, and easier to read.
    budget: int = 30

    def name(self) -> str:
        return self.rng.choice(NAMES)

    def value(self, depth: int = 0) -> str:
        choice = self.rng.random()
        if choice < 0.4 or depth > 2:
            return self.name()
        if choice < 0.5:
            return str(self.rng.randrange(3))
        if choice < 0.65:
            return f"{self.value(depth + 1)} + {self.value(depth + 1)}"
        if choice < 0.72:
            return f"may_raise({self.value(depth + 1)})"
        if choice < 0.78:
            return f"({self.name()} := {self.value(depth + 1)})"
        if choice < 0.83:
            return f"({self.value(depth + 1)} if test() else {self.value(depth + 1)})"
        if choice < 0.87:
            return f"(test() and {self.value(depth + 1)})"
        if choice < 0.90:
            return f"({self.value(depth + 1)} < {self.value(depth + 1)} < {self.value(depth + 1)})"
        if choice < 0.94:
            return f"sum([{self.value(depth + 1)} + x for x in items() if {self.value(depth + 1)}])"
        if choice < 0.97:
            return f"sum({self.name()} + x for x in items())"
        return "len(locals())"

    def condition(self) -> str:
        choice = self.rng.random()
        if choice < 0.4:
            return "test()"
        if choice < 0.6:
            return f"test() and {self.value(1)}"
        if choice < 0.75:
            return f"not test() or ({self.name()} := {self.value(1)}) and test()"
        return self.value(1)

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, loop: bool, depth: int) -> None:
        for _ in range(self.rng.randint(1, 3) if self.budget > 0 else 1):
            self.statement(indent, loop, depth)

    def statement(self, indent: int, loop: bool, depth: int) -> None:
        self.budget -= 1
        if depth < 4 and self.budget > 0 and self.rng.random() < 0.5:
            kinds = (self.if_, self.while_, self.for_, self.try_, self.try_, self.with_, self.match)
            self.rng.choice(kinds)(indent, loop, depth + 1)
        else:
            self.simple(indent, loop)

    def simple(self, indent: int, loop: bool) -> None:
        choice = self.rng.random()
        if choice < 0.45:
            self.line(indent, f"{self.name()} = {self.value()}")
        elif choice < 0.53:
            self.line(indent, f"{self.name()} += {self.value()}")
        elif choice < 0.58:
            self.line(indent, f"{self.name()}, {self.name()} = {self.value()}, {self.value()}")
        elif choice < 0.62:
            self.line(indent, f"del {self.name()}")
        elif choice < 0.70:
            self.line(indent, f"may_raise({self.value()})")
        elif choice < 0.73:
            self.line(indent, f"assert test(), {self.name()}")
        elif choice < 0.76:
            self.line(indent, self.rng.choice(("raise First", "raise Second")))
        elif choice < 0.79:
            self.line(indent, f"return {self.value()}")
        elif choice < 0.88 and loop:
            self.line(indent, self.rng.choice(("break", "continue")))
        elif choice < 0.91:
            self.closure(indent)
        elif choice < 0.93:
            self.line(indent, f"{self.name()} = lambda: {self.name()}")
        elif choice < 0.96:
            self.line(indent, f"call({self.name()})")
        else:
            self.line(indent, "pass")

    def closure(self, indent: int) -> None:
        self.functions += 1
        self.line(indent, f"def g{self.functions}():")
        name = self.name()
        if self.rng.random() < 0.4 and name not in PARAMETERS:
            self.line(indent + 1, f"nonlocal {name}")
            self.line(indent + 1, f"{name} = 1")
        else:
            self.line(indent + 1, f"return {name}")
        if self.rng.random() < 0.7:
            self.line(indent, f"call(g{self.functions})")

    def if_(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, f"if {self.condition()}:")
        self.block(indent + 1, loop, depth)
        if self.rng.random() < 0.3:
            self.line(indent, f"elif {self.condition()}:")
            self.block(indent + 1, loop, depth)
        if self.rng.random() < 0.4:
            self.line(indent, "else:")
            self.block(indent + 1, loop, depth)

    def else_of_loop(self, indent: int, loop: bool, depth: int) -> None:
        if self.rng.random() < 0.3:
            self.line(indent, "else:")
            self.block(indent + 1, loop, depth)

    def while_(self, indent: int, loop: bool, depth: int) -> None:
        if self.rng.random() < 0.3:
            # Ends when the program has run for long enough.
            self.line(indent, "while True:")
            self.line(indent + 1, "if not test():")
            self.line(indent + 2, "break")
        else:
            self.line(indent, f"while test() and {self.value(1)}:")
        self.block(indent + 1, True, depth)
        self.else_of_loop(indent, loop, depth)

    def for_(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, f"for {self.name()} in items():")
        self.block(indent + 1, True, depth)
        self.else_of_loop(indent, loop, depth)

    def try_(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, "try:")
        self.block(indent + 1, loop, depth)
        handlers = self.rng.randint(0, 2)
        for _ in range(handlers):
            caught = self.rng.choice(("First", "Second", "Exception", "(First, Second)"))
            bound = f" as {self.name()}" if self.rng.random() < 0.4 else ""
            self.line(indent, f"except {caught}{bound}:")
            self.block(indent + 1, loop, depth)
        if handlers and self.rng.random() < 0.3:
            self.line(indent, "else:")
            self.block(indent + 1, loop, depth)
        if not handlers or self.rng.random() < 0.5:
            self.line(indent, "finally:")
            self.block(indent + 1, loop, depth)

    def with_(self, indent: int, loop: bool, depth: int) -> None:
        items = []
        for _ in range(self.rng.randint(1, 2)):
            items.append("manager()" + (f" as {self.name()}" if self.rng.random() < 0.6 else ""))
        self.line(indent, f"with {', '.join(items)}:")
        self.block(indent + 1, loop, depth)

    def match(self, indent: int, loop: bool, depth: int) -> None:
        self.line(indent, "match subject():")
        one, other = self.rng.sample(NAMES, 2)
        for pattern in (f"[{one}, *{other}]", "0 | 1", f"{{'k': {one}}}", f"int({one}) as {other}", self.name()):
            if self.rng.random() < 0.5:
                continue
            guard = f" if {self.condition()}" if self.rng.random() < 0.4 or pattern in NAMES else ""
            self.line(indent + 1, f"case {pattern}{guard}:")
            self.block(indent + 2, loop, depth)
        self.line(indent + 1, "case _:")
        self.block(indent + 2, loop, depth)


def write_program(seed: int) -> str:
    """A function `f` of two parameters; all its variables are in NAMES, those of closures aside."""
    writer = _Writer(random.Random(seed))
    writer.line(0, f"def f({', '.join(PARAMETERS)}):")
    # So that every name is a variable of the function.
    writer.line(1, "if test():")
    writer.line(2, " = ".join((*NAMES[2:], "0")))
    for _ in range(writer.rng.randint(2, 6)):
        writer.statement(1, False, 0)
    writer.line(1, f"return {writer.value()}")
    return "\n".join(writer.lines) + "\n"


def _place(node: ast.AST) -> str:
    return f"{node.lineno}:{node.col_offset}"  # type: ignore[attr-defined]


class _Instrument(ast.NodeTransformer):
    """Puts a call before everything that the recorder wants to know of."""

    def __init__(self) -> None:
        self.in_closure = False

    def call(self, function: str, *arguments: object) -> ast.Call:
        constants: list[ast.expr] = [ast.Constant(argument) for argument in arguments]
        return ast.Call(ast.Name(function, ast.Load()), constants, [])

    def then(self, first: ast.expr, value: ast.expr) -> ast.expr:
        return ast.Subscript(ast.Tuple([first, value], ast.Load()), ast.Constant(1), ast.Load())

    def event(self, kind: str, node: ast.AST, name: str) -> ast.Call:
        return self.call("_event", kind, _place(node), name, self.in_closure)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in NAMES or not isinstance(node.ctx, ast.Load):
            return node
        return self.then(self.event("read", node, node.id), node)

    def with_writes(self, value: ast.expr, *nodes: tuple[ast.AST, str]) -> ast.expr:
        """The value, then the events of what is about to be bound to it."""
        events: list[ast.expr] = [self.event("write", node, name) for node, name in nodes]
        return ast.Subscript(ast.Tuple([value, *events], ast.Load()), ast.Constant(0), ast.Load())

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.with_writes(self.visit(node.value), (node.target, node.target.id))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        outside, self.in_closure = self.in_closure, True
        node.body = self.visit(node.body)
        self.in_closure = outside
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        everything = isinstance(node.func, ast.Name) and node.func.id == "locals"
        self.generic_visit(node)
        return self.then(self.call("_reads_all", _place(node), self.in_closure), node) if everything else node

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            place = _place(statement)
            out.append(ast.Expr(self.call("_statement", "begin", place, self.in_closure)))
            out.extend(self.statement(statement))
            if not isinstance(statement, ast.Return | ast.Break | ast.Continue | ast.Raise):
                out.append(ast.Expr(self.call("_statement", "done", place, self.in_closure)))
        return out

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign():
                targets = [t for target in node.targets for t in getattr(target, "elts", [target])]
                names = [(target, target.id) for target in targets if isinstance(target, ast.Name)]
                node.value = self.with_writes(self.visit(node.value), *names)
            case ast.AugAssign(target=ast.Name(id=name) as target):
                read = self.then(self.event("read", target, name), ast.Name(name, ast.Load()))
                value = ast.BinOp(read, node.op, self.visit(node.value))
                return [ast.Assign([target], self.with_writes(value, (target, name)))]
            case ast.Delete(targets=[ast.Name(id=name) as target]):
                use = ast.Expr(self.then(self.event("read", target, name), ast.Name(name, ast.Load())))
                return [use, ast.Expr(self.event("delete", target, name)), node]
            case ast.FunctionDef():
                outside, self.in_closure = self.in_closure, True
                body = node.body[:1] if isinstance(node.body[0], ast.Nonlocal) else []
                rest = node.body[len(body) :]
                node.body = [*body, *(part for statement in rest for part in self.statement(statement))]
                self.in_closure = outside
            case ast.If() | ast.While():
                node.test = self.visit(node.test)
                node.body = self.statements(node.body)
                match node.orelse:
                    # An `elif` is no statement of its own.
                    case [ast.If(col_offset=column) as clause] if column == node.col_offset:
                        node.orelse = self.statement(clause)
                    case _:
                        node.orelse = self.statements(node.orelse)
            case ast.For(target=ast.Name(id=name) as target):
                node.iter = ast.Call(
                    ast.Name("_items", ast.Load()),
                    [self.visit(node.iter), ast.Constant(_place(target)), ast.Constant(name)],
                    [],
                )
                node.body = self.statements(node.body)
                node.orelse = self.statements(node.orelse)
            case ast.With():
                for item in node.items:
                    if isinstance(item.optional_vars, ast.Name):
                        target = item.optional_vars
                        assert isinstance(item.context_expr, ast.Call)
                        item.context_expr.args = [ast.Constant(_place(target)), ast.Constant(target.id)]
                node.body = self.statements(node.body)
            case ast.Try():
                self.try_statement(node)
            case ast.Match():
                self.match_statement(node)
            case _:
                self.generic_visit(node)
        return [node]

    def try_statement(self, node: ast.Try) -> None:
        node.body = self.statements(node.body)
        for handler in node.handlers:
            body = self.statements(handler.body)
            if handler.name:
                write = ast.Expr(self.event("write", handler, handler.name))
                delete = ast.Expr(self.event("delete", handler, handler.name))
                body = [write, ast.Try(body, [], [], [delete])]
            handler.body = body
        node.orelse = self.statements(node.orelse)
        node.finalbody = self.statements(node.finalbody)

    def match_statement(self, node: ast.Match) -> None:
        for case in node.cases:
            events: list[ast.expr] = []
            for part in ast.walk(case.pattern):
                name = part.name if isinstance(part, ast.MatchAs | ast.MatchStar) else None
                if name:
                    events.append(self.event("write", part, name))
            if events:
                guard = self.visit(case.guard) if case.guard else ast.Constant(True)
                case.guard = ast.Subscript(ast.Tuple([*events, guard], ast.Load()), ast.Constant(-1), ast.Load())
            elif case.guard:
                case.guard = self.visit(case.guard)
            case.body = self.statements(case.body)


class Recorder:
    """Runs one program, as often as one likes."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = _Instrument().statements(function.body)
        self._code = compile(ast.fix_missing_locations(tree), "<program>", "exec")

    def run(self, seed: int) -> list[Event]:
        """The events of one run; exceptions that leave the function are part of it."""
        rng = random.Random(seed)
        events: list[Event] = []

        def test() -> bool:
            return len(events) < _MOST_EVENTS and rng.random() < 0.6

        def may_raise(value: object) -> object:
            if rng.random() < 0.3:
                raise rng.choice((First, Second))
            return value

        def items() -> list[int]:
            return [0, 1, 2][: rng.randrange(4)] if test() else []

        def record_items(values: list[int], place: str, name: str) -> Iterator[int]:
            for value in values:
                if rng.random() < 0.1:
                    raise First
                events.append(Event("write", place, name))
                yield value

        class Manager:
            def __init__(self, place: str = "", name: str = "") -> None:
                self.place, self.name = place, name

            def __enter__(self) -> int:
                may_raise(0)
                if self.name:
                    events.append(Event("write", self.place, self.name))
                return 1

            def __exit__(self, *error: object) -> bool:
                may_raise(0)
                return rng.random() < 0.5

        def subject() -> object:
            return rng.choice(([1, 2, 3], [], 0, 1, 7, {"k": 5}, "other"))

        def call(function: object) -> object:
            return function() if callable(function) else function

        def reads_all(place: str, in_closure: bool) -> None:
            for name in NAMES:
                events.append(Event("peek", place, name, in_closure))

        names = {
            "test": test,
            "may_raise": may_raise,
            "items": items,
            "manager": Manager,
            "subject": subject,
            "call": call,
            "First": First,
            "Second": Second,
            "_event": lambda *parts: events.append(Event(*parts)),
            "_statement": lambda kind, place, in_closure: events.append(Event(kind, place, "", in_closure)),
            "_reads_all": reads_all,
            "_items": record_items,
        }
        exec(self._code, names)
        try:
            names["f"](1, 2)  # type: ignore[operator]
        except Exception:
            pass
        return events

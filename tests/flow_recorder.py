"""What really happens when a program of flow_programs.py runs. In: its text, a seed for its path. Out: events in order.

The program is compiled with a call before every read, write, delete and statement.
"""

from __future__ import annotations

import ast
import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass

from flow_programs import NAMES

_MOST_EVENTS = 4000


@dataclass(frozen=True, slots=True)
class Event:
    """`kind`: read, write, delete, peek (by `locals`) of `name`; begin, done of a statement. `place`: "line:column"."""

    kind: str
    place: str
    name: str = ""
    in_closure: bool = False


class FirstError(Exception):
    pass


class SecondError(Exception):
    pass


def _place(node: ast.AST) -> str:
    return f"{node.lineno}:{node.col_offset}"  # type: ignore[attr-defined]


class _Instrument(ast.NodeTransformer):
    """Puts a call before everything that the recorder wants to know of."""

    def __init__(self) -> None:
        self.in_closure = False

    def call(self, function: str, *arguments: str | bool) -> ast.Call:
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
                raise rng.choice((FirstError, SecondError))
            return value

        def items() -> list[int]:
            return [0, 1, 2][: rng.randrange(4)] if test() else []

        def record_items(values: list[int], place: str, name: str) -> Iterator[int]:
            for value in values:
                if rng.random() < 0.1:
                    raise FirstError
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
            "FirstError": FirstError,
            "SecondError": SecondError,
            "_event": lambda *parts: events.append(Event(*parts)),
            "_statement": lambda kind, place, in_closure: events.append(Event(kind, place, "", in_closure)),
            "_reads_all": reads_all,
            "_items": record_items,
        }
        exec(self._code, names)
        with contextlib.suppress(Exception):
            names["f"](1, 2)  # type: ignore[operator]
        return events

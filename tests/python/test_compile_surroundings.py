"""What changes around a compiled call, and what it meets: limits, levels, switches, odd memory, transformations."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, observe, same_program

from graphmend._mending import talkers
from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("subject.levels")


def sized(x: Any) -> Any:
    print("size", x.shape[0])
    if x.sum() > 1000:
        raise ValueError("large")
    return x + 1


def changes(x: Any) -> Any:
    x.add_(1)
    print("sum", x.sum().item(), x.stride())
    if x.sum() > 1000:
        raise ValueError("large")
    return x * 2


def test_more_shapes_than_the_recompile_limit() -> None:
    calls = [(torch.ones(size),) for size in range(2, 14)]
    same_program(sized, [*calls, (torch.full((3,), 1000.0),)], __file__, frames=False, dynamic=False)


def test_the_recompile_limit_is_an_error_where_it_is_one() -> None:
    def failed_at(compiled: Any) -> tuple[str, int]:
        for size in range(2, 20):
            try:
                compiled(torch.ones(size))
            except Exception as error:
                return type(error).__name__, size
        return "", 0

    plain = failed_at(torch.compile(lambda x: x + 1, backend="eager", dynamic=False, fullgraph=True))
    assert failed_at(mended_compile(sized, backend="eager", dynamic=False, fullgraph=True)) == plain
    assert plain[1] > 2


def logs(x: Any) -> Any:
    logger.info("info %s", x.sum().item())
    logger.debug("debug")
    return x + 1


def test_levels_that_change_later() -> None:
    def run(call: Any) -> list[str]:
        told: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
        logger.addHandler(handler)
        try:
            for level in (logging.WARNING, logging.INFO, logging.DEBUG, logging.WARNING, logging.DEBUG):
                logger.setLevel(level)
                call(torch.ones(2))
                told.append("-")
            for off in (True, False):
                logger.disabled = off
                call(torch.ones(2))
            for limit in (logging.INFO, logging.NOTSET):
                logging.disable(limit)
                call(torch.ones(2))
        finally:
            logger.removeHandler(handler)
            logger.disabled = False
            logging.disable(logging.NOTSET)
        return told

    expected = run(logs)
    compiled = mended_compile(logs, backend="eager", fullgraph=True)
    assert run(compiled) == expected and expected.count("debug") == 4
    assert compiled.report.whole


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_inputs_with_gaps_and_other_orders(backend: str) -> None:
    base = torch.zeros(4, 6)
    views = (base[:, ::2], base[:, 1::2]) if backend == "inductor" else (base[:, ::2], base.t(), base[1:], base)
    calls = [(view,) for view in views]
    compiled = same_program(changes, calls, __file__, backend=backend)
    assert compiled.report.misses == 0


def test_an_input_that_overlaps_itself() -> None:
    same_program(changes, [(torch.zeros(1).expand(3),), (torch.zeros(3),)], __file__)


def test_errors_of_the_compiler_can_be_suppressed() -> None:
    def backend(graph: Any, inputs: Any) -> Any:
        raise RuntimeError("no compiler")

    with torch._dynamo.config.patch(suppress_errors=True):
        compiled = mended_compile(sized, backend=backend)
        for x in (torch.ones(3), torch.full((3,), 1000.0)):
            seen = observe(compiled, (x,), __file__)
            assert (seen.printed, seen.error and seen.error[:2]) == observe_briefly(x)


def observe_briefly(x: Any) -> tuple[str, Any]:
    seen = observe(sized, (x,), __file__)
    return seen.printed, seen.error and seen.error[:2]


def test_nothing_is_kept_alive() -> None:
    class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def forward(self, x: Any) -> Any:
            return sized(x)

    model = Model()
    compiled = mended_compile(model, backend="eager", fullgraph=True)
    x, bad = torch.ones(3), torch.full((3,), 1000.0)
    y = compiled(x)
    with pytest.raises(ValueError, match="large"):
        compiled(bad)
    watched = [weakref.ref(each) for each in (model, x, bad, y)]
    del model, compiled, x, bad, y
    gc.collect()
    assert [reference() for reference in watched] == [None] * 4


AROUND: dict[str, Callable[[Any], Any]] = {
    "grad": lambda function: torch.func.grad(lambda x: function(x).sum()),
    "vmap": torch.vmap,
    "jacrev": torch.func.jacrev,
    "no_grad": torch.no_grad(),
}


@pytest.mark.parametrize("name", AROUND)
def test_transformations_around_a_compiled_function(name: str) -> None:
    def talks(x: Any) -> Any:
        print("talks")
        return x * x

    outcomes = []
    for target in (talks, torch.compile(talks, backend="eager"), mended_compile(talks, backend="eager")):
        outcomes.append(observe(AROUND[name](target), (torch.ones(3, 2),), __file__))
    # Where Dynamo refuses what eager does, so may we.
    assert outcomes[2] in outcomes[:2], "\n".join(differences(outcomes[0], outcomes[2]))


SWITCHED = """
    import torch
    import graphmend._mending.compile as graphmend

    told = []

    @graphmend.effect
    def tell(text, value):
        told.append((text, value.sum().item()))

    def talk(x):
        print("talk", x.sum().item())
        tell("told", x)
        if x.sum() > 100:
            raise ValueError("large")
        return x + 1

    code = talk.__code__
    graphs = []
    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = graphmend.compile(talk, backend=backend, fullgraph=True)
    other = graphmend.compile(talk, backend=backend)
    for function in (compiled, other):
        function(torch.ones(2))
        assert function.report.whole
    assert told == [("told", 2.0)] * 2, told
    assert len(graphs) == 2
    assert graphmend.disable() == 3
    assert talk.__code__ is code
    other(torch.ones(2))
    assert len(graphs) > 3, "it was compiled anew, with its breaks"
    late = graphmend.compile(talk, backend="eager")
    late(torch.ones(2))
    assert not hasattr(late, "report")
    try:
        compiled(torch.ones(2))
    except torch._dynamo.exc.Unsupported:
        print("breaks again")
    assert len(told) == 4
"""


def test_the_kill_switch_and_declared_effects(tmp_path: Path) -> None:
    (tmp_path / "switched.py").write_text(textwrap.dedent(SWITCHED))
    command = [sys.executable, "switched.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "talk 2.0\n" * 4 + "breaks again\n"


def test_a_handler_of_logs_behind_a_break_that_is_left() -> None:
    """Its frames are Dynamo's business: a generator in it, and the record's place, stay what they are."""
    seen = []

    def countdown(n: int) -> Any:
        while n:
            yield n
            n -= 1

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append((record.filename, record.lineno, list(countdown(2))))

    def step(x: Any) -> Any:
        y = x * 2
        logger.error("now %s", y)
        y.mul_(3)
        return y

    logger = logging.getLogger("subject.behind")
    handler = Keep()
    logger.addHandler(handler)
    try:
        step(torch.ones(3, requires_grad=True))
        compiled = mended_compile(step, backend="eager")
        compiled(torch.ones(3, requires_grad=True))
        compiled(torch.ones(3, requires_grad=True))
    finally:
        logger.removeHandler(handler)
    assert compiled.report.left
    assert seen == [seen[0]] * 3 and seen[0][0] == "test_compile_surroundings.py"


class Remembers(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.history: list[float] = []

    def forward(self, x: Any) -> Any:
        self.history.append(x.sum().item())
        return x * 2


def test_a_function_that_runs_in_eager_is_told_of() -> None:
    limit = torch._dynamo.config.recompile_limit
    compiled = same_program(Remembers(), [(torch.ones(2),)] * (limit + 3), __file__)
    (left,) = compiled.report.left
    assert (left.gb_type, left.function) == ("Dynamo recompile limit exceeded", "forward")
    assert not compiled.report.whole


class Stays:
    def __str__(self) -> str:
        return "stays"


def test_numbers_that_are_formatted_between_breaks_that_are_left() -> None:
    def says(x: Any) -> Any:
        print(x.tolist(), f"at {x.mean().item():{6}.{2}} {x.max().item():.3f}", *[Stays()])
        return x * 2

    same_program(says, [(torch.arange(4.0) / n,) for n in range(1, 6)], __file__)


def test_names_of_the_module_go_while_they_are_read() -> None:
    """Dynamo takes names out of a module's globals when compiled code is collected, and that may be at any time."""

    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    def go(i: int) -> None:
        if space.pop(f"name_{i}", None) is not None:
            weakref.finalize(Cycle(), go, i + 1)

    space: dict[str, Any] = {f"name_{i}": i for i in range(10000)} | {"logging": logging}
    before = gc.get_threshold()
    gc.set_threshold(10)
    go(0)
    try:
        names = talkers.names_in(space)
    finally:
        gc.set_threshold(*before)
    assert "logging.info" in names and "name_2" not in space
    space.clear()

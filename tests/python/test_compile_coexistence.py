"""Generators, coroutines, torch.jit, torch.export, torch.fx, plain torch.compile, pytest: they get what they got."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import observe, same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.arange(6.0).reshape(2, 3)


def counts(x: Any) -> Any:
    for i in range(3):
        print("yield", i, x.sum().item())
        if x.max() > 100:
            raise ValueError("large")
        yield x + i


def uses_a_generator(x: Any) -> Any:
    total = x * 0
    for value in counts(x):
        total = total + value
        print("total", total.sum().item())
    return total


def test_generators() -> None:
    same_program(uses_a_generator, [(X,), (X * 100,), (X,)], __file__, frames=False)
    results = [[value.tolist() for value in make(X)] for make in (counts, mended_compile(counts, backend="eager"))]
    assert results[0] == results[1]


async def waits(x: Any) -> Any:
    print("before", x.sum().item())
    await asyncio.sleep(0)
    if x.max() > 100:
        raise ValueError("large")
    return x + 1


def runs_a_coroutine(x: Any) -> Any:
    print("runs")
    return asyncio.run(waits(x * 2))


@pytest.mark.parametrize("target", [waits, runs_a_coroutine])
def test_coroutines(target: Any) -> None:
    def outcomes(make: Any) -> list[Any]:
        torch._dynamo.reset()
        compiled = make(target, backend="eager")
        results: list[Any] = []
        for x in (X, X * 100, X):
            try:
                result = compiled(x)
                results.append((asyncio.run(result) if asyncio.iscoroutine(result) else result).tolist())
            except Exception as error:
                results.append((type(error), str(error).splitlines()[0]))
        return results

    assert outcomes(mended_compile) == outcomes(torch.compile)


def scriptable(x: torch.Tensor) -> torch.Tensor:
    print("sum")
    if bool(x.max() > 100):
        raise ValueError("large")
    return x + 1


def test_script_and_trace() -> None:
    code = scriptable.__code__
    compiled = same_program(scriptable, [(X,), (X * 100,), (X,)], __file__, frames=False)
    assert scriptable.__code__ is code
    scripted = torch.jit.script(scriptable)
    assert torch.equal(scripted(X), X + 1) and "ValueError" in scripted.code
    traced = torch.jit.trace(torch.nn.Linear(3, 3), X)

    def calls_both(x: Any) -> Any:
        print("both", x.sum().item())
        return scripted(traced(x) * 0 + x)

    same_program(calls_both, [(X,), (X,)], __file__, frames=False)
    assert torch.equal(compiled(X), X + 1)
    # And functions made by torch.jit are compiled as torch does it.
    for make in (torch.compile, mended_compile):
        torch._dynamo.reset()
        assert torch.equal(make(scripted, backend="eager")(X), X + 1)


def test_functions_of_numbas_are_left_alone() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit  # type: ignore[untyped-decorator,unused-ignore]
    def total(values: Any) -> Any:
        found = 0.0
        for value in values:
            if value > 1:
                found += value
        return found

    def scaled(x: Any) -> Any:
        print("scaled", x.sum())
        return x * total(x.numpy())

    row, code = X[1], total.py_func.__code__
    same_program(scaled, [(row,), (row * 2,), (row,)], __file__, frames=False)
    assert total.py_func.__code__ is code and len(total.signatures) == 1
    # And one that is compiled itself.
    for make in (torch.compile, mended_compile):
        torch._dynamo.reset()
        assert make(total, backend="eager")(row.numpy()) == total(row.numpy())


class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        print("called")
        return torch.relu(y)


def nodes(graph: Any) -> list[tuple[str, str]]:
    return [(node.op, str(node.target)) for node in graph.nodes]


def test_export_and_fx_get_what_they_got() -> None:
    model = Model()
    before = nodes(torch.fx.symbolic_trace(model).graph)
    exported = nodes(torch.export.export(model, (X,), strict=False).graph)
    strict = strict_export(model)
    compiled = mended_compile(model, backend="eager", fullgraph=True)
    compiled(X)
    assert compiled.report.whole
    assert nodes(torch.fx.symbolic_trace(model).graph) == before
    assert nodes(torch.export.export(model, (X,), strict=False).graph) == exported
    assert strict_export(model) == strict
    assert torch.equal(compiled(X), model(X))


def strict_export(model: Any) -> Any:
    try:
        return nodes(torch.export.export(model, (X,), strict=True).graph)
    except Exception as error:
        return type(error).__name__


def test_plain_torch_compile_of_the_same_functions() -> None:
    """Breaks are there for those who did not ask for mends; and neither disturbs the other."""

    def breaks(model: Any) -> int:
        torch._dynamo.utils.counters.clear()
        graphs = 0

        def backend(graph: Any, inputs: Any) -> Any:
            nonlocal graphs
            graphs += 1
            return graph.forward

        torch.compile(model, backend=backend)(X)
        return graphs

    one, other = Model(), Model()
    count = breaks(one)
    torch._dynamo.reset()
    compiled = mended_compile(other, backend="eager", fullgraph=True)
    assert observe(compiled, (X,), __file__).printed == "called\n"
    assert breaks(Model()) == count == 2
    plain = torch.compile(other, backend="eager")
    for target in (plain, compiled, plain, compiled, other):
        seen = observe(target, (X,), __file__)
        assert (seen.printed, seen.error) == ("called\n", None)
    assert compiled.report.graphs == 1


def test_a_test_module_of_pytests(tmp_path: Path) -> None:
    """pytest rewrites `assert`: functions without one are mended, the others left with the reason."""
    (tmp_path / "test_subject.py").write_text(
        textwrap.dedent("""
            import torch
            from graphmend._mending.compile import compile

            def talks(x):
                print("sum", x.sum().item())
                return x + 1

            def asserts(x):
                print("sum", x.sum().item())
                assert x.shape[0] == 2, "rows"
                return x + 1

            def test_both(capsys):
                for function in (talks, asserts):
                    compiled = compile(function, backend="eager")
                    assert compiled(torch.ones(2)).tolist() == [2, 2]
                    assert capsys.readouterr().out == "sum 2.0\\n"
                    if function is talks:
                        assert compiled.report.whole
                    else:
                        assert "another tool rewrote it" in compiled.report.left[0].reason
                try:
                    compiled(torch.ones(3))
                except AssertionError as error:
                    assert "rows" in str(error) and "3 == 2" in str(error)
                else:
                    raise SystemError
        """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_subject.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

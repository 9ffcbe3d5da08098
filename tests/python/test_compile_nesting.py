"""Compiled calls inside of each other, from inside of their own effects, and from several threads at once."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, observe, same_program

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

logger = logging.getLogger("subject")
GOOD, BAD = torch.ones(3), torch.full((3,), 1000.0)


class Inner(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count += 1
        print("inner", x.sum().item())
        if x.max() > 100:
            raise ValueError("inner is too large")
        return x * 2


class Outer(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count += 1
        print("outer begins", x.sum().item())
        y = self.inner(x) + 1
        print("outer ends", y.sum().item())
        if y.min() < -100:
            raise ValueError("outer is too small")
        return y


@pytest.mark.parametrize("inner_is_mended", [True, False], ids=["mended", "plain"])
@pytest.mark.parametrize("outer_is_mended", [True, False], ids=["in_mended", "in_plain"])
def test_a_compiled_module_in_a_compiled_module(inner_is_mended: bool, outer_is_mended: bool) -> None:
    def make(is_mended: bool, module: Any) -> Any:
        return (mended_compile if is_mended else torch.compile)(module, backend="eager")

    original, inner = Outer(Inner()), Inner()
    twin = Outer(make(inner_is_mended, inner))
    compiled = make(outer_is_mended, twin)
    for x in (GOOD, BAD, -BAD, GOOD):
        expected = observe(original, (x,), __file__)
        seen = observe(compiled, (x,), __file__)
        # Where a break is left, frames have Dynamo's names.
        seen.error, expected.error = (error and error[:2] for error in (seen.error, expected.error))
        assert not differences(expected, seen)
        assert torch.equal(original.inner.count, inner.count) and torch.equal(original.count, twin.count)


def test_a_compiled_function_called_by_one() -> None:
    @mended_compile(backend="eager", fullgraph=True)  # type: ignore[untyped-decorator,unused-ignore]
    def low(x: Any) -> Any:
        print("low", x.sum().item())
        if x.max() > 100:
            raise ValueError("large")
        return x + 1

    def high(x: Any) -> Any:
        print("high")
        y = low(x) * 2
        print("done", y.sum().item())
        return y

    eager = high.__code__
    compiled = mended_compile(high, backend="eager")
    texts = []
    for target in (high, compiled):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            target(GOOD)
            with pytest.raises(ValueError, match="large"):
                target(BAD)
        texts.append(out.getvalue())
    assert texts[0] == texts[1] == "high\nlow 3.0\ndone 12.0\nhigh\nlow 3000.0\n"
    assert high.__code__ is eager


class Calling(logging.Handler):
    """A handler that uses the compiled model while it is told something."""

    def __init__(self) -> None:
        super().__init__()
        self.model: Any = None
        self.depth = 0
        self.results: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.results.append((record.getMessage(), self.depth))
        if self.depth < 2:
            self.depth += 1
            self.results.append(self.model(torch.full((3,), float(self.depth))).tolist())
            self.depth -= 1


class Logs(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Any) -> Any:
        y = x * self.scale
        logger.warning("sum %s", y.sum().item())
        if y.max() > 100:
            raise ValueError("large")
        return y + 1


def test_a_log_handler_that_calls_the_compiled_model() -> None:
    outcomes = []
    makes: list[Callable[[Any], Any]] = [lambda model: model, lambda model: mended_compile(model, backend="eager")]
    for make in makes:
        handler = Calling()
        handler.model = make(Logs())
        logger.addHandler(handler)
        try:
            for x in (GOOD, GOOD * 3):
                handler.results.append(handler.model(x).tolist())
            with pytest.raises(ValueError, match="large"):
                handler.model(BAD)
        finally:
            logger.removeHandler(handler)
        outcomes.append(handler.results)
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) == 2 * 6 + 5


def test_a_stream_that_calls_the_compiled_model() -> None:
    class Stream(io.StringIO):
        busy = False

        def write(self, text: str) -> int:
            if not self.busy:
                self.busy = True
                results.append(target(GOOD * 2).tolist())
                self.busy = False
            return super().write(text)

    def talks(x: Any) -> Any:
        print("sum", x.sum().item())
        return x + 1

    outcomes = []
    for target in (talks, mended_compile(talks, backend="eager", fullgraph=True)):
        results: list[Any] = []
        with contextlib.redirect_stdout(Stream()) as out:
            results.append(target(GOOD).tolist())
        outcomes.append((out.getvalue(), results))
    assert outcomes[0] == outcomes[1]


def recursive(x: Any, depth: int) -> Any:
    print("depth", depth)
    if x.max() > 100:
        raise ValueError("large", depth)
    return recursive(x * 5, depth - 1) + 1 if depth else x


def test_recursion() -> None:
    same_program(recursive, [(GOOD, 2), (GOOD * 10, 2), (GOOD, 3)], __file__)


THREADS, ROUNDS = 4, 12


def together(work: Any) -> list[BaseException]:
    """Runs `work(number)` in several threads at once; what they raised."""
    raised: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            start.wait(30)
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return raised


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append((record.thread or 0, record.getMessage()))


@pytest.mark.parametrize("shared", [True, False], ids=["one_model", "a_model_each"])
def test_threads(shared: bool) -> None:
    one = mended_compile(Logs(), backend="eager", fullgraph=True)
    models = [one if shared else mended_compile(Logs(), backend="eager", fullgraph=True) for _ in range(THREADS)]
    handler = Records()
    logger.addHandler(handler)

    def work(number: int) -> None:
        for i in range(ROUNDS):
            x = torch.full((3,), float(number * ROUNDS + i) / 10)
            assert models[number](x).tolist() == (x * 2 + 1).tolist()
            with pytest.raises(ValueError, match="large"):
                models[number](x + 1000)

    try:
        assert together(work) == []
    finally:
        logger.removeHandler(handler)
    # Each call has logged once, in its own thread and order.
    by_thread: dict[int, list[str]] = {}
    for thread, message in handler.seen:
        by_thread.setdefault(thread, []).append(message)
    expected = []
    for number in range(THREADS):
        values = [torch.full((3,), float(number * ROUNDS + i) / 10) for i in range(ROUNDS)]
        expected.append([f"sum {(value * 2).sum().item()}" for x in values for value in (x, x + 1000)])
    assert sorted(by_thread.values()) == sorted(expected)


def test_a_thread_in_eager_beside_a_compiled_one() -> None:
    """The functions that were mended for one thread are what they always were for the others."""
    original = Logs()
    compiled = mended_compile(original, backend="eager", fullgraph=True)

    def work(number: int) -> None:
        model = compiled if number % 2 else original
        for i in range(ROUNDS):
            assert model(GOOD * i).tolist() == (GOOD * i * 2 + 1).tolist()

    assert together(work) == []


class RefusedError(Exception):
    pass


class Refusing(io.StringIO):
    """Takes the text of one print, and no more."""

    def write(self, text: str) -> int:
        if text == "twice":
            raise RefusedError(text)
        return super().write(text)


def tells_twice(x: Any) -> Any:
    print("once")
    print("twice")
    return x + 1


@pytest.mark.parametrize("compile_inner", [mended_compile, torch.compile], ids=["graphmend", "torch"])
def test_an_effect_that_raises_inside_of_what_is_compiled_itself(compile_inner: Callable[..., Any]) -> None:
    inner = compile_inner(tells_twice, backend="eager")

    def outer(x: Any) -> Any:
        return inner(x) * 2

    compiled = mended_compile(outer, backend="eager")
    for _ in range(2):
        shown = Refusing()
        with contextlib.redirect_stdout(shown), pytest.raises(RefusedError, match="twice"):
            compiled(torch.ones(2))
        assert shown.getvalue() == "once\n"


def warns_of_its_caller(x: Any) -> Any:
    warnings.warn("one up", stacklevel=2)
    warnings.warn("two up", stacklevel=3)
    return x * 2


class Grumble(UserWarning):
    pass


def grumbles(x: Any) -> Any:
    if x.isnan().any():
        raise ValueError("not a number")
    # Left as it is: the graph cannot carry an object of the program's.
    warnings.warn(Grumble("one up"), stacklevel=2)
    return x * 2


def test_callers_of_a_frame_in_which_a_break_stays() -> None:
    def outer(x: Any) -> Any:
        return grumbles(x) + 1

    line = outer.__code__.co_firstlineno + 1
    compiled = mended_compile(outer, backend="eager")
    for x in (GOOD, GOOD, torch.tensor([float("nan")])):
        with warnings.catch_warnings(record=True) as caught, contextlib.suppress(ValueError):
            warnings.simplefilter("always")
            compiled(x)
        told = [(each.filename, each.lineno) for each in caught]
        assert told == ([(__file__, line)] if x.isfinite().all() else [])


def test_callers_of_a_compiled_function_inside_of_another() -> None:
    inner = mended_compile(warns_of_its_caller, backend="eager")

    def outer(x: Any) -> Any:
        return inner(x) + 1

    compiled = mended_compile(outer, backend="eager")
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(GOOD)
            here = sys._getframe().f_lineno - 1
        told = [(each.filename, each.lineno) for each in caught if "up" in str(each.message)]
        assert told == [(__file__, outer.__code__.co_firstlineno + 1), (__file__, here)]


def makes_a_function(x: Any, seen: list[str]) -> Any:
    with contextlib.redirect_stdout(sys.stderr):
        x = x + 1

    def inner(t: Any, note: Any = seen.append) -> Any:
        if t.sum() > 0.5:
            note("large")
        if t.max() > 100:
            raise ValueError("too large")
        return t * 2

    return inner(x)


def test_functions_that_mended_code_has_made_for_another_compile() -> None:
    # In the second compile, the function's own code is the code that was mended in the first.
    for _ in range(2):
        seen: list[str] = []
        compiled = mended_compile(makes_a_function, backend="eager")
        for value, shape, noted in ((0.5, (3,), 1), (-3.0, (3, 4), 1), (-3.0, (3,), 1), (2.0, (3,), 2), (2.0, (3,), 3)):
            assert torch.equal(compiled(torch.full(shape, value), seen), torch.full(shape, (value + 1) * 2))
            assert seen == ["large"] * noted
        with pytest.raises(ValueError, match="too large"):
            compiled(torch.full((3,), 200.0), seen)

"""A frame that goes on running as written is compiled as plain `torch.compile` does it."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, same_program
from torch._dynamo.variables import TensorVariable

from graphmend._mending.backend import MendedBackend
from graphmend._mending.compile import compile as mended_compile

pytestmark = pytest.mark.filterwarnings("ignore")

# More than the patience with a frame, and some calls on.
_MANY = 64


def test_sizes_that_are_always_one_are_predicted() -> None:
    def chosen(x: Any) -> Any:
        return x[x > 2].squeeze() * 2

    compiled = same_program(chosen, [(torch.tensor([1.0, 2.0, 3.0 + i]),) for i in range(_MANY)], __file__)
    assert 0 < compiled.report.misses < _MANY / 2
    (entry,) = compiled.report.mended
    assert compiled.report.whole and entry.mend == "speculate"


def refuses_more_than_one(x: Any, ids: Any) -> Any:
    if len(torch.unique_consecutive(ids.eq(2).sum(1))) > 1:
        raise ValueError("not as many in each row")
    return x[ids.eq(2)] * 2


def test_sizes_in_a_guard_that_are_always_one_are_predicted() -> None:
    rows = [[[1, 2], [2, 1]], [[2, 2], [2, 1]], [[2, 2], [2, 2]]]
    calls = [(torch.ones(2, 2) * i, torch.tensor(rows[i % 16 == 15 or 2 * (i == 20)])) for i in range(_MANY)]
    compiled = same_program(refuses_more_than_one, calls, __file__)
    assert compiled.report.whole and {entry.mend for entry in compiled.report.mended} == {"speculate"}
    # Those before it is known, four that the guard is for, and those of the prediction of how many there are.
    assert compiled.report.misses < _MANY / 4


def test_of_sizes_that_are_always_one_the_elements_stay_symbols() -> None:
    def at_the_only_one(x: Any, ids: Any) -> Any:
        found = (ids == 2).nonzero()
        if len(found) != 1:
            raise ValueError("not one")
        return x[found[0, 0]] * 2

    calls = [(torch.ones(4) * i, torch.eye(4)[i % 4] * 2) for i in range(_MANY)]
    compiled = same_program(at_the_only_one, calls, __file__)
    assert compiled.report.whole and compiled.report.misses < _MANY / 8
    assert {entry.mend for entry in compiled.report.mended} == {"speculate", "check", "capture"}


class Counts(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def forward(self, x: Any) -> Any:
        x = torch.tanh(x)
        count = int(x.sum() * 1000)
        self.seen += len([x] * (count % 17))
        return x, self.seen


def test_what_comes_behind_a_break_and_is_empty_is_left_to_python() -> None:
    torch.manual_seed(0)
    compiled = mended_compile(Counts(), backend="eager")
    original = Counts()
    for _ in range(24):
        x = torch.randn(4)
        assert compiled(x)[1] == original(x)[1]
    assert "predicted wrongly" in compiled.report.left[0].reason
    # Two with a prediction, and the one in front of the break; what is behind it, without an operation, is Python's.
    assert compiled.report.graphs <= 4


@torch.compiler.disable  # type: ignore[untyped-decorator,unused-ignore]
def told(message: str) -> None:
    pass


def test_what_is_behind_two_breaks_in_succession_is_compiled() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        told("one")
        told("two")
        for _ in range(5):
            y = (y + 1).sin()
        return y

    compiled = mended_compile(program, backend="eager")
    for _ in range(3):
        assert torch.equal(compiled(torch.ones(3)), program(torch.ones(3)))
    assert compiled.report.ops == 11


def is_counted(x: Any) -> Any:
    return torch.stack([x.sum()] * int(x[0]))


def test_dynamo_tells_of_the_program_and_not_of_us(caplog: pytest.LogCaptureFixture) -> None:
    # Dynamo tells of it once in a process.
    TensorVariable._warn_capture_scalar_outputs.cache_clear()
    compiled = mended_compile(is_counted, backend="eager")
    log = logging.getLogger(TensorVariable.__module__)
    log.addHandler(caplog.handler)
    try:
        # Whatever torch's logs are set to.
        with caplog.at_level(logging.WARNING, log.name):
            for i in range(12):
                compiled(torch.tensor([1.0 + i * 7 % 5]))
    finally:
        log.removeHandler(caplog.handler)
    told = [record.getMessage() for record in caplog.records if "capture_scalar_outputs" in record.getMessage()]
    assert compiled.report.left and told
    assert __file__ in told[0] and "_mending" not in told[0]


def test_sizes_that_are_seldom_one_stay_symbols() -> None:
    def chosen(x: Any) -> Any:
        return x[x > 2].squeeze() * 2

    calls = [(torch.tensor([1.0, 2.0, 3.0] if i % 8 == 0 else [4.0, 5.0, i % 5]),) for i in range(_MANY)]
    compiled = same_program(chosen, calls, __file__)
    (entry,) = compiled.report.mended
    assert entry.mend == "capture" and compiled.report.misses == _MANY / 8 and compiled.report.graphs == 1


def caught(x: Any) -> Any:
    try:
        if x.sum() > 0:
            raise ValueError("positive")
    except ValueError as error:
        return x * 2, str(error)
    return x, ""


def test_a_guard_that_always_fires() -> None:
    compiled = same_program(caught, numbers(*range(1, _MANY + 1)), __file__)
    assert 0 < compiled.report.misses < _MANY / 2
    (entry,) = compiled.report.left
    assert not compiled.report.mended and entry.reason == "the frame ran as written in 22 of 22 calls"


def test_a_guard_that_raises_stays_a_check() -> None:
    def guarded(x: Any) -> Any:
        if x.sum() > 5:
            raise ValueError("too much")
        return x * 2

    compiled = same_program(guarded, numbers(*[7] * _MANY), __file__)
    assert compiled.report.whole and compiled.report.misses == _MANY


def test_what_never_holds_is_not_taken_for_granted() -> None:
    def copies(x: Any) -> Any:
        return copy.deepcopy(x) * 2

    parts = [(torch.arange(6.0)[1:4],) for _ in range(_MANY)]
    compiled = same_program(copies, [(torch.arange(3.0),), *parts], __file__)
    assert 0 < compiled.report.misses < _MANY / 2
    (entry,) = compiled.report.left
    assert entry.reason == "the frame ran as written in 22 of 23 calls"


@pytest.mark.skipif(not hasattr(torch._dynamo.config, "trace_autograd_ops"), reason="needs a newer torch")
def test_gradients_that_somebody_always_waits_for() -> None:
    def taken(x: Any) -> Any:
        (gradient,) = torch.autograd.grad((x * x).sum(), x)
        return gradient * 2

    compiled = mended_compile(taken, backend="eager")
    for _ in range(_MANY):
        x = torch.arange(3.0).requires_grad_()
        x.register_hook(lambda gradient: gradient * 10)
        assert compiled(x).tolist() == [0.0, 40.0, 80.0]
    assert 0 < compiled.report.misses < _MANY / 2
    (entry,) = compiled.report.left
    assert not compiled.report.mended and entry.reason == "the frame ran as written in 22 of 22 calls"


def test_where_no_graph_may_break_the_function_runs_as_it_is_written() -> None:
    def spelled(x: Any) -> Any:
        return x + len(str(x[0].item()))

    compiled = same_program(spelled, numbers(*(float(i) for i in range(_MANY))), __file__, fullgraph=True)
    assert compiled.report.whole and compiled.report.graphs <= 6
    (entry,) = compiled.report.mended
    # The graphs that there are do not run for ever.
    assert entry.hits[1] < _MANY / 2 < compiled.report.misses


def test_where_no_graph_may_break_other_shapes_are_no_exception() -> None:
    def spelled(x: Any) -> Any:
        return x + len(str(x[0].item()))

    calls = [(torch.full((2 + i % 3,), float(i)),) for i in range(_MANY)]
    compiled = same_program(spelled, calls, __file__, fullgraph=True, dynamic=False)
    assert compiled.report.whole and compiled.report.misses > _MANY / 2


def test_where_no_graph_may_break_a_value_among_few_is_predicted() -> None:
    def spelled(x: Any) -> Any:
        return x + len(str(x[0].item()))

    compiled = same_program(spelled, numbers(*([1.0, 22.0] * (_MANY // 2))), __file__, fullgraph=True)
    assert compiled.report.whole and compiled.report.graphs <= 3
    assert compiled.report.misses < _MANY / 4


def test_where_no_graph_may_break_a_guard_may_fire_always() -> None:
    calls = numbers(-1, *range(1, _MANY + 1))
    compiled = same_program(caught, calls, __file__, fullgraph=True)
    assert compiled.report.whole and compiled.report.misses == _MANY


def test_where_no_graph_may_break_values_of_other_types_are_their_own() -> None:
    def spelled(x: Any) -> Any:
        n = x[0].item()
        return x * 0 + len(str(n)), n

    calls = [(torch.tensor([i + 0.5, 1.0]),) for i in range(40)]
    calls += [(torch.tensor([0, 1]),), (torch.tensor([True, False]),), (torch.tensor([0.1, 1.0], dtype=torch.float64),)]
    same_program(spelled, [*calls, *calls[-3:]], __file__, fullgraph=True)


def test_where_no_graph_may_break_there_may_be_more_values_than_before() -> None:
    def spelled(x: Any) -> Any:
        return x * 0 + len(str(x.tolist()))

    calls = [(torch.tensor([i + 0.5, 1.0]),) for i in range(40)] + [
        (torch.tensor([i + 0.5, 1.0, 2.0]),) for i in range(4)
    ]
    same_program(spelled, calls, __file__, fullgraph=True)


def test_where_no_graph_may_break_a_first_input_may_be_bad() -> None:
    def guarded(x: Any) -> Any:
        try:
            if x.sum() > 5:
                raise ValueError("large")
            return x * len(str(x[x.long()].sum().item()))
        except ValueError as error:
            return x, str(error)

    calls = [(torch.tensor(row),) for row in ([9.0, 1.0], [1.0, 2.0], [0.0, 2.0], [7.0, 1.0])]
    same_program(guarded, calls, __file__, fullgraph=True)


def test_what_was_given_up_in_one_frame_is_nothing_of_the_next() -> None:
    backend = MendedBackend(lambda graph, inputs: graph, speculates=True, fullgraph=True)
    backend.frame.given_up = backend.frame.fails = True
    backend.begin_frame(caught.__code__, globals())
    assert not backend.frame.given_up and not backend.frame.fails

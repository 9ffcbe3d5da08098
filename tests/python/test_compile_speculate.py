"""Predicted values: a wrong prediction shows nowhere, and how often one may be wrong is bounded."""

from __future__ import annotations

import copy
import functools
import random
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import differences, module_state, numbers, plain, reasons, seed
from compiled_calls import same_program as same_program_as

from graphmend._mending import frame_breaks
from graphmend._mending.compile import compile as graphmend_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

GIVEN_UP = "its value was predicted wrongly too often"


mended_compile = functools.partial(graphmend_compile, speculate=True)
same_program = functools.partial(same_program_as, speculate=True)


@pytest.fixture(autouse=True)
def _no_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are predicted also where a symbol would do, so that programs can be short."""
    monkeypatch.setattr(frame_breaks, "capture_for", lambda place: None)
    monkeypatch.setattr(frame_breaks, "is_read", lambda place: False)


class Counting:
    """A backend that counts what it compiles and how often that runs."""

    def __init__(self) -> None:
        self.graphs = 0
        self.runs = 0

    def __call__(self, graph: Any, inputs: Any) -> Any:
        self.graphs += 1

        def run(*args: Any) -> Any:
            self.runs += 1
            return graph(*args)

        return run


# A wrong prediction is invisible.


class Everything(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Changes all that a call can change, around the value that Python needs."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("total", torch.zeros(3))
        self.steps = 0
        self.table: dict[str, Any] = {"count": 0}
        self.last: Any = None

    def forward(self, x: Any, given: list[Any]) -> Any:
        self.steps += 1
        print("begin", self.steps)
        y = self.linear(x * 2)
        count = int(x.max().item())
        self.table["count"] = count
        self.total += x.sum(0)
        x.mul_(count)
        given.append(count)
        print("count", count, x.sum().item())
        noise = torch.rand(3) * random.uniform(0, 1)
        if count > 4:
            raise ValueError("too many", count, self.total.clone())
        self.last = y
        return torch.nn.functional.dropout(y, 0.5) * count + noise


@pytest.mark.parametrize(("backend", "fullgraph"), [("eager", False), ("eager", True), ("aot_eager", False)])
def test_a_wrong_prediction_leaves_what_eager_leaves(backend: str, fullgraph: bool) -> None:
    calls: list[Any] = [(torch.full((2, 3), float(value)), []) for value in (1, 1, 1, 9, 1, 2, 2, 3)]
    compiled = same_program(Everything(), calls, __file__, backend=backend, fullgraph=fullgraph)
    assert compiled.report.whole
    assert compiled.report.misses == 3


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_in_training(backend: str) -> None:
    class Scaled(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(3, 3)
            self.second = torch.nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            y = self.first(x)
            if y.detach().sum() > 0:
                y = self.second(y)
            return y * int(x.detach().max())

    def train(model: Any, call: Any) -> Any:
        seed()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        seen = []
        for value in (1.0, 1.0, 2.0, -2.0, 1.0, 2.0):
            x = torch.full((2, 3), value, requires_grad=True)
            optimizer.zero_grad()
            loss = call(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            seen.append(plain([loss, x, module_state(model)]))
        return seen

    model = Scaled()
    twin = copy.deepcopy(model)
    compiled = mended_compile(twin, backend=backend, fullgraph=True)
    assert differences(train(model, model), train(twin, compiled)) == []
    assert 0 < compiled.report.misses < compiled.report.calls


def test_an_exception_behind_a_wrong_prediction() -> None:
    def pick(x: Any, table: list[float]) -> Any:
        print("pick")
        return x * table[int(x.max())]

    calls = [(*x, [1.0, 2.0, 3.0]) for x in numbers(1, 1, 7, 1, 2)]
    compiled = same_program(pick, calls, __file__)
    assert compiled.report.whole
    assert compiled.report.misses == 2


def test_the_caller_catches_and_goes_on() -> None:
    def inner(x: Any) -> Any:
        if int(x.max()) > 2:
            raise KeyError("large", x.max().item())
        return x + 1

    def outer(x: Any) -> Any:
        try:
            return inner(x)
        except KeyError as error:
            print("caught", error)
            return x - 1

    same_program(outer, numbers(1, 1, 5, 1, 5), __file__)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_graph_that_raises(backend: str) -> None:
    def takes(x: Any, index: Any) -> Any:
        x.add_(1)
        count = int(index.max())
        return x[index].sum() * count + torch.rand(2)

    calls = [(torch.ones(4), torch.tensor([0, value])) for value in (1, 1, 9, 1, 2, 2)]
    compiled = same_program(takes, calls, __file__, backend=backend)
    assert compiled.report.misses >= 2


def test_the_first_call_raises() -> None:
    def takes(x: Any, index: Any) -> Any:
        row = x[index]
        return row * row.max().item()

    calls = [(torch.ones(4), torch.tensor([0, value])) for value in (9, 1, 1)]
    same_program(takes, calls, __file__, frames=False)


# Values that change.


def test_alternating_values() -> None:
    def scaled(x: Any) -> Any:
        return x * x.max().item()

    backend = Counting()
    same_program(scaled, numbers(*[1, 2] * 15), __file__, backend=backend)
    assert backend.graphs <= torch._dynamo.config.recompile_limit
    assert backend.runs >= 15


def test_several_values_of_a_site() -> None:
    def scaled(x: Any) -> Any:
        return x * x.max().item()

    compiled = same_program(scaled, numbers(1, 1, 1, 2, 2, 2, 3, 3, 3, 3), __file__)
    assert compiled.report.whole
    # A value counts when it has come twice in a row.
    assert compiled.report.misses == 4
    assert compiled.report.graphs == 3


def test_values_that_take_turns() -> None:
    def scaled(x: Any) -> Any:
        return x * x.max().item()

    compiled = same_program(scaled, numbers(*[1, 2] * 10), __file__)
    assert compiled.report.whole
    assert compiled.report.misses == 2 and compiled.report.graphs == 2


def test_a_value_that_is_rare() -> None:
    def scaled(x: Any) -> Any:
        return x * x.max().item()

    compiled = same_program(scaled, numbers(*[*[1] * 40, 2] * 6), __file__)
    assert compiled.report.whole
    assert compiled.report.misses == 6 and compiled.report.graphs == 1


def test_a_value_that_is_not_rare_enough() -> None:
    """One in six is wrong: that costs more than a break."""

    def scaled(x: Any) -> Any:
        return x * x.max().item()

    compiled = same_program(scaled, numbers(*[1, 1, 1, 1, 1, 2] * 10), __file__)
    assert compiled.report.left and compiled.report.misses < 10


def test_a_call_that_raises_while_it_is_traced() -> None:
    def scaled(x: Any) -> Any:
        n = int(x.max())
        if n > 4:
            raise ValueError(n)
        return x * n

    for fullgraph in (True, False):
        for values in ((1, 2, 9, 1, 1), (9, 1, 1), (1, 9, 9, 9, 1)):
            torch._dynamo.reset()
            backend = Counting()
            compiled = same_program(scaled, numbers(*values), __file__, fullgraph=fullgraph, backend=backend)
            assert compiled.report.whole
            # The calls after it are compiled.
            before = backend.runs
            compiled(torch.ones(3))
            compiled(torch.ones(3))
            assert backend.runs == before + 2


def test_a_call_that_raises_often_while_it_is_traced() -> None:
    def scaled(x: Any) -> Any:
        y = x + 1
        n = int(x.max())
        if n > 4:
            raise ValueError(n)
        return y * n

    compiled = same_program(scaled, numbers(*[9] * 12, 1, 1), __file__, frames=False)
    assert compiled.report.left


def test_a_site_in_a_loop_and_in_a_helper_called_twice() -> None:
    def largest(x: Any) -> Any:
        return x.max().item()

    def total(rows: Any) -> Any:
        parts = []
        for row in rows:
            parts.append(row * largest(row) + largest(row * 2))
        return torch.stack(parts)

    first, second = torch.eye(3) * 2, torch.arange(9.0).reshape(3, 3)
    calls = [(x.clone(),) for x in (first, first, second, second, first)]
    compiled = same_program(total, calls, __file__)
    assert compiled.report.misses == 2
    (entry,) = compiled.report.mended
    assert entry.mend == "speculate"


def test_a_site_that_goes_on_missing_is_given_up() -> None:
    def scaled(x: Any) -> Any:
        y = x + 1
        return y * x.max().item()

    backend = Counting()
    compiled = same_program(scaled, numbers(*range(1, 31)), __file__, backend=backend)
    assert reasons(compiled) == {GIVEN_UP}
    assert compiled.report.misses < 10
    assert backend.graphs <= torch._dynamo.config.recompile_limit
    # The break is there as in plain `torch.compile`, and what is around it is compiled.
    before = backend.runs
    compiled(torch.ones(3))
    assert backend.runs > before


def test_many_sites_do_not_use_up_the_recompilations() -> None:
    def many(x: Any) -> Any:
        a = x[0].item()
        b = x[1].item()
        c = x[2].item()
        d = x[3].item()
        e = x[4].item()
        f = x[5].item()
        return x * (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f)

    backend = Counting()
    calls = []
    for i in range(24):
        x = torch.zeros(6)
        x[: i % 6 + 1] = float(i // 6 + 1)
        calls.append((x,))
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        compiled = same_program(many, calls, __file__, backend=backend)
        before = backend.runs
        compiled(torch.ones(6))
    assert backend.runs > before


def test_sizes_and_values_change_together() -> None:
    def head(x: Any, count: Any) -> Any:
        y = x[: int(count)]
        return y * x.shape[0] + torch.arange(y.shape[0])

    calls = [
        (torch.ones(size), torch.tensor(count)) for size, count in [(4, 2), (4, 2), (5, 2), (6, 3), (6, 9), (7, 3)]
    ]
    compiled = same_program(head, calls, __file__, dynamic=True)
    assert compiled.report.whole
    assert compiled.report.misses >= 1


# What is predicted, exactly.

NAN = float("nan")


@pytest.mark.parametrize("values", [[0.0, -0.0, -0.0, 0.0], [NAN, NAN, 1.0, NAN], [float("inf"), -float("inf")]])
def test_special_numbers(values: list[float]) -> None:
    def shown(x: Any) -> Any:
        return x + 1, repr(x.item()), str(x.reshape(1, 1).tolist())

    compiled = same_program(shown, [(torch.tensor(value),) for value in values], __file__)
    assert compiled.report.whole
    assert compiled.report.misses >= 1


def test_a_number_that_is_no_integer_as_one() -> None:
    def whole(x: Any) -> Any:
        return x + int(x)

    same_program(whole, [(torch.tensor(value),) for value in (1.5, NAN, 1.5, float("inf"))], __file__)
    same_program(whole, [(torch.tensor(value),) for value in (NAN, 1.5, 2.5)], __file__)


DTYPES = ["bool", "uint8", "int64", "bfloat16", "float64", "complex64"]


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name: str) -> None:
    def shown(x: Any) -> Any:
        return x[1:].clone(), repr(x[0].item()), repr(x.tolist()), bool(x[0])

    dtype = getattr(torch, name)
    values = [torch.tensor(each, dtype=dtype) for each in ([1, 0], [1, 0], [0, 1], [3.3, 1])]
    compiled = same_program(shown, [(value,) for value in values], __file__)
    assert compiled.report.whole
    assert compiled.report.misses >= 1


def test_positions() -> None:
    def positions(x: Any) -> Any:
        found = x.nonzero()
        rows = torch.where(x > 1)
        return found, found.stride(), torch.nonzero(x > 1).stride(), rows, [each.stride() for each in rows]

    values = [torch.eye(3), torch.eye(3), torch.zeros(3, 3), torch.zeros(3, 3), torch.eye(3) * 2, torch.zeros(0, 3)]
    compiled = same_program(positions, [(value,) for value in values], __file__)
    assert compiled.report.whole


def test_positions_in_a_tensor_without_dimensions() -> None:
    def positions(x: Any) -> Any:
        return x.nonzero() + 1

    same_program(positions, [(torch.tensor(1.0),), (torch.tensor(0.0),)], __file__)


def test_lists_are_new_in_each_call() -> None:
    def listed(x: Any) -> Any:
        return x + 1, x.tolist()

    compiled = mended_compile(listed, backend="eager", fullgraph=True)
    for _ in range(2):
        seen = compiled(torch.ones(2, 2))[1]
        assert seen == [[1.0, 1.0], [1.0, 1.0]]
        seen[0].append(5)
        seen.append(5)
    same_program(listed, [(torch.zeros(size),) for size in [(0, 3), (2, 0), (0,), (1, 2, 0)]], __file__)


def test_inductor() -> None:
    def head(x: Any, count: Any) -> Any:
        return (x[: int(count)] * x.max().item()).sum()

    compiled = mended_compile(head)
    x = torch.arange(4.0)
    for count in (2, 2, 3):
        torch.testing.assert_close(compiled(x, torch.tensor(count)), head(x, torch.tensor(count)))
    assert (compiled.report.calls, compiled.report.misses) == (3, 1)


def test_what_python_does_not_evaluate_draws_no_random_numbers() -> None:
    def step(x: Any) -> Any:
        names = []
        if x.max() > 3 or torch.rand(()) > 2:
            names.append("large")
        if x.max() > 3 and not torch.rand(()) > 2:
            names.append("again")
        return x + torch.rand(3), names

    same_program(step, numbers(5, 5, 1, 1, 5), __file__)


def test_a_number_that_is_shown() -> None:
    def step(x: Any) -> Any:
        n = x.max().item()
        first, second = x[:2].tolist()
        print(n, first, [second], f"{n}")
        return [x] * int(n)

    compiled = same_program(step, numbers(1, 1, 2, 2, 2), __file__)
    assert compiled.report.whole


def test_a_flag_that_is_cleared_after_it_was_read() -> None:
    def clears(x: Any, flag: Any) -> Any:
        was_set = bool(flag)
        flag.fill_(False)
        return [x + 1] if was_set else [x - 1]

    compiled = mended_compile(clears, backend="eager")
    for value in (False, False, True, False, True):
        flag = torch.tensor(value)
        assert compiled(torch.ones(2), flag)[0].tolist() == ([2.0, 2.0] if value else [0.0, 0.0])
        assert not flag
